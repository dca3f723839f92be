package fit

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// threeColumns are the labels of planted rows, those of some others with unknown entries, and labels of class 1 alone.
func threeColumns() (sample.Problem, [][]int32) {
	data := planted.Topics(600, 150, 30, 0.35, 5)
	second, third := slices.Clone(data.Labels), slices.Clone(data.Labels)
	for i := range second {
		switch {
		case i%40 == 0 && data.Truth[i] == int32(i/40%2):
			second[i] = data.Truth[i]
		case i%2 == 0:
			second[i] = -1
		}
		if third[i] == 0 {
			third[i] = -1
		}
	}
	return sample.Problem{Rows: data.Rows}, [][]int32{data.Labels, second, third}
}

// withoutPasses is a result without the numbers of passes: columns do not pack the rows.
func withoutPasses(r *Result) Result {
	out := *r
	if out.History = nil; math.IsNaN(r.Agreement) { // NaN is not equal to itself
		out.Agreement = -1
	}
	for _, column := range r.History {
		if column.Name != "n_passes" {
			out.History = append(out.History, column)
		}
	}
	return out
}

func TestColumnsHaveTheBitsOfTheirSeparateFits(t *testing.T) {
	p, labels := threeColumns()
	weighted := p
	for i := range p.Rows.Rows() {
		weighted.Weights = append(weighted.Weights, float64(i%3))
	}
	withCoarseStart(t, 400)
	for name, o := range settings() {
		for _, p := range []sample.Problem{p, weighted} {
			for _, shares := range [][]float64{nil, {0.35, 0.3, 0.4}} {
				o.ClassPrior, o.Threads = sample.ClassPrior{Rule: "auto", Shares: shares}, 2
				together, err := Columns(p, labels, o, nil)
				if err != nil {
					t.Fatal(name, err)
				}
				for k, column := range labels {
					o.ClassPrior = sample.ClassPrior{Rule: "labels"}
					if shares != nil {
						o.ClassPrior = sample.ClassPrior{Shares: []float64{1 - shares[k], shares[k]}}
					}
					alone := p
					alone.Labels = column
					separate, err := Fit(alone, o, nil, nil)
					if err != nil {
						t.Fatal(name, err)
					}
					if !reflect.DeepEqual(withoutPasses(together[k]), withoutPasses(separate)) {
						t.Errorf("%s, column %d: differs from its separate fit", name, k)
					}
				}
			}
		}
	}
}

func TestErrorsOfColumnsNameThem(t *testing.T) {
	p, labels := threeColumns()
	two, none := slices.Clone(labels[1]), make([]int32, len(labels[1]))
	two[7] = 2
	for i := range none {
		none[i] = -1
	}
	short, wide, tree := method.Defaults(), method.Defaults(), method.Defaults()
	short.ClassPrior.Shares, wide.ClassPrior.Shares = []float64{0.5}, []float64{0.5, 1.5, 0.5}
	tree.Hierarchy = []int{-1, -1}
	for want, run := range map[string]func() ([]*Result, error){
		"row 7 in column 1 is 2": func() ([]*Result, error) {
			return Columns(p, [][]int32{labels[0], two}, method.Defaults(), nil)
		},
		"column 2: ": func() ([]*Result, error) {
			return Columns(p, [][]int32{labels[0], labels[1], none}, method.Defaults(), nil)
		},
		"class_prior has 1 ":             func() ([]*Result, error) { return Columns(p, labels, short, nil) },
		"class_prior of column 1 is 1.5": func() ([]*Result, error) { return Columns(p, labels, wide, nil) },
		"hierarchy":                      func() ([]*Result, error) { return Columns(p, labels, tree, nil) },
	} {
		if _, err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

func TestColumnsAreCancelledAndCounted(t *testing.T) {
	p, labels := threeColumns()
	progress := &work.Progress{Cancel: 1}
	if _, err := Columns(p, labels, method.Defaults(), progress); !errors.Is(err, fault.ErrCancelled) {
		t.Error(err)
	}
	progress.Cancel = 0
	if _, err := Columns(p, labels, method.Defaults(), progress); err != nil || progress.Step != 3 {
		t.Error(err, progress.Step)
	}
}

func TestColumnsAskForTheirResultsAndTheFitsAtATime(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	p, labels := threeColumns()
	memory.Need = func(bytes float64, purpose, _ string) error { return fault.Memory("%s: %.0f", purpose, bytes) }
	asked := func(columns, threads int) (bytes float64) {
		o := method.Defaults()
		o.Threads = threads
		_, err := Columns(p, labels[:columns], o, nil)
		if _, scan := fmt.Sscanf(err.Error(), fmt.Sprintf("a fit of %d columns of labels: %%f", columns), &bytes); scan != nil {
			t.Error(err)
		}
		return bytes
	}
	if one, more := asked(2, 1), asked(3, 1); more-one < 60*float64(p.Rows.Rows()) {
		t.Errorf("%v bytes for two columns, %v for three", one, more)
	}
	if one, more := asked(3, 1), asked(3, 2); more-one < 100*float64(p.Rows.Rows()) {
		t.Errorf("%v bytes on one thread, %v on two", one, more)
	}
}
