package sample

import (
	"sync"

	"github.com/fewlabel/fewlabel/engine/rows"
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

// Prepare packs and scales the rows of a problem.
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
