package rows

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/work"
)

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

// PackedBytes is a bound on the memory that packing takes.
func (m *Matrix) PackedBytes() float64 {
	switch {
	case m.kernel.isDense():
		return 0
	case m.cols <= 1<<16:
		return 2 * float64(m.NonZeros())
	}
	return 4 * float64(m.NonZeros())
}

func (a *arrays[I, V]) packed(job *work.Job, cols int) (k kernel, old []int32) {
	counts := make([]int64, cols)
	for _, j := range a.stored() {
		counts[j]++
	}
	job.ReduceCounts(counts)
	old = byFrequency(counts)
	number := make([]int32, cols)
	for k, j := range old {
		number[j] = int32(k)
	}
	return a.renumbered(job.Pool, number, len(old)), old
}

// byFrequency lists the features that occur, most frequent first, then by number; without any the first feature.
func byFrequency(counts []int64) []int32 {
	const top = 1 << 16 // features above this count are not sorted among themselves
	var keys []uint64   // the lack of the count, then the feature
	for j, count := range counts {
		if count > 0 {
			keys = append(keys, uint64(top-min(count, top))<<32|uint64(j))
		}
	}
	slices.Sort(keys)
	order := make([]int32, max(1, len(keys)))
	for k, key := range keys {
		order[k] = int32(key & math.MaxUint32)
	}
	return order
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

// Keys gives a pseudorandom number for each row: of which features are not zero, and which are above half of the
// largest; number [cols] is that of each feature. Rows have the same key in any order and number of copies, on any
// machine, sparse or dense, and times any positive factor; different rows hardly ever. That takes values where there
// are few features: then all rows may be times a factor, and the scale with them.
func (m *Matrix) Keys(job *work.Job, number []int32) []uint64 {
	keys, hashes := make([]uint64, m.Rows()), make([]uint64, 2*len(number))
	for j, feature := range number {
		hashes[2*j], hashes[2*j+1] = mixed(2*uint64(feature)+2), mixed(2*uint64(feature)+1)
	}
	job.Every(m.Rows(), func(i int) {
		key, largest := uint64(0), 0.0
		m.kernel.visit(i, func(_ int, value float64) { largest = max(largest, value) })
		m.kernel.visit(i, func(col int, value float64) {
			switch {
			case value > largest/2:
				key += hashes[2*col+1]
			case value != 0:
				key += hashes[2*col]
			}
			if value *= m.scale; value != 0 && len(number) <= fewFeatures {
				key += mixed(uint64(number[col])<<32 ^ uint64(int64(math.Floor(value*valueSteps+math.Sqrt2))))
			}
		})
		keys[i] = mixed(key)
	})
	return keys
}

// fewFeatures leave many rows without a difference in what is zero and what is large.
const fewFeatures = 32

// valueSteps is how many numbers there are for values between 0 and 1: neighbouring values have the same, as another
// scale changes the last digits, and no value of round numbers lies where the number changes.
const valueSteps = 1 << 12

// mixed spreads the bits of a number: the finalizer of SplitMix64, Steele, Lea & Flood 2014.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
