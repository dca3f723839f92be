package sample

import (
	"sync"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Prepared are rows made ready, which samples with different labels can share.
type Prepared struct {
	rows    *rows.Matrix // packed, in units of length
	length  float64      // root of the mean square length of the rows that count
	feature []int32      // [rows.Cols] the problem's number of each packed feature

	keysOnce sync.Once
	keys     []uint64 // [n] see rows.Keys
}

func Prepare(m *rows.Matrix, weights []float64, job *work.Job) *Prepared {
	p := &Prepared{length: m.RootMeanSquare(job, weights)}
	p.rows, p.feature = m.Packed(job)
	p.rows = p.rows.Scaled(1 / p.length)
	job.CountAndCheck(2 * int64(p.rows.NonZeros()))
	return p
}

func (p *Prepared) allKeys(job *work.Job) []uint64 {
	p.keysOnce.Do(func() { p.keys = p.rows.Keys(job, p.feature) })
	return p.keys
}

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
