package rows

import "github.com/fewlabel/fewlabel/engine/work"

// Packed is the same rows with the features renumbered: the most frequent one first, those that no row has left out. In
// text a few features make up most non-zeros; side by side they stay in the fastest memory, and up to 65,536 features
// their numbers take two bytes each. The values stay where they are. old[k] is the caller's number of feature k.
func (m *Matrix) Packed(job *work.Job) (packed *Matrix, old []int32) {
	k, old := m.kernel.packed(job, m.cols)
	view := *m
	view.cols, view.kernel = len(old), k
	view.all = view.Subset(m.all.rows)
	return &view, old
}

func (a *arrays[I, V]) packed(job *work.Job, cols int) (k kernel, old []int32) {
	counts := make([]int64, cols)
	a.count(job.Pool, counts)
	job.ReduceCounts(counts)
	old = byFrequency(counts)
	number := make([]int32, cols)
	for k, j := range old {
		number[j] = int32(k)
	}
	return a.renumbered(job.Pool, number, len(old)), old
}

// byFrequency lists the features that occur, most frequent first, equally frequent ones by number. A matrix without
// non-zeros keeps its first feature.
func byFrequency(counts []int64) []int32 {
	const top = 1 << 16 // features above this count are not sorted among themselves: there are few
	starts := make([]int, top+2)
	level := func(count int64) int { return top - int(min(count, top)) }
	used := 0
	for _, count := range counts {
		if count > 0 {
			starts[level(count)+1]++
			used++
		}
	}
	if used == 0 {
		return []int32{0}
	}
	for k := range top + 1 {
		starts[k+1] += starts[k]
	}
	order := make([]int32, used)
	for j, count := range counts {
		if count > 0 {
			order[starts[level(count)]] = int32(j)
			starts[level(count)]++
		}
	}
	return order
}

func (a *arrays[I, V]) count(pool *work.Pool, counts []int64) {
	indices, parts := a.stored(), pool.Threads()
	if len(indices) < 8*len(counts) {
		parts = 1 // adding parts costs more
	}
	of := make([][]int64, parts)
	pool.Run(parts, func(k int) {
		of[k] = counts
		if k > 0 {
			of[k] = make([]int64, len(counts))
		}
		for _, j := range indices[k*len(indices)/parts : (k+1)*len(indices)/parts] {
			of[k][j]++
		}
	})
	for _, part := range of[1:] {
		for j, count := range part {
			counts[j] += count
		}
	}
}

func (a *arrays[I, V]) renumbered(pool *work.Pool, number []int32, cols int) kernel {
	if cols <= 1<<16 {
		return &arrays[uint16, V]{a.indptr, renumber[uint16](pool, a.stored(), number), a.values}
	}
	return &arrays[int32, V]{a.indptr, renumber[int32](pool, a.stored(), number), a.values}
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
