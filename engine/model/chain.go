package model

import "github.com/fewlabel/fewlabel/engine/strictjson"

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
