package shares

import (
	"strings"
	"testing"
)

func TestAClassThatNoRowMayHaveIsToldWithoutRounding(t *testing.T) {
	err := contradiction(nil, []int{0, 1}, []int{2}, 0.4, 1-1e-14, 1./370, 370)
	if want := "only 0 of these rows may have it: a share of at most 0 is possible"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, not %q", err, want)
	}
}
