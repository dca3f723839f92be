package transduction

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/problem"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

// parted gives each of several machines rows: of three and more the second has none, of five and more the third has
// labeled rows alone.
func parted(data planted.Data, size int) [][]int32 {
	parts := make([][]int32, size)
	for i, y := range data.Labels {
		k := (i*7 + i/5) % size
		if size >= 3 && k == 1 || size >= 5 && k == 2 && y < 0 {
			k = size - 1
		}
		parts[k] = append(parts[k], int32(i))
	}
	return parts
}

// partOf is the problem of one machine.
func partOf(t *testing.T, p problem.Problem, rows []int32) problem.Problem {
	t.Helper()
	out := problem.Problem{Rows: p.Rows.Selected(rows), Start: p.Start}
	if len(rows) == 0 {
		empty, err := csr.Empty(p.Rows.Cols(), false)
		if err != nil {
			t.Error(err)
		}
		out.Rows = empty
	}
	for _, i := range rows {
		out.Labels = append(out.Labels, p.Labels[i])
		if p.Weights != nil {
			out.Weights = append(out.Weights, p.Weights[i])
		}
	}
	return out
}

// fitTogether fits the parts of a problem, each on a machine of its own.
func fitTogether(
	t *testing.T, ranks *worktest.Ranks, p problem.Problem, o problem.Options, parts [][]int32,
) (results []*Result, errs []error) {
	t.Helper()
	results, errs = make([]*Result, len(parts)), make([]error, len(parts))
	ranks.Run(t, func(rank int) {
		g := &work.Group{Rank: rank, Size: len(parts), Sum: func(v []float64) error { return ranks.Sum(rank, v) }}
		errs[rank] = g.Run(func() (err error) {
			results[rank], err = FitTogether(partOf(t, p, parts[rank]), o, nil, g)
			return err
		})
	})
	return results, errs
}

// sameFit compares what machines have found together with the result of one.
func sameFit(t *testing.T, name string, want *Result, got []*Result, parts [][]int32) {
	t.Helper()
	differ := 0
	for rank, r := range got {
		if !slices.Equal(r.Model.Coef, got[0].Model.Coef) || !slices.Equal(r.Model.Intercept, got[0].Model.Intercept) {
			t.Errorf("%s: rank %d has another model than rank 0", name, rank)
		}
		for k, i := range parts[rank] {
			if r.Transduction[k] != want.Transduction[i] {
				differ++
			}
		}
	}
	off := math.Abs(got[0].Model.Objective/want.Model.Objective - 1)
	if differ > 0 || off > 1e-10 || got[0].Model.Termination != want.Model.Termination ||
		got[0].Model.Iterations != want.Model.Iterations || got[0].Agreement != want.Agreement &&
		math.Abs(got[0].Agreement-want.Agreement) > 1e-12 {
		t.Errorf("%s: %d labels differ, objective by %.2g, %s after %d for %s after %d, agreement %v for %v", name, differ, off,
			got[0].Model.Termination, got[0].Model.Iterations, want.Model.Termination, want.Model.Iterations, got[0].Agreement,
			want.Agreement)
	}
}

// togetherSettings are the methods that machines can run together.
func togetherSettings(shares []float64) map[string]problem.Options {
	out := map[string]problem.Options{}
	add := func(name string, change func(o *problem.Options)) {
		o := plainOptions()
		o.ClassPrior.Shares, o.UnlabeledWeight = shares, 1
		change(&o)
		out[name] = o
	}
	add("supervised", func(o *problem.Options) { o.UnlabeledWeight = 0 })
	add("annealing", func(*problem.Options) {})
	add("annealing, small alpha", func(o *problem.Options) { o.Alpha, o.Balance = 1e-5, "share" })
	add("annealing, maxent", func(o *problem.Options) { o.Loss = problem.Maxent })
	add("gradient", func(o *problem.Options) { o.Method = problem.Gradient })
	add("switching", func(o *problem.Options) { o.Method = problem.Switching })
	add("switching, no intercept", func(o *problem.Options) { o.Method, o.FitIntercept = problem.Switching, false })
	for _, method := range []problem.Method{problem.Entropy, problem.Expectation, problem.Posterior} {
		add(string(method), func(o *problem.Options) { o.Method, o.Loss = method, problem.Maxent })
	}
	return out
}

// A fit on several machines, one of them without rows, is the fit of one.
func TestMachinesFindTheFitOfOne(t *testing.T) {
	two := planted.Topics(600, 200, 8, 0.4, 5)
	five := fiveClasses(600, 3)
	for name, c := range map[string]struct {
		data   planted.Data
		shares []float64
	}{"two classes": {two, []float64{0.6, 0.4}}, "five classes": {five, fiveShares}} {
		for setting, o := range togetherSettings(c.shares) {
			p := problem.Problem{Rows: c.data.Rows, Labels: c.data.Labels}
			want, err := Fit(p, o, nil)
			if err != nil {
				t.Fatal(name, setting, err)
			}
			for _, size := range []int{1, 2, 3, 5, 8} {
				name := fmt.Sprintf("%s, %s, %d machines", name, setting, size)
				parts, ranks := parted(c.data, size), worktest.NewRanks(size)
				got, errs := fitTogether(t, ranks, p, o, parts)
				if err := errors.Join(errs...); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				sameFit(t, name, want, got, parts)
				if size == 2 {
					t.Logf("%s: %d calls, %d numbers", name, ranks.Calls, ranks.Numbers)
				}
			}
		}
	}
}

var _ = fault.OtherMachine
var _ = strings.Contains
