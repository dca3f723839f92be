package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func randomStructure(groups, features int) *Structure {
	m := &Structure{Features: features, Components: 2, Groups: groups,
		Report: Report{Method: "none", Warnings: []warning.Warning{}, Metadata: []byte("null")}}
	fillArrays(m, rand.New(rand.NewPCG(uint64(groups), uint64(features))))
	for j := range m.GroupOf {
		m.GroupOf[j] = float64(j % groups)
	}
	return m
}

func TestStructuresThatLie(t *testing.T) {
	for _, c := range []struct { // components come before groups
		at    int
		value float64
		want  string
	}{
		{0, math.NaN(), "components[0] is NaN: NaN and infinity are not allowed"},
		{7, 2, "groups[1] is 2: it must be a whole number, 0 to 1"},
		{8, 0.5, "groups[2] is 0.5: it must be a whole number, 0 to 1"},
		{6, -1, "groups[0] is -1: it must be a whole number, 0 to 1"},
		{7, 0, "groups has features of 1 of 2 groups: every group needs one"},
	} {
		wantRefusal(t, withValue(t, randomStructure(2, 3), c.at, c.value), c.want)
	}
	for sizes, want := range map[[3]int]string{
		{0, 1, 1}:             "n_features is 0: it must be 1 to 2147483647",
		{3, 1, 4}:             "n_groups is 4: there are 3 features",
		{1 << 30, 1 << 30, 1}: "components would have the shape [1073741824 1073741824]: at most 2147483648 values are possible",
	} {
		m := &Structure{Features: sizes[0], Components: sizes[1], Groups: sizes[2]}
		wantFault(t, CheckShape(m), fault.BadArgument, want)
	}
}
