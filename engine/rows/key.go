package rows

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Keys gives a pseudorandom number for each row: of which features are not zero, and which are above half of the
// largest; number [cols] is that of each feature. Rows have the same key in any order and number of copies, on any
// machine, sparse or dense, and times any positive factor; different rows hardly ever. That takes values where there
// are few features: then all rows may be times a factor, and the scale with them.
func (m *Matrix) Keys(job *work.Job, number []int32) []uint64 {
	keys, hashes := make([]uint64, m.Rows()), make([]uint64, 2*len(number))
	for j, feature := range number {
		hashes[2*j], hashes[2*j+1] = mixed(2*uint64(feature)+2), mixed(2*uint64(feature)+1)
	}
	job.EachRow(m.Rows(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			key, largest := uint64(0), 0.0
			m.kernel.visit(i, func(_ int, value float64) { largest = max(largest, value) })
			m.kernel.visit(i, func(col int, value float64) {
				switch {
				case value > largest/2:
					key += hashes[2*col+1]
				case value != 0:
					key += hashes[2*col]
				}
				if len(number) <= fewFeatures {
					key += addValue(number[col], m.scale*value)
				}
			})
			keys[i] = mixed(key)
		}
	})
	return keys
}

// fewFeatures leave many rows without a difference in what is zero and what is large.
const fewFeatures = 32

// addValue is the number of a value of a row, 0 for a zero, where single values count. It is that of neighbouring
// values, as another scale changes the last digits; no value of round numbers lies where it changes.
func addValue(feature int32, value float64) uint64 {
	if value == 0 {
		return 0
	}
	return mixed(uint64(feature)<<32 ^ uint64(int64(math.Floor(value*valueSteps+math.Sqrt2))))
}

// valueSteps is how many numbers there are for values between 0 and 1.
const valueSteps = 1 << 12

// mixed spreads the bits of a number: the finalizer of SplitMix64, Steele, Lea & Flood 2014.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
