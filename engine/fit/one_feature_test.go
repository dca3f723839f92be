package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/vector"
)

func TestTheWorkOfARowOfOneFeatureDoesNotGrowWithTheRows(t *testing.T) {
	for _, rows := range []int{2_000, 20_000} {
		result := mustFit(t, line(rows), nil, method.Defaults())
		if passes := passesOf(t, result); passes > 260 || result.Model.Iterations > 32 {
			t.Errorf("%d rows take %v passes in %d steps", rows, passes, result.Model.Iterations)
		}
	}
}

func TestCostsOfPairsAreThoseOfRows(t *testing.T) {
	run, r := runOf(t, line(300), plainOptions())
	run.Costs.Admit(r)
	unlabeled := run.Objective.Sample.Unlabeled
	got, want, scores := make([]float64, 2*len(unlabeled)), []float64(nil), make([]float64, 2)
	for _, i := range unlabeled {
		row := make([]float64, 2)
		r.Score(scores, i)
		r.Loss.Costs(row, scores)
		vector.Scale(row, 0.3)
		want = append(want, row...)
	}
	if !r.PairCosts(got, unlabeled, 0.3) || !slices.Equal(got, want) {
		t.Error("other costs")
	}
}

// Alpha falls with the root of the number of rows from 16,384 on; weights that are numbers of copies count as these.
func TestAlphaFallsWithTheRootOfTheNumberOfRows(t *testing.T) {
	for _, c := range []struct{ rows, every int }{{1000, 1}, {16384, 1}, {40000, 1}, {10000, 7}} {
		o, weights, all := method.Defaults(), make([]float64, c.rows), 0.0
		for i := range weights {
			weights[i] = []float64{1, float64(c.every)}[i%2]
			all += weights[i]
		}
		o.Method, o.ClassPrior.Shares, o.MaxIter, o.Tol = "annealing", []float64{0.5, 0.5}, 1, 0.3
		got, want := mustFit(t, line(c.rows), weights, o).Alpha, 1e-3*min(1, math.Sqrt(16384/all))
		if math.Abs(got/want-1) > 1e-12 {
			t.Errorf("alpha of %d rows, %v with copies, is %v, should be %v", c.rows, all, got, want)
		}
	}
}

// line draws two overlapping classes of one feature, 40 labels.
func line(n int) (data planted.Data) {
	random := rand.New(rand.NewPCG(1, 7))
	data.Rows = planted.Sparse(n, 1, func(i int, add func(int, float64)) {
		y, label := int32(random.IntN(2)), int32(-1)
		if i < 40 {
			label = y
		}
		data.Truth, data.Labels = append(data.Truth, y), append(data.Labels, label)
		add(0, random.NormFloat64()+3*float64(y)-1.5)
	})
	return data
}
