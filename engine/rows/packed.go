package rows

import (
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Packed is the same rows with the features renumbered: the most frequent one first, those that no row has left out. In
// text a few features make up most non-zeros; side by side they stay in the fastest memory, and up to 65,536 features
// their numbers take two bytes each. The values stay where they are. old[k] is the caller's number of feature k.
func (m *Matrix) Packed(job *work.Job) (packed *Matrix, old []int32) {
	packed, old, _ = m.Arranged(job, false)
	return packed, old
}

// Arranged are the packed rows, or where mayKeep those with the features as they are if packing does not pay: rows with
// many non-zeros of more features than two bytes can number, most of which occur. Planted rows of 200,000 features take
// as long so, and half of the memory. absent are those that do not occur.
func (m *Matrix) Arranged(job *work.Job, mayKeep bool) (arranged *Matrix, old, absent []int32) {
	k, old, absent := m.kernel.packed(job, m.cols, mayKeep)
	view := *m
	view.cols, view.kernel = len(old), k
	view.all = view.Subset(m.all.rows)
	return &view, old, absent
}

const (
	twoBytes     = 1 << 16 // features whose numbers take two bytes
	manyNonZeros = 8       // for each feature
	mostOccur    = 8       // all but one in so many
)

func keeps(counts []int64) (absent []int32, ok bool) {
	total, cols := int64(0), len(counts)
	for j, count := range counts {
		if total += count; count == 0 {
			absent = append(absent, int32(j))
		}
	}
	ok = cols-len(absent) > twoBytes && len(absent) <= cols/mostOccur && total >= manyNonZeros*int64(cols)
	return absent, ok
}

// PackedBytes is a bound on the memory that Arranged takes.
func (m *Matrix) PackedBytes() float64 { return float64(m.NonZeros()) * m.kernel.packedBytes(m.cols) }

func (a *arrays[I, V]) packedBytes(cols int) float64 {
	switch {
	case cols <= twoBytes:
		return 2
	case unsafe.Sizeof(I(0)) == 4 && len(a.stored()) >= manyNonZeros*cols: // so the counts are a small list
		if _, ok := keeps(a.counts(cols)); ok {
			return 0
		}
	}
	return 4
}

func (a *arrays[I, V]) counts(cols int) []int64 {
	counts := make([]int64, cols)
	for _, j := range a.stored() {
		counts[j]++
	}
	return counts
}

// packed keeps numbers of four bytes where it may; all machines have the features in the same order.
func (a *arrays[I, V]) packed(job *work.Job, cols int, mayKeep bool) (k kernel, old, absent []int32) {
	counts := a.counts(cols)
	job.ReduceCounts(counts)
	absent, kept := keeps(counts)
	switch {
	case !mayKeep || !kept:
		old, absent = byFrequency(counts), nil
	case unsafe.Sizeof(I(0)) == 4:
		return a, upTo(cols), absent
	default:
		old = upTo(cols)
	}
	number := make([]int32, cols)
	for k, j := range old {
		number[j] = int32(k)
	}
	if len(old) <= twoBytes {
		return &arrays[uint16, V]{a.indptr, renumber[uint16](job.Pool, a.stored(), number), a.values}, old, absent
	}
	return &arrays[int32, V]{a.indptr, renumber[int32](job.Pool, a.stored(), number), a.values}, old, absent
}

// byFrequency lists the features that occur, most frequent first, then by number; without any the first feature.
func byFrequency(counts []int64) []int32 {
	const top = 1 << 16              // features above this count are not sorted among themselves
	places := make([]int32, 1+top+1) // of the next feature that lacks so much of the top
	for _, count := range counts {
		places[1+top-min(count, top)]++
	}
	for k := range top {
		places[k+1] += places[k]
	}
	order := make([]int32, max(1, places[top]))
	for j, count := range counts {
		if count > 0 {
			order[places[top-min(count, top)]] = int32(j)
			places[top-min(count, top)]++
		}
	}
	return order
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
