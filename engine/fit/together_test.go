package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
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
func partOf(t *testing.T, p sample.Problem, chosen []int32) sample.Problem {
	t.Helper()
	out := sample.Problem{Rows: p.Rows.Selected(work.NewPool(1), chosen), Start: p.Start, Classes: p.Classes}
	if len(chosen) == 0 {
		empty, err := rows.Empty(p.Rows.Cols(), p.Rows.Dense())
		if err != nil {
			t.Error(err)
		}
		out.Rows = empty
	}
	for _, i := range chosen {
		out.Labels = append(out.Labels, p.Labels[i])
		if p.Weights != nil {
			out.Weights = append(out.Weights, p.Weights[i])
		}
	}
	out.Weak = p.Weak.Selected(chosen)
	return out
}

// fitTogether fits the parts of a problem, each on a machine of its own.
func fitTogether(
	t *testing.T, ranks *worktest.Ranks, p sample.Problem, o method.Options, parts [][]int32,
) (results []*Result, errs []error) {
	t.Helper()
	results, errs = make([]*Result, len(parts)), make([]error, len(parts))
	ranks.Run(t, func(rank int) {
		g := &work.Group{Rank: rank, Size: len(parts), Sum: func(v []float64) error { return ranks.Sum(rank, v) }}
		o := o
		o.Threads = 1 + rank%2
		errs[rank] = g.Run(func() (err error) {
			results[rank], err = Fit(partOf(t, p, parts[rank]), o, nil, g)
			return err
		})
	})
	return results, errs
}

// sameFit compares what machines have found together with the result of one. Methods that end where the gradient is
// short get there by as many steps, in which rounding grows: their objectives agree as far as tol asks.
func sameFit(t *testing.T, name string, o method.Options, want *Result, got []*Result, parts [][]int32) {
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
	most := 1e-10
	if o.ClassPrior.Shares == nil && o.ClassPrior.Rule == "auto" {
		most = 1e-6 // shares are found by loose fits
	}
	smoothed := o.Loss == method.Hinge || o.Loss == method.CrammerSinger
	if smoothed || o.Method != "annealing" && o.Method != "switching" {
		most = 10 * o.Tol
	}
	if differ > 0 || off > most || got[0].Model.Termination != want.Model.Termination ||
		got[0].Model.Iterations != want.Model.Iterations || got[0].Agreement != want.Agreement &&
		math.Abs(got[0].Agreement-want.Agreement) > 1e-12 {
		t.Errorf("%s: %d labels differ, objective by %.2g, %s after %d for %s after %d, agreement %v for %v", name, differ, off,
			got[0].Model.Termination, got[0].Model.Iterations, want.Model.Termination, want.Model.Iterations, got[0].Agreement,
			want.Agreement)
	}
}

// mostCalls bounds what a fit exchanges, frames and vectors: a tenth more than it did.
var mostCalls = map[string][2]int{
	"two classes, annealing, 2 machines": {340, 120}, "two classes, switching, 2 machines": {315, 60},
	"five classes, annealing, 2 machines": {520, 170}, "five classes, switching, 2 machines": {340, 175},
}

// A fit on any number of machines is that of one, and they exchange few numbers.
func TestMachinesFindTheFitOfOneByFewCalls(t *testing.T) {
	for name, c := range map[string]struct {
		data   planted.Data
		shares []float64
	}{
		"two classes":  {planted.Topics(600, 200, 8, 0.4, 5), []float64{0.6, 0.4}},
		"five classes": {fiveClasses(600, 3), fiveShares},
	} {
		for _, by := range []method.Method{"annealing", "switching"} {
			p, o := sample.Problem{Rows: c.data.Rows, Labels: c.data.Labels}, plainOptions()
			o.Method, o.ClassPrior.Shares = by, c.shares
			want := mustFitProblem(t, p, o)
			for _, size := range []int{1, 2, 5, 8} {
				if size > 2 && worktest.Raced {
					continue
				}
				name := fmt.Sprintf("%s, %s, %d machines", name, by, size)
				parts, ranks := parted(c.data, size), worktest.NewRanks(size)
				got, errs := fitTogether(t, ranks, p, o, parts)
				if err := errors.Join(errs...); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				sameFit(t, name, o, want, got, parts)
				if size == 1 && (ranks.Calls > 0 || !slices.Equal(got[0].Model.Coef, want.Model.Coef)) {
					t.Errorf("%s: %d calls, or other weights", name, ranks.Calls) // it has nothing to add
				}
				frames, vectors := ranks.Lengths[frame], ranks.Calls-ranks.Lengths[frame]
				if most, ok := mostCalls[name]; ok && (frames > most[0] || vectors > most[1]) {
					t.Errorf("%s: %d frames and %d vectors, at most %d are wanted", name, frames, vectors, most)
				}
			}
		}
	}
}

