package fit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
)

// beside adds so many features, each in a share of the rows, of value 0.1 but for the first; `signs` gives each value one.
func beside(data planted.Data, features int, share, first float64, signs bool) planted.Data {
	d, random, before := data.Rows.Cols(), rand.New(rand.NewPCG(1, 2)), data.Rows
	data.Rows = planted.Sparse(before.Rows(), d+features, func(i int, add func(int, float64)) {
		before.Row(i, add)
		for k := range features {
			value := 0.1
			if k == 0 {
				value = first
			}
			if signs && random.IntN(2) == 0 {
				value = -value
			}
			if random.Float64() < share {
				add(d+k, value)
			}
		}
	})
	return data
}

// scaleWarnings are the warnings of scale that a fit gives, one a line.
func scaleWarnings(t *testing.T, data planted.Data, change func(o *method.Options)) string {
	t.Helper()
	o := method.Defaults()
	change(&o)
	var found []string
	for _, w := range mustFit(t, data, nil, o).Model.Warnings {
		if w.Kind == "dominant_features" || w.Kind == "frequent_features" {
			found = append(found, w.Text)
		}
	}
	return strings.Join(found, "\n")
}

func TestFewFeaturesWithMostOfTheVarianceAreAWarning(t *testing.T) {
	text := planted.Topics(300, 400, 10, 0.5, 15)
	heavy := func(factor float64) planted.Data {
		return text.Resized(func(_, col int) float64 { return map[bool]float64{true: factor, false: 1}[col == 7] })
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

func TestFrequentWordsAreAWarning(t *testing.T) {
	text := planted.Topics(300, 2000, 10, 0.5, 15)
	for _, c := range []struct {
		name         string
		features     int
		share, first float64
		signs        bool
		words        string
	}{
		{"stop words", 30, 0.5, 0.2, false, "feature 2000 above all, carry 1"},
		{"stop words in all rows", 30, 1, 0.2, false, "feature 2000 above all, carry 2"},
		{"rare words", 30, 0.15, 0.2, false, ""},
		{"few stop words", 5, 0.5, 0.2, false, ""},
		{"an encoder beside the words", 30, 1, 0.1, true, ""},
		{"pixels", 600, 0.5, 0.1, false, ""},
		{"stop words and a column of a table", 30, 0.5, 2, false, "feature 2000 and few others"},
	} {
		found := scaleWarnings(t, beside(text, c.features, c.share, c.first, c.signs), func(*method.Options) {})
		if !strings.Contains(found, c.words) || (found == "") != (c.words == "") || strings.Contains(found, "\n") {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}
