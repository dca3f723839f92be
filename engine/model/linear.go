// Package model holds a linear classifier: what it says of rows (linear.go) and the file it is kept in (file.go,
// write.go, read.go, arrays.go; docs/model-file.md describes it byte by byte). Start at Linear.
package model

import (
	"encoding/json"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Linear is a classifier whose decision values are linear in the features: f = x Coef + Intercept. Two classes have one
// decision value, and class 1 is where it is above 0. More classes have one each, and the largest decides.
type Linear struct {
	Classes  int // K
	Features int // d
	Outputs  int // decision values of a row: 1 for two classes, otherwise K

	Coef       []float64 // [Features*Outputs] the outputs of a feature side by side
	Intercept  []float64 // [Outputs]
	ClassPrior []float64 // [Classes] the share of each class that the fit held to

	Method      string
	Iterations  int
	Objective   float64           // NaN where the method has none
	Termination string            // why the fit stopped
	Warnings    []warning.Warning // of the fit, for the user
	Metadata    json.RawMessage   // any JSON that the caller keeps with the model; nil: none
}

// Decisions sets dst [rows*Outputs] to the decision values, those of a row side by side. A row's values have the same
// bits alone and in a batch, on any number of threads.
func (m *Linear) Decisions(pool *work.Pool, rows *csr.Matrix, dst []float64) error {
	if err := m.fits(rows, "decisions", len(dst), m.Outputs); err != nil {
		return err
	}
	if m.Outputs == 1 {
		rows.Times(&work.Job{Pool: pool}, dst, m.Coef)
		for i := range dst {
			dst[i] += m.Intercept[0]
		}
		return nil
	}
	eachBlock(pool, rows.Rows(), func(first, end int) {
		row := m.row(rows)
		for i := first; i < end; i++ {
			row(i, dst[i*m.Outputs:(i+1)*m.Outputs])
		}
	})
	return nil
}

// Predict sets dst [rows] to class numbers.
func (m *Linear) Predict(pool *work.Pool, rows *csr.Matrix, dst []int32) error {
	if err := m.fits(rows, "classes", len(dst), 1); err != nil {
		return err
	}
	if m.Outputs == 1 {
		return m.predictSigns(pool, rows, dst)
	}
	eachBlock(pool, rows.Rows(), func(first, end int) {
		row, decisions := m.row(rows), make([]float64, m.Outputs)
		for i := first; i < end; i++ {
			row(i, decisions)
			dst[i] = int32(vector.Largest(decisions))
		}
	})
	return nil
}

func (m *Linear) predictSigns(pool *work.Pool, rows *csr.Matrix, dst []int32) error {
	decisions := make([]float64, rows.Rows())
	if err := m.Decisions(pool, rows, decisions); err != nil {
		return err
	}
	for i, decision := range decisions {
		dst[i] = 0
		if decision > 0 && m.Classes == 2 {
			dst[i] = 1
		}
	}
	return nil
}

// row gives a function for the decision values of one row at a time, for one goroutine.
func (m *Linear) row(rows *csr.Matrix) func(i int, dst []float64) {
	var sums []float64
	add := func(col int, value float64) {
		weights := m.Coef[col*m.Outputs : (col+1)*m.Outputs]
		for k, weight := range weights {
			sums[k] += value * weight
		}
	}
	return func(i int, dst []float64) {
		sums = dst
		clear(sums)
		rows.Row(i, add)
		for k := range sums {
			sums[k] += m.Intercept[k]
		}
	}
}

func (m *Linear) fits(rows *csr.Matrix, name string, length, perRow int) error {
	if rows.Cols() != m.Features {
		return fault.Argument("rows have %d features, the model has %d", rows.Cols(), m.Features)
	}
	if length != rows.Rows()*perRow {
		return fault.Argument("%s has room for %d values, but %d rows need %d", name, length, rows.Rows(), rows.Rows()*perRow)
	}
	return nil
}

const rowsPerBlock = 512

func eachBlock(pool *work.Pool, rows int, task func(first, end int)) {
	pool.Run((rows+rowsPerBlock-1)/rowsPerBlock, func(b int) {
		task(b*rowsPerBlock, min(rows, (b+1)*rowsPerBlock))
	})
}
