package fit

import (
	"math"
	"math/rand/v2"
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

// gaussian are dense rows of two classes; values of a feature are multiplied by its factor and moved.
func gaussian(t *testing.T, factor func(col int) float64, move float64) planted.Data {
	t.Helper()
	const n, d = 200, 8
	random := rand.New(rand.NewPCG(3, 1))
	data := planted.Data{Labels: make([]int32, n)}
	values := make([]float64, n*d)
	for i := range n {
		data.Labels[i] = int32(i % 2)
		for j := range d {
			values[i*d+j] = (random.NormFloat64()+float64(2*data.Labels[i]-1))*factor(j) + move
		}
		if i >= 10 {
			data.Labels[i] = -1
		}
	}
	rows, err := rows.NewDense(n, d, d, values)
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
		if w.Kind == "row_lengths" || w.Kind == "dominant_features" || w.Kind == "column_scales" {
			found = append(found, w.Text)
		}
	}
	return strings.Join(found, "\n")
}

func TestRowsOfVeryDifferentLengthsAreAWarning(t *testing.T) {
	unit := planted.Topics(300, 60, 10, 0.5, 15)
	random := rand.New(rand.NewPCG(1, 1))
	length := make([]float64, 300)
	for i := range length {
		length[i] = math.Exp(random.NormFloat64())
	}
	uneven := resized(t, unit, func(row, _ int) float64 { return length[row] })
	some := resized(t, unit, func(row, _ int) float64 { return float64(row % 2) })
	supervised := func(o *method.Options) { o.UnlabeledWeight = 0 }
	nothing := func(*method.Options) {}
	if text := scaleWarnings(t, uneven, nothing); !strings.Contains(text, "Normalizer") || strings.Contains(text, "\n") {
		t.Errorf("uneven rows: %q", text)
	}
	for name, text := range map[string]string{
		"unit rows":       scaleWarnings(t, unit, nothing),
		"empty rows":      scaleWarnings(t, some, nothing),
		"supervised":      scaleWarnings(t, uneven, supervised),
		"in another unit": scaleWarnings(t, resized(t, unit, func(_, _ int) float64 { return 1e3 }), nothing),
	} {
		if text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestFeaturesOfVeryDifferentScalesAreAWarning(t *testing.T) {
	wide := func(col int) float64 { return 1 + 99*float64(col/7) } // the last one
	nothing := func(*method.Options) {}
	text := scaleWarnings(t, gaussian(t, wide, 0), nothing)
	if !strings.Contains(text, "of feature 7 is 1") || !strings.Contains(text, "StandardScaler") {
		t.Errorf("a wide feature: %q", text)
	}
	one := func(int) float64 { return 1 }
	but0 := func(col int) float64 { return float64(min(1, col)) }
	for name, text := range map[string]string{
		"equal scales":     scaleWarnings(t, gaussian(t, one, 0), nothing),
		"far from zero":    scaleWarnings(t, gaussian(t, one, 1e3), nothing),
		"constant feature": scaleWarnings(t, gaussian(t, but0, 0.1), nothing),
		"all constant":     scaleWarnings(t, gaussian(t, func(int) float64 { return 0 }, 0.1), nothing),
		"another unit":     scaleWarnings(t, gaussian(t, func(int) float64 { return 1e-3 }, 0), nothing),
		"supervised":       scaleWarnings(t, gaussian(t, wide, 0), func(o *method.Options) { o.UnlabeledWeight = 0 }),
	} {
		if text != "" {
			t.Errorf("%s: %q", name, text)
		}
	}
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
