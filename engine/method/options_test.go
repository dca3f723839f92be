package method

import (
	"fmt"
	"strings"
	"testing"
)

func TestDecodeOptions(t *testing.T) {
	o := Defaults()
	err := o.Table().Decode([]byte(`{"alpha": 0.5, "method": "switching", "class_prior": [0.25, 0.75], "threads": 3}`))
	if err != nil || o.Alpha != 0.5 || o.Method != "switching" || o.ClassPrior.Shares[1] != 0.75 || o.Threads != 3 || o.Tol != Defaults().Tol {
		t.Errorf("%+v, %v", o, err)
	}
	for text, want := range map[string]string{
		`{"alhpa": 1}`:                       `unknown option "alhpa"; there are `,
		`{"alpha": 0}`:                       "alpha is 0: it must be above 0",
		`{"alpha": "x"}`:                     `alpha is "x": it must be a number`,
		`{"alpha": null}`:                    "alpha is null",
		`{"max_iter": 0}`:                    "max_iter is 0: it must be at least 1",
		`{"max_iter": 1.5}`:                  "max_iter is 1.5: it must be an integer",
		`{"method": "magic"}`:                "it must be one of auto, annealing, switching, pair_switching",
		`[1]`:                                "options must be a JSON object",
		`{"alpha": 1, "alpha": 2}`:           `the name "alpha" stands twice`,
		`{"Alpha": 1}`:                       `unknown option "Alpha"; there are `,
		"{\"method\": \"\xff\"}":             "it is not UTF-8",
		`{"hierarchy": [2, null]}`:           "hierarchy is [2, null]: it must be an array of integers",
		`{"class_prior": [null, 0.5]}`:       "class_prior is [null, 0.5]: it must be a string or an array of numbers",
		`{"threads": 0}`:                     "threads is 0: it must be at least 1",
		`{"unlabeled_weight": -1}`:           "unlabeled_weight is -1: it must be at least 0",
		`{"tol": 1e101}`:                     "tol is 1e+101: it must be at most 1e+100",
		`{"unlabeled_weight": 1e200}`:        "unlabeled_weight is 1e+200: it must be at most 1e+06",
		`{"alpha": 1, "alpha2": 1, "tol":1}`: `unknown option "alpha2"`,
	} {
		o := Defaults()
		if err := o.Table().Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", text, err, want)
		}
	}
	for _, entry := range o.Table() {
		if !strings.Contains(o.Table().Text(), fmt.Sprintf("%q", entry.Name)) {
			t.Errorf("the options text lacks %s", entry.Name)
		}
	}
}
