package model

import (
	"cmp"

	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Chain holds the numbers of a linear chain: a sequence of rows x_1 ... x_T with labels y_1 ... y_T has the score
// Start[y_1] + Σ_t x_t Coef[., y_t] + Σ_t Transitions[y_t, y_{t+1}] + End[y_T].
type Chain struct {
	Labels   int // K
	Features int // d

	Coef        []float64 // [Features*Labels] the labels of a feature side by side, as in Linear
	Transitions []float64 // [Labels*Labels] all labels that may follow a label side by side
	Start, End  []float64 // [Labels]

	Report
}

// Kind is the name in files.
func (*Chain) Kind() string { return "chain" }

func (m *Chain) sizes() []strictjson.Field {
	return []strictjson.Field{{Name: "n_labels", Value: &m.Labels}, {Name: "n_features", Value: &m.Features}}
}

func (m *Chain) mistake() string {
	return cmp.Or(sizeMistake("n_labels", m.Labels), sizeMistake("n_features", m.Features))
}

func (m *Chain) arrays() []array {
	return []array{
		{"coef", m.Features, m.Labels, &m.Coef}, {"transitions", m.Labels, m.Labels, &m.Transitions},
		{"start", m.Labels, 1, &m.Start}, {"end", m.Labels, 1, &m.End},
	}
}
