package fit

import (
	"math"
	"strings"
	"testing"
)

// Where the supervised solution knows nothing of the class prior it is the start of the methods, up to the tolerance of
// that solve.
func TestAgreementIsWithTheSupervisedStart(t *testing.T) {
	for name, draw := range startCases() {
		data, o := draw()
		found := fitFrom(t, data, nil, o)
		if got := found.Agreement; !(got > 0.2 && got <= 1) {
			t.Errorf("%s: agreement %v", name, got)
		}
		if got := fitFrom(t, data, found.Model, o).Agreement; !math.IsNaN(got) {
			t.Errorf("%s: agreement %v from another start", name, got)
		}
		o.UnlabeledWeight = 0
		supervised := fitFrom(t, data, nil, o)
		if supervised.Agreement != 1 {
			t.Errorf("%s: agreement %v of the supervised solution with itself", name, supervised.Agreement)
		}
		if !strings.Contains(name, "labels") && !strings.Contains(name, "share") && !strings.Contains(name, "maxent") {
			continue
		}
		same, all := 0.0, 0.0
		for i, y := range data.Labels {
			if y < 0 {
				all++
				if supervised.Transduction[i] == found.Transduction[i] {
					same++
				}
			}
		}
		if got := found.Agreement; math.Abs(got-same/all) > 2.5/all {
			t.Errorf("%s: agreement %v, by the models %v", name, got, same/all)
		}
	}
}
