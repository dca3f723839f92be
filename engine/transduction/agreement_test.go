package transduction

import (
	"math"
	"testing"

	"github.com/fewlabel/fewlabel/engine/work"
)

// alone is the problem of the labeled rows.
func alone(p Problem) Problem {
	var rows []int32
	only := Problem{}
	for i, y := range p.Labels {
		if y >= 0 {
			rows, only.Labels = append(rows, int32(i)), append(only.Labels, y)
		}
	}
	only.Rows = p.Rows.Selected(rows)
	return only
}

func TestAgreementIsWithTheModelOfTheLabeledRows(t *testing.T) {
	for name, problem := range startCases() {
		data, o := problem()
		p := Problem{Rows: data.Rows, Labels: data.Labels}
		found := fitFrom(t, data, nil, o)
		supervised, err := Fit(alone(p), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		given := make([]int32, data.Rows.Rows())
		if err := supervised.Model.Predict(work.NewPool(1), data.Rows, given); err != nil {
			t.Fatal(err)
		}
		same, all := 0.0, 0.0
		for i, y := range data.Labels {
			if y < 0 {
				all++
				if given[i] == found.Transduction[i] {
					same++
				}
			}
		}
		if got := found.Agreement; math.Abs(got-same/all) > 1.5/all {
			t.Errorf("%s: agreement %v, by the models %v", name, got, same/all)
		}
		if !math.IsNaN(supervised.Agreement) {
			t.Errorf("%s: agreement %v without unlabeled rows", name, supervised.Agreement)
		}
		o.UnlabeledWeight = 0
		if got := fitFrom(t, data, nil, o).Agreement; got != 1 {
			t.Errorf("%s: agreement %v of the supervised model with itself", name, got)
		}
	}
}

// More classes than labeled rows: the fit goes well, and there is no supervised model to compare with.
func TestAgreementIsUnknownWithoutASupervisedModel(t *testing.T) {
	data, o := startCases()["four, annealing, share"]()
	kept := 0
	for i, y := range data.Labels {
		if y >= 0 {
			if kept++; kept > 3 {
				data.Labels[i] = -1
			}
		}
	}
	if got := fitFrom(t, data, nil, o).Agreement; !math.IsNaN(got) {
		t.Errorf("agreement %v with 3 labels of 4 classes", got)
	}
}
