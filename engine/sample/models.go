package sample

import (
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Packed are the weights [Feature, outputs] of a model of the problem's rows, for the packed rows.
func (s *Sample) Packed(m *model.Linear) []float64 {
	coef := make([]float64, len(s.Feature)*m.Outputs)
	for k, old := range s.Feature {
		copy(coef[k*m.Outputs:(k+1)*m.Outputs], m.Coef[int(old)*m.Outputs:])
	}
	vector.Scale(coef, s.Length)
	return coef
}

// Unpacked is a model of the packed rows as a model of the problem's.
func (s *Sample) Unpacked(m *model.Linear) *model.Linear {
	whole := *m
	whole.Features, whole.Coef = s.Features, make([]float64, s.Features*m.Outputs)
	for k, old := range s.Feature {
		copy(whole.Coef[int(old)*m.Outputs:], m.Coef[k*m.Outputs:(k+1)*m.Outputs])
	}
	vector.Scale(whole.Coef, 1/s.Length)
	return &whole
}
