package shares

import (
	"strings"
	"testing"
)

func TestAClassThatNoRowMayHaveIsToldWithoutRounding(t *testing.T) {
	err := contradiction(nil, []bool{true, true, false}, []float64{0.2, 0.2, 0.6}, 1-1e-14, 1./370, 370)
	if want := "only 0 of these rows may have it: a share of at most 0 is possible"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, not %q", err, want)
	}
}
