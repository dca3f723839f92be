package fit

import (
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/rows"
)

// resized multiplies every value of sparse rows by a factor of its row and column.
func resized(t *testing.T, data planted.Data, factor func(row, col int) float64) planted.Data {
	t.Helper()
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for i := range data.Rows.Rows() {
		data.Rows.Row(i, func(col int, value float64) {
			indices, values = append(indices, int32(col)), append(values, value*factor(i, col))
		})
		indptr = append(indptr, int64(len(indices)))
	}
	rows, err := rows.New(data.Rows.Cols(), indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	data.Rows = rows
	return data
}

// scaleWarnings are the warnings of scale that a fit gives, one a line.
func scaleWarnings(t *testing.T, data planted.Data, change func(o *method.Options)) string {
	t.Helper()
	o := method.Defaults()
	change(&o)
	var found []string
	for _, w := range mustFit(t, data, nil, o).Model.Warnings {
		if w.Kind == "dominant_features" {
			found = append(found, w.Text)
		}
	}
	return strings.Join(found, "\n")
}

func TestFewFeaturesWithMostOfTheVarianceAreAWarning(t *testing.T) {
	text := planted.Topics(300, 400, 10, 0.5, 15)
	heavy := func(factor float64) planted.Data {
		return resized(t, text, func(_, col int) float64 { return map[bool]float64{true: factor, false: 1}[col == 7] })
	}
	nothing := func(*method.Options) {}
	warned := scaleWarnings(t, heavy(20), nothing)
	if !strings.Contains(warned, "feature 7 and few others") || strings.Contains(warned, "\n") {
		t.Errorf("one heavy feature: %q", warned)
	}
	for name, text := range map[string]string{
		"text":       scaleWarnings(t, text, nothing),
		"heavier":    scaleWarnings(t, heavy(1.5), nothing),
		"supervised": scaleWarnings(t, heavy(20), func(o *method.Options) { o.UnlabeledWeight = 0 }),
	} {
		if text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
}
