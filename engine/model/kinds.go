package model

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Structure holds components that package structure has found. The structure features of a row are its inner products
// with them, those of a group over the features of the group.
type Structure struct {
	Features   int // d
	Components int // h of each group
	Groups     int // G

	Theta   []float64 // [Features*Components] the components of a feature side by side
	GroupOf []float64 // [Features] number of each feature's group, 0 ... Groups-1

	Report
}

func (*Structure) Kind() string { return "structure" }

func (m *Structure) sizes() []strictjson.Field {
	return []strictjson.Field{
		{Name: "n_features", Value: &m.Features}, {Name: "n_components", Value: &m.Components},
		{Name: "n_groups", Value: &m.Groups, Optional: true},
	}
}

func (m *Structure) checkSizes() error {
	if m.Groups > m.Features {
		return fault.Argument("n_groups is %d: there are %d features", m.Groups, m.Features)
	}
	return nil
}

func (m *Structure) Arrays() []Array {
	return []Array{
		{"components", []int{m.Features, m.Components}, &m.Theta, false}, {"groups", []int{m.Features}, &m.GroupOf, false},
	}
}

func (m *Structure) checkContent() error {
	used := map[float64]bool{}
	for j, group := range m.GroupOf {
		if group != math.Trunc(group) || group < 0 || group >= float64(m.Groups) {
			return fault.Argument("groups[%d] is %v: it must be a whole number, 0 to %d", j, group, m.Groups-1)
		}
		used[group] = true
	}
	if len(used) < m.Groups {
		return fault.Argument("groups has features of %d of %d groups: every group needs one", len(used), m.Groups)
	}
	return nil
}

// Chain holds the numbers of a linear chain: a sequence of rows x_1 ... x_T with tags y_1 ... y_T has the score
// Start[y_1] + Σ_t x_t Coef[., y_t] + Σ_t Transitions[y_t, y_{t+1}] + End[y_T]. Package sequence decodes with it.
type Chain struct {
	Tags     int // K
	Features int // d

	Coef        []float64 // [Features*Tags] the tags of a feature side by side, as in Linear
	Transitions []float64 // [Tags*Tags] all that follow a tag side by side; -Inf forbids, here and in Start and End
	Start, End  []float64 // [Tags]

	Report
}

func (*Chain) Kind() string { return "chain" }

func (m *Chain) sizes() []strictjson.Field {
	return []strictjson.Field{{Name: "n_tags", Value: &m.Tags}, {Name: "n_features", Value: &m.Features}}
}

func (m *Chain) Arrays() []Array {
	return []Array{
		{"coef", []int{m.Features, m.Tags}, &m.Coef, false}, {"transitions", []int{m.Tags, m.Tags}, &m.Transitions, true},
		{"start", []int{m.Tags}, &m.Start, true}, {"end", []int{m.Tags}, &m.End, true},
	}
}
