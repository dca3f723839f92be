package rows

import (
	"math"
	"slices"
)

// Equal rows are looked for where there are many rows, in a sample of them first.
const (
	manyEqual   = 1 << 14
	equalSample = 16 // one row of so many
)

// FirstEqual gives for each row the first one that has the same label and the same values; nil where that would not
// leave half of the rows, or there are few.
func (m *Matrix) FirstEqual(labels []int32) (first []int32) {
	rows := m.all.rows
	if len(rows) < manyEqual {
		return nil
	}
	var spaced []int32
	for k := 0; k < len(rows); k += equalSample {
		spaced = append(spaced, rows[k])
	}
	if _, different := m.firstEqual(spaced, labels); 2*different > len(spaced) {
		return nil
	}
	if first, different := m.firstEqual(rows, labels); 2*different <= len(rows) {
		return first
	}
	return nil
}

// firstEqual gives for each of some rows the first one that equals it, and the number of different rows.
func (m *Matrix) firstEqual(rows, labels []int32) (first []int32, different int) {
	known := make(map[uint64]int32)
	for _, i := range rows {
		print := m.fingerprint(i, labels[i])
		earlier, found := known[print]
		if !found {
			known[print], earlier = i, i
		}
		if labels[earlier] != labels[i] || !m.kernel.same(int(earlier), int(i)) {
			earlier = i // two rows with one fingerprint
		}
		if earlier == i {
			different++
		}
		first = append(first, earlier)
	}
	return first, different
}

// fingerprint is a number that equal rows with equal labels have in common.
func (m *Matrix) fingerprint(i, label int32) (print uint64) {
	print = uint64(label)
	m.kernel.visit(int(i), func(col int, value float64) {
		print = mixed(print + uint64(col)<<32 + math.Float64bits(value))
	})
	return print
}

func (a *arrays[I, V]) same(i, j int) bool {
	firstIndices, firstValues := a.row(i)
	indices, values := a.row(j)
	return slices.Equal(firstIndices, indices) && slices.Equal(firstValues, values)
}

func (a *dense[V]) same(i, j int) bool { return slices.Equal(a.row(i), a.row(j)) }
