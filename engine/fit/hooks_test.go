package fit

import "testing"

// replaced sets a variable until the test ends.
func replaced[T any](t *testing.T, at *T, value T) {
	t.Helper()
	before := *at
	*at = value
	t.Cleanup(func() { *at = before })
}

// withCoarseStart lets fits of this number of unlabeled rows and more begin at a part of them.
func withCoarseStart(t *testing.T, rows int) { replaced(t, &coarseFrom, rows) }

// withThird is the same for a third of them.
func withThird(t *testing.T, rows int) { replaced(t, &thirdFrom, rows) }

// withGathered lets every machine have parts of up to so many non-zeros.
func withGathered(t *testing.T, nonZeros int) { replaced(t, &maxGathered, nonZeros) }

// withMixture lets fits of this number of unlabeled rows and more be compared with a start at a mixture.
func withMixture(t *testing.T, rows int) { replaced(t, &manyUnlabeled, rows) }

// withoutMixture leaves fits without the start at a mixture.
func withoutMixture(t *testing.T) { replaced(t, &mixtureRows, 0) }
