package sample

import (
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Packed is a model of the problem's rows as a model of the packed rows.
func (s *Sample) Packed(m *model.Linear) *model.Linear {
	packed := *m
	packed.Features, packed.Coef = len(s.Feature), make([]float64, len(s.Feature)*m.Outputs)
	for k, old := range s.Feature {
		copy(packed.Coef[k*m.Outputs:(k+1)*m.Outputs], m.Coef[int(old)*m.Outputs:])
	}
	vector.Scale(packed.Coef, s.Length)
	return &packed
}

// Unpacked is a model of the packed rows as a model of the problem's.
func (s *Sample) Unpacked(m *model.Linear) *model.Linear {
	whole := *m
	whole.Features, whole.Coef = s.Features, make([]float64, s.Features*m.Outputs)
	s.Unpack(m, whole.Coef)
	return &whole
}

// Unpack sets the weights [Features, outputs] of the features that the packed rows have.
func (s *Sample) Unpack(m *model.Linear, coef []float64) {
	for k, old := range s.Feature {
		row := coef[int(old)*m.Outputs:][:m.Outputs]
		copy(row, m.Coef[k*m.Outputs:])
		vector.Scale(row, 1/s.Length)
	}
}
