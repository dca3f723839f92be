package rows

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// FuzzNew: rows of any kind are taken if and only if they are sound, and then products with them are those of the same
// rows written out. The bytes are read as numbers: first the bounds of the rows, then an index and a value by turns.
func FuzzNew(f *testing.F) {
	f.Add(int64(3), uint8(2), []byte{0, 0, 1, 0, 3, 0}, []byte{0, 0, 1, 2, 0, 3, 0, 0, 4})
	f.Add(int64(3), uint8(1), []byte{0, 0, 2, 0, 1, 0}, []byte{0, 0, 1, 2, 0, 3})     // bounds that fall
	f.Add(int64(1), uint8(7), []byte{0, 0, 9, 0}, []byte{0, 0, 1})                    // more values than there are
	f.Add(int64(3), uint8(4), []byte{0, 0, 1, 0}, []byte{255, 255, 1})                // an index below 0
	f.Add(int64(2), uint8(0), []byte{0, 0, 2, 0}, []byte{1, 0, 128, 1, 0, 127})       // NaN, infinity
	f.Add(int64(math.MaxInt64), uint8(0), []byte{0, 0, 0, 0}, []byte{})               // more features than supported
	f.Add(int64(0), uint8(3), []byte{}, []byte{})                                     // nothing at all
	f.Add(int64(2), uint8(5), []byte{0, 128, 1, 0}, []byte{0, 0, 1, 1, 0, 1})         // bounds below 0
	f.Add(int64(70), uint8(6), []byte{0, 0, 3, 0}, []byte{5, 0, 9, 5, 0, 9, 1, 0, 0}) // an index twice, a zero
	f.Fuzz(func(t *testing.T, features int64, types uint8, bounds, entries []byte) {
		var indptr, indices []int64
		var values []float64
		for ; len(bounds) > 1; bounds = bounds[2:] {
			indptr = append(indptr, int64(int16(binary.LittleEndian.Uint16(bounds))))
		}
		for ; len(entries) > 2; entries = entries[3:] {
			indices = append(indices, int64(int16(binary.LittleEndian.Uint16(entries))))
			values = append(values, fuzzed(entries[2]))
		}
		views := everyType(int(features), indptr, indices, values)
		m, err := views[slices.Sorted(maps.Keys(views))[types%4]]()
		if err == nil {
			m, err = m.Checked()
		}
		if sound := isSound(features, indptr, indices, values); sound != (err == nil) {
			t.Fatalf("sound: %v, but the error is %v", sound, err)
		}
		var found *fault.Error
		switch {
		case err != nil && (!errors.As(err, &found) || found.Kind != fault.BadData):
			t.Fatalf("the error %v is not a fault.BadData", err)
		case err == nil && features <= 1000:
			sameProducts(t, m, indptr, indices, values)
		}
	})
}

// fuzzed is a value from a byte, exact in float32; two of them are none.
func fuzzed(b byte) float64 {
	switch b {
	case 127:
		return math.Inf(1)
	case 128:
		return math.NaN()
	}
	return float64(int8(b)) / 8
}

// isSound says in the fewest words what New promises to check. Values behind the last row are nobody's.
func isSound(features int64, indptr, indices []int64, values []float64) bool {
	if features < 1 || features > math.MaxInt32 || len(indptr) < 2 || indptr[0] != 0 {
		return false
	}
	for i, end := range indptr[1:] {
		if end < indptr[i] || end > int64(len(values)) {
			return false
		}
	}
	for k := range indptr[len(indptr)-1] {
		if indices[k] < 0 || indices[k] >= features || math.IsNaN(values[k]) || math.IsInf(values[k], 0) {
			return false
		}
	}
	return true
}

// sameProducts compares products, of the rows and of the packed rows, with those of a table.
func sameProducts(t *testing.T, m *Matrix, indptr, indices []int64, values []float64) {
	n, d, job := m.Rows(), m.Cols(), work.NewJob(2, nil)
	p, q := make([]float64, d), make([]float64, n)
	for j := range p {
		p[j] = math.Sin(float64(j + 1))
	}
	for i := range q {
		q[i] = math.Cos(float64(i + 1))
	}
	wantTimes, wantSums := make([]float64, n), make([]float64, d)
	for i := range n {
		for k := indptr[i]; k < indptr[i+1]; k++ {
			wantTimes[i] += values[k] * p[indices[k]]
			wantSums[indices[k]] += values[k] * q[i]
		}
	}
	times, sums := make([]float64, n), make([]float64, d)
	m.TimesOn(job, m.All(), times, p)
	m.TransposedTimes(job, sums, q)
	near(t, "X p", times, wantTimes)
	near(t, "X'q", sums, wantSums)

	packed, old := m.Packed(job)
	narrow, sums, total := make([]float64, packed.Cols()), make([]float64, packed.Cols()), 0.0
	for k, j := range old {
		narrow[k] = p[j]
	}
	packed.TimesOn(job, packed.All(), times, narrow)
	packed.TransposedTimes(job, sums, q)
	near(t, "packed X p", times, wantTimes)
	for k, j := range old {
		total += math.Abs(sums[k] - wantSums[j])
	}
	if !(total < 1e-9) {
		t.Fatalf("packed X'q is off by %v", total)
	}
}
