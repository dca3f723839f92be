package rows

import (
	"cmp"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Packed is the same rows with the features renumbered, the same way on all machines: the most frequent one first,
// those that no row has left out. In text a few features make up most non-zeros; side by side they stay in the fastest
// memory, and up to 65,536 features their numbers take two bytes each. The values stay where they are. old[k] is the
// caller's number of feature k.
//
// Rows keep the caller's numbers where packing does not pay, see keeps: planted rows of 200,000 features take the same
// time and half of the memory.
func (m *Matrix) Packed(job *work.Job) (packed *Matrix, old []int32) {
	view, counts := *m, m.kernel.counts(m.cols)
	job.Reduce(counts)
	if keeps(counts) {
		old = Numbers(m.cols)
		view.absent = slices.DeleteFunc(slices.Clone(old), func(j int32) bool { return counts[j] > 0 })
	} else {
		old, view.absent = byFrequency(counts), nil
	}
	view.cols, view.kernel = len(old), m.kernel.renumbered(job.Pool, old, m.cols)
	view.all = view.Subset(m.all.rows)
	return &view, old
}

// Absent lists the features of packed rows that no row of any machine has.
func (m *Matrix) Absent() []int32 { return m.absent }

const (
	twoBytes     = 1 << 16 // features whose numbers take two bytes
	manyNonZeros = 8       // for each feature
	mostOccur    = 8       // all but one in so many
)

// keeps reports whether features keep their numbers: they have many non-zeros, most of them occur, and two bytes do not
// number them.
func keeps(counts []float64) bool {
	cols, occur := len(counts), floats.Count(func(count float64) bool { return count > 0 }, counts)
	return occur > twoBytes && cols-occur <= cols/mostOccur && vector.Sum(counts) >= float64(manyNonZeros*cols)
}

// PackedBytes is a bound on the memory that Packed takes.
func (m *Matrix) PackedBytes() float64 {
	size, bytes := m.kernel.indexBytes(), 4
	switch {
	case m.cols <= twoBytes:
		bytes = min(size, 2)
	case size == 4 && m.NonZeros() >= manyNonZeros*m.cols && keeps(m.kernel.counts(m.cols)): // a small list
		bytes = 0
	}
	return float64(min(size, bytes)) * float64(m.NonZeros())
}

func (a *arrays[I, V]) indexBytes() int { return int(unsafe.Sizeof(I(0))) }

func (a *arrays[I, V]) counts(cols int) []float64 {
	counts := make([]float64, cols)
	for _, j := range a.stored() {
		counts[j]++
	}
	return counts
}

func (a *arrays[I, V]) renumbered(pool *work.Pool, old []int32, cols int) kernel {
	if a.indexBytes() == 4 && len(old) == cols && slices.IsSorted(old) {
		return a
	}
	number := make([]int32, cols)
	for k, j := range old {
		number[j] = int32(k)
	}
	if len(old) <= twoBytes {
		return &arrays[uint16, V]{a.indptr, renumber[uint16](pool, a.stored(), number), a.values}
	}
	return &arrays[int32, V]{a.indptr, renumber[int32](pool, a.stored(), number), a.values}
}

// byFrequency lists the features that occur, most frequent first, then by number; without any the first feature.
func byFrequency(counts []float64) []int32 {
	const top = 1 << 16 // features above this count are not sorted among themselves
	occur := slices.DeleteFunc(Numbers(len(counts)), func(j int32) bool { return counts[j] == 0 })
	if len(occur) == 0 {
		return []int32{0}
	}
	slices.SortFunc(occur, func(a, b int32) int {
		return cmp.Or(cmp.Compare(min(counts[b], top), min(counts[a], top)), cmp.Compare(a, b))
	})
	return occur
}

// stored are the indices that the rows use: the caller's array may be longer.
func (a *arrays[I, V]) stored() []I { return a.indices[:a.indptr[len(a.indptr)-1]] }

func renumber[To, From index](pool *work.Pool, indices []From, number []int32) []To {
	out := make([]To, len(indices))
	pool.Stripes(len(indices), func(lo, hi int) {
		for k, j := range indices[lo:hi] {
			out[lo+k] = To(number[j])
		}
	})
	return out
}

// Selected are some rows, with all features: copies of sparse ones, a list of dense ones.
func (m *Matrix) Selected(pool *work.Pool, rows []int32) *Matrix {
	indptr := make([]int64, len(rows)+1)
	for k, i := range rows {
		indptr[k+1] = indptr[k] + int64(m.RowNonZeros(int(i)))
	}
	selected := newMatrix(m.cols, m.kernel.selected(pool, rows, indptr), indptr)
	selected.scale = m.scale
	return selected
}

func (a *arrays[I, V]) selected(pool *work.Pool, rows []int32, indptr []int64) kernel {
	total := indptr[len(rows)]
	copied := &arrays[I, V]{indptr, make([]I, total), make([]V, total)}
	pool.Every(len(rows), func(k int) {
		indices, values := a.row(int(rows[k]))
		copy(copied.indices[indptr[k]:], indices)
		copy(copied.values[indptr[k]:], values)
	})
	return copied
}

func (a *dense[V]) selected(_ *work.Pool, rows []int32, _ []int64) kernel {
	list := slices.Clone(rows)
	for k, i := range rows {
		if a.list != nil {
			list[k] = a.list[i]
		}
	}
	return &dense[V]{a.values, len(list), a.d, a.stride, list}
}

// SelectedBytes is the memory that selected rows with this number of non-zeros take.
func (m *Matrix) SelectedBytes(nonZeros float64) float64 {
	if m.Dense() {
		return 0
	}
	return (8 + 4) * nonZeros
}

// Gathered copies some rows of every machine to all machines, in the order of the ranks; first is the place of the
// first row from this machine.
func (m *Matrix) Gathered(job *work.Job, rows []int32) (gathered *Matrix, first int) {
	var sent []float64 // for each row: the number of its non-zeros, then their features and values
	for _, i := range rows {
		sent = append(sent, float64(m.RowNonZeros(int(i))))
		m.Row(int(i), func(col int, value float64) { sent = append(sent, float64(col), value) })
	}
	all, place := job.Gather(sent)
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for k := 0; k < len(all); {
		if k < place {
			first++
		}
		end := k + 1 + 2*int(all[k])
		for k++; k < end; k += 2 {
			indices, values = append(indices, int32(all[k])), append(values, all[k+1])
		}
		indptr = append(indptr, int64(len(indices)))
	}
	gathered = newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr)
	gathered.everywhere = true
	return gathered, first
}
