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

// Few features with most of the variance are a warning, and frequent words beside text.
func TestFeaturesThatDominateAreAWarning(t *testing.T) {
	text, words := planted.Topics(300, 400, 10, 0.5, 15), planted.Topics(300, 2000, 10, 0.5, 15)
	heavy := func(factor float64) planted.Data {
		return text.Resized(func(_, col int) float64 { return map[bool]float64{true: factor, false: 1}[col == 7] })
	}
	for _, c := range []struct {
		name  string
		data  planted.Data
		words string
	}{
		{"text", text, ""}, {"one heavier feature", heavy(1.5), ""}, {"supervised", heavy(20), ""},
		{"one heavy feature", heavy(20), "feature 7 and few others"},
		{"stop words", beside(words, 30, 0.5, 0.2, false), "feature 2000 above all, carry 1"},
		{"stop words in all rows", beside(words, 30, 1, 0.2, false), "feature 2000 above all, carry 2"},
		{"rare words", beside(words, 30, 0.15, 0.2, false), ""},
		{"few stop words", beside(words, 5, 0.5, 0.2, false), ""},
		{"an encoder beside the words", beside(words, 30, 1, 0.1, true), ""},
		{"pixels", beside(words, 600, 0.5, 0.1, false), ""},
		{"stop words and a column of a table", beside(words, 30, 0.5, 2, false), "feature 2000 and few others"},
	} {
		o, found := method.Defaults(), ""
		if c.name == "supervised" {
			o.UnlabeledWeight = 0
		}
		for _, w := range mustFit(t, c.data, nil, o).Model.Warnings {
			if w.Kind == "dominant_features" || w.Kind == "frequent_features" {
				found += w.Text + "\n"
			}
		}
		if !strings.Contains(found, c.words) || (found == "") != (c.words == "") || strings.Count(found, "\n") > 1 {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}

// A column as long as a table's longest hides the others, from any fit; pixels, text and components of rows do not.
func TestColumnsThatHideTheOthersAreAWarning(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	table := func(d int, value func(i, j int) float64) planted.Data {
		data := planted.Topics(60, 60, 10, 0.5, 15)
		data.Rows = planted.Sparse(60, d, func(i int, add func(int, float64)) {
			for j := range d {
				add(j, value(i, j))
			}
		})
		return data
	}
	long := func(d, at int, length float64) planted.Data {
		return table(d, func(_, j int) float64 {
			return map[bool]float64{true: length, false: 1}[j == at] * (1 + random.Float64())
		})
	}
	for _, c := range []struct {
		name   string
		data   planted.Data
		weight float64
		words  string
	}{
		{"lengths", long(31, 30, 500), 1, "above all feature 30"}, {"supervised", long(13, 12, 500), 0, "feature 12"},
		{"two", table(30, func(_, j int) float64 {
			return map[int]float64{1: 400, 5: 900}[j] + 1 + random.Float64()
		}), 1, "above all feature 5 and feature 1"},
		{"even", long(13, 12, 5), 1, ""},
		{"in half of the rows", table(20, func(i, j int) float64 { return map[int]float64{0: 900}[j+i%2] + float64(j) }), 1, ""},
		{"one column", long(1, 0, 500), 1, ""},
	} {
		o, found := method.Defaults(), ""
		o.UnlabeledWeight = c.weight
		for _, w := range mustFit(t, c.data, nil, o).Model.Warnings {
			if w.Kind == "long_features" {
				found += w.Text
			}
		}
		if !strings.HasSuffix(found, c.words) || (found == "") != (c.words == "") {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}