// shortFits are fits whose every reduction is disturbed.
func shortFits() map[string]shortFit {
	out := map[string]shortFit{}
	for name, c := range map[string]struct {
		data   planted.Data
		shares []float64
		by     method.Method
	}{
		"two classes":  {planted.Topics(60, 40, 6, 0.4, 5), []float64{0.6, 0.4}, "annealing"},
		"five classes": {fiveClasses(60, 3), fiveShares, "switching"},
	} {
		o := plainOptions()
		o.Method, o.ClassPrior.Shares, o.MaxIter, o.Tol = c.by, c.shares, 1, 0.3
		out[name] = shortFit{c.data, sample.Problem{Rows: c.data.Rows, Labels: c.data.Labels}, o}
	}
	return out
}

type shortFit struct {
	data    planted.Data
	problem sample.Problem
	options method.Options
}

// calls is how often the machines of a group call Sum, and leave the fit alone.
func (f shortFit) calls(t *testing.T, size int) int {
	t.Helper()
	ranks := worktest.NewRanks(size)
	if _, errs := fitTogether(t, ranks, f.problem, f.options, parted(f.data, size)); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	return ranks.Calls
}

const frame = 128 // numbers with which a reduction begins

// faults are what can happen to a rank before a call of Sum, and the kind of error that the others get.
var faults = map[string]struct {
	happens func(progress *work.Progress)
	kind    fault.Kind
}{
	"panic":  {func(*work.Progress) { panic("rank breaks down") }, fault.OtherMachine},
	"cancel": {func(p *work.Progress) { p.Cancel = 1 }, fault.Cancelled},
}

// Whatever happens to a machine between two reductions of a fit, all of them end with an error, and none waits.
func TestAMachineThatFailsEndsTheFitOfAll(t *testing.T) {
	const size = 3
	everyCall := 1
	if worktest.Raced { // which is slow
		everyCall = 11
	}
	for of, f := range shortFits() {
		parts, calls := parted(f.data, size), f.calls(t, size)
		for name, c := range faults {
			for at := 1; at < calls-1; at += everyCall {
				breaks, came := at%size, false
				ranks, errs := worktest.NewRanks(size), make([]error, size)
				ranks.Run(t, func(rank int) {
					call, progress := 0, &work.Progress{}
					g := &work.Group{Rank: rank, Size: size, Sum: func(v []float64) error {
						if call++; rank == breaks && call == at && len(v) == frame { // no fit fails inside a reduction
							came = true
							c.happens(progress)
						}
						return ranks.Sum(rank, v)
					}}
					errs[rank] = g.Run(func() error {
						_, err := Fit(partOf(t, f.problem, parts[rank]), f.options, progress, g)
						return err
					})
				})
				for rank, err := range errs {
					var known *fault.Error
					if own := rank == breaks && name == "panic"; came && (!errors.As(err, &known) || !own && known.Kind != c.kind) {
						t.Errorf("%s, %s on rank %d at call %d: rank %d says %v", of, name, breaks, at, rank, err)
					}
				}
			}
		}
	}
}

