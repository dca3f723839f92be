package fit

import (
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
)

// Pair switching exchanges a pair a relabeling at most, of any two classes, at costs that are doubled from 1e-5, each
// kept until no pair is left; the class counts stay.
func TestPairsAreExchangedOneByOneAtDoubledCosts(t *testing.T) {
	two, four := planted.Topics(400, 120, 8, 0.3, 10), planted.Classes(400, 80, 24, []float64{0.4, 0.3, 0.2, 0.1}, 5)
	for name, c := range map[string]struct {
		data planted.Data
		tree []int
		loss method.Loss
	}{
		"two": {two, nil, "squared_hinge"}, "two, hinge": {two, nil, "hinge"}, "four": {four, nil, "squared_hinge"},
		"four, hinge": {four, nil, "hinge"}, "four, Crammer-Singer": {four, nil, "crammer_singer"},
		"four, tree": {four, []int{4, 4, 5, 5, -1, 4}, "squared_hinge"},
	} {
		o := plainOptions()
		o.Method, o.Loss, o.Hierarchy, o.ClassPrior.Shares = "pair_switching", c.loss, c.tree, c.data.Shares()
		result := mustFit(t, c.data, nil, o)
		levels, switched := column(t, result, "unlabeled_weight"), column(t, result, "n_switched")
		last := len(levels) - 1 // several rounds
		if most := slices.Max(switched[:last]); most != 2 {
			t.Errorf("%s: %v labels changed at once", name, most)
		}
		if levels[0] != 1e-5 || levels[last] != 1 {
			t.Errorf("%s: costs from %v to %v", name, levels[0], levels[last])
		}
		for k, level := range levels[1:last] {
			want := levels[k]
			if switched[k] == 0 {
				want = min(1, 2*want)
			}
			if level != want {
				t.Errorf("%s: cost %v after %v, with %v labels changed", name, level, levels[k], switched[k])
			}
		}
		counts := make([]float64, len(o.ClassPrior.Shares))
		for i, y := range result.Transduction {
			if c.data.Labels[i] < 0 {
				counts[y]++
			}
		}
		wrong := disagreement(result.Transduction, c.data.Truth)
		t.Logf("%s: %d of %d wrong, %d steps, %s", name, wrong, len(c.data.Truth), len(levels), result.Model.Termination)
		for y, share := range o.ClassPrior.Shares {
			if due := share * 400; result.Model.Termination != "no_switch" || counts[y] < due-20 || counts[y] > due+20 {
				t.Errorf("%s: %v rows of class %d, should be %v; %s", name, counts[y], y, due, result.Model.Termination)
			}
		}
	}
}
