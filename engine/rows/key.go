package rows

import "github.com/fewlabel/fewlabel/engine/work"

// Keys gives a pseudorandom number for each row: of which features are not zero, and which are above half of the
// largest; number [cols] is that of each feature. Rows have the same key in any order and number of copies, on any
// machine, sparse or dense, and times any positive factor; different rows hardly ever.
func (m *Matrix) Keys(job *work.Job, number []int32) []uint64 {
	keys := make([]uint64, m.Rows())
	job.EachRow(m.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i] = mixed(m.kernel.key(i, number))
		}
	})
	return keys
}

func (a *arrays[I, V]) key(i int, number []int32) uint64 {
	indices, values := a.row(i)
	largest := largestOf(values)
	key := uint64(0)
	for k, v := range values {
		key += keyOf(number[indices[k]], v, largest)
	}
	return key
}

func (a *dense[V]) key(i int, number []int32) uint64 {
	values := a.row(i)
	largest := largestOf(values)
	key := uint64(0)
	for j, v := range values {
		key += keyOf(number[j], v, largest)
	}
	return key
}

func largestOf[V value](values []V) (largest V) {
	for _, v := range values {
		largest = max(largest, v)
	}
	return largest
}

// keyOf is the part of a value in the key of its row.
func keyOf[V value](feature int32, v, largest V) uint64 {
	switch {
	case v == 0:
		return 0
	case v > largest/2:
		return mixed(2*uint64(feature) + 1)
	}
	return mixed(2*uint64(feature) + 2)
}

// mixed spreads the bits of a number: the finalizer of SplitMix64, Steele, Lea & Flood 2014.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
