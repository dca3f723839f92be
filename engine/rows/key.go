package rows

import "github.com/fewlabel/fewlabel/engine/work"

// Keys gives a pseudorandom number for each row: of which features are not zero, and which are above half of the
// largest; number [cols] is that of each feature. Rows have the same key in any order and number of copies, on any
// machine, sparse or dense, and times any positive factor; different rows hardly ever.
func (m *Matrix) Keys(job *work.Job, number []int32) []uint64 {
	keys := make([]uint64, m.Rows())
	job.EachRow(m.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i] = mixed(m.key(i, number))
		}
	})
	return keys
}

// key adds up a number for every value of a row that is not zero.
func (m *Matrix) key(i int, number []int32) (key uint64) {
	largest := 0.0
	m.kernel.visit(i, func(_ int, v float64) { largest = max(largest, v) })
	m.kernel.visit(i, func(feature int, v float64) {
		switch {
		case v == 0:
		case v > largest/2:
			key += mixed(2*uint64(number[feature]) + 1)
		default:
			key += mixed(2*uint64(number[feature]) + 2)
		}
	})
	return key
}

// mixed spreads the bits of a number: the finalizer of SplitMix64, Steele, Lea & Flood 2014.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