// Data that one machine alone can see to be wrong ends the fit on all; the next fit works.
func TestBadDataOnOneMachineIsAnErrorOfAll(t *testing.T) {
	f := shortFits()["five classes"]
	p, o := f.problem, f.options
	for name, c := range map[string]struct {
		change func(p *sample.Problem, o *method.Options)
		both   bool
		says   string
	}{
		"a weight": {func(p *sample.Problem, _ *method.Options) {
			p.Weights = slices.Repeat([]float64{-1}, len(p.Labels))
		}, false, "weights of row 0 is -1"},
		"a class": {func(p *sample.Problem, _ *method.Options) { p.Labels[0] = 60 }, false, "labels have class 60"},
		"a start": {func(p *sample.Problem, _ *method.Options) {
			p.Start = &model.Linear{Coef: []float64{1}, Intercept: []float64{0}}
		}, false, "different options, starts"},
		"dense rows": {func(p *sample.Problem, _ *method.Options) {
			p.Rows = planted.Dense(p.Rows)
		}, false, "sparse and dense"},
		"an option":    {func(_ *sample.Problem, o *method.Options) { o.Tol = 1e-3 }, false, "different options"},
		"max_switches": {func(_ *sample.Problem, o *method.Options) { o.MaxSwitches = 2 }, true, "max_switches is 2"},
		"pair by pair": {func(_ *sample.Problem, o *method.Options) {
			o.Method = "pair_switching"
		}, true, "not supported on several ranks"},
		"calibration": {func(_ *sample.Problem, o *method.Options) { o.Calibrate = true }, true, "not supported on several ranks"},
	} {
		parts, ranks, errs := parted(f.data, 2), worktest.NewRanks(2), make([]error, 2)
		ranks.Run(t, func(rank int) {
			g := &work.Group{Rank: rank, Size: 2, Sum: func(v []float64) error { return ranks.Sum(rank, v) }}
			part, o := partOf(t, p, parts[rank]), o
			if rank == 1 || c.both {
				c.change(&part, &o)
			}
			errs[rank] = g.Run(func() error {
				_, err := Fit(part, o, nil, g)
				return err
			})
		})
		if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[1].Error(), c.says) {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// Machines find the class shares of one, of more unlabeled rows than are looked at where the order of rows is that of
// the machines.
func TestMachinesFindTheClassSharesOfOne(t *testing.T) {
	data, o := planted.Topics(7000, 100, 8, 0.4, 5), method.Defaults()
	o.MaxIter, o.Tol = 1, 0.3
	want := mustFit(t, data, nil, o)
	for _, size := range []int{2, 3} {
		parts := make([][]int32, size)
		for i, n := 0, len(data.Labels); i < n; i++ {
			parts[i*size/n] = append(parts[i*size/n], int32(i))
		}
		got, errs := fitTogether(t, worktest.NewRanks(size), problemOf(data), o, parts)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if distance(got[0].Model.ClassPrior, want.Model.ClassPrior) > 1e-9 {
			t.Errorf("%d machines: %v, alone %v", size, got[0].Model.ClassPrior, want.Model.ClassPrior)
		}
	}
}

// Machines count the features of all, so that they have the loss of one: with five features Crammer & Singer's, with
// six, of which no machine has more than five, the squared hinge.
func TestMachinesAgreeOnTheUsualLoss(t *testing.T) {
	for features, loss := range map[int]method.Loss{5: method.CrammerSinger, 6: method.SquaredHinge} {
		p := sample.Problem{Rows: planted.Sparse(60, features, func(i int, add func(int, float64)) {
			add(i%3, 1)
			add(3+(i/30)*(features-4), 0.1) // 3 in the first half, the last one in the second
			add(min(4, features-1), 0)
			if features == 5 || i < 30 {
				add(4, 0.2)
			}
		})}
		var parts [2][]int32
		for i := range int32(60) {
			label := int32(-1)
			if i%10 < 3 {
				label = i % 3
			}
			p.Labels, parts[i/30] = append(p.Labels, label), append(parts[i/30], i)
		}
		o := plainOptions()
		o.Method, o.ClassPrior.Shares, o.Loss = "annealing", []float64{0.4, 0.3, 0.3}, method.Defaults().Loss
		got, errs := fitTogether(t, worktest.NewRanks(2), p, o, parts[:])
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		o.Loss = loss
		sameFit(t, string(loss), o, mustFitProblem(t, p, o), got, parts[:])
	}
}
