package warning

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The kinds are documented with their values, in this order.
func TestKindsAreThoseOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/c.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := []Kind{NoUnlabeled, OneUnlabeled, OneClass, DominantFeatures, LongFeatures, FrequentFeatures,
		EmptyDescriptions, NoLabel, GuessedShares, SmallShare, Collapse, Balance, MaxIter, MaxIterDistance, MaxIterResidual, Unsettled, NotConverged,
		NotStationary, Constraint, Calibration, CalibrationFailed}
	_, table, _ := strings.Cut(string(page), "| kind | values |")
	rows := regexp.MustCompile("(?m)^\\| `\"(\\w+)\"` \\| (.*?) ?\\|").FindAllStringSubmatch(table, len(kinds))
	for i, kind := range kinds {
		if i >= len(rows) || rows[i][1] != kind.name || strings.NewReplacer("`", "", ",", "").Replace(rows[i][2]) != kind.values {
			t.Fatalf("docs/c.md does not have %q with %q at place %d", kind.name, kind.values, i)
		}
		values := make([]float64, len(strings.Fields(kind.values)))
		if w := kind.Of(values...); strings.Contains(w.Text, "%!") || len(w.Values) != len(values) {
			t.Errorf("%+v", w)
		}
	}
}

func TestOnlyFiniteNumbersAreKept(t *testing.T) {
	w := MaxIterResidual.Of(10000, math.Inf(1)).And(": a reason")
	if len(w.Values) != 1 || w.Values["max_iter"] != 10000 {
		t.Errorf("values %v", w.Values)
	}
	want := "max_iter = 10000 was reached with the mean probabilities of the unlabeled rows +Inf away from class_prior: " +
		"raise max_iter: a reason"
	if w.Text != want {
		t.Errorf("got %q", w.Text)
	}
}
