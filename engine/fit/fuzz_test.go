package fit

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// FuzzOptions: any text is a mistake of the caller's, or it gives options in their ranges that come back when they are
// written out. A fit with these, of two or three classes, gives finite numbers or an error that is not a defect, and
// ends soon after it is told to.
func FuzzOptions(f *testing.F) {
	defaults := method.Defaults()
	f.Add([]byte(defaults.Table().Text()), false)
	for _, text := range []string{
		"", "{}", "null", "[]", `{"alpha": 0.5, "method": "switching", "class_prior": [0.25, 0.75], "threads": 3}`,
		`{"alpha": 1e100, "tol": 5e-324, "unlabeled_weight": 1e6}`, `{"alpha": 5e-324, "max_iter": 9007199254740993}`,
		`{"threads": 9223372036854775807}`, `{"max_switches": 1, "method": "pair_switching"}`,
		`{"alpha": 1e999}`, `{"alhpa": 1}`, `{"alpha": "1"}`, `{"alpha": null, "alpha": 2}`, `{"class_prior": null}`,
		`{"loss": "hinge", "method": "pair_switching", "balance": "labels"}`, `{"class_prior": [[]]}`,
		`{"unlabeled_weight": 0, "fit_intercept": false}`, `{"balance": "mean"} {}`, `{"hierarchy": [0]}`,
	} {
		f.Add([]byte(text), false)
	}
	for _, text := range []string{
		`{"hierarchy": [3, 3, 4, 4, -1]}`, `{"hierarchy": [3, 4, 5, 5, 3, 4]}`, `{"hierarchy": [-1, -9, 99999999999]}`,
		`{"loss": "maxent", "class_prior": [0.2, 0.3, 0.5], "method": "annealing", "balance": "share"}`,
		`{"loss": "crammer_singer", "method": "switching", "tol": 1e-9, "max_iter": 2}`,
		`{"class_prior": [1e-300, 0.5, 0.5]}`, `{"class_prior": [0.25, 0.25, 0.25, 0.25]}`,
	} {
		f.Add([]byte(text), true)
	}
	two, three := planted.Topics(24, 12, 6, 0.4, 1), planted.Classes(24, 12, 6, []float64{0.5, 0.3, 0.2}, 1)
	f.Fuzz(func(t *testing.T, text []byte, many bool) {
		o := method.Defaults()
		if err := o.Table().Decode(text); err != nil {
			wantKinds(t, err, fault.BadArgument)
			return
		}
		again := method.Defaults()
		if err := again.Table().Decode(written(t, o)); err != nil || !reflect.DeepEqual(again, o) {
			t.Fatalf("%+v come back as %+v, %v", o, again, err)
		}
		data := two
		if many {
			data = three
		}
		tryFit(t, sample.Problem{Rows: data.Rows, Labels: data.Labels}, o)
	})
}

// written are the options as a text that gives all of them.
func written(t *testing.T, o method.Options) []byte {
	values := map[string]any{}
	for _, option := range o.Table() {
		values[option.Name] = option.Value
	}
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tryFit fits and after a moment says to stop.
func tryFit(t *testing.T, p sample.Problem, o method.Options) {
	const patience = 100 * time.Millisecond
	progress, begun := &work.Progress{}, time.Now()
	defer time.AfterFunc(patience, func() { atomic.StoreInt64(&progress.Cancel, 1) }).Stop()
	result, err := Fit(p, o, progress, nil)
	if late := time.Since(begun) - patience; late > 5*time.Second {
		t.Errorf("the fit ended %v after it was told to", late)
	}
	if err != nil {
		wantKinds(t, err, fault.BadArgument, fault.BadData, fault.Cancelled, fault.NoMemory)
		return
	}
	if err := model.Check(result.Model); err != nil {
		t.Error(err)
	}
}

func wantKinds(t *testing.T, err error, kinds ...fault.Kind) {
	t.Helper()
	var found *fault.Error
	if errors.As(err, &found) {
		for _, kind := range kinds {
			if found.Kind == kind {
				return
			}
		}
	}
	t.Errorf("the error %v is of another kind", err)
}
