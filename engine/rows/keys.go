package rows

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Keys gives a pseudorandom number for each row: a hash of which features are not zero and which of these are above
// half of the largest; number [cols] is the caller's number of each feature. Equal rows get equal keys, whatever their
// order, format, machine or scale; collisions are rare. In full rows, where many have the same such features, sizes
// enter the key, and with up to fewFeatures features the values: then only a scale that all rows share, and Scaled with
// it, leaves the keys as they are.
func (m *Matrix) Keys(job *work.Job, number []int32, full bool) []uint64 {
	keys, hashes := make([]uint64, m.Rows()), make([]uint64, 2*len(number))
	for j, feature := range number {
		hashes[2*j], hashes[2*j+1] = mixed(2*uint64(feature)+2), mixed(2*uint64(feature)+1)
	}
	job.Every(m.Rows(), func(i int) {
		key := m.kernel.pattern(i, hashes, full)
		if len(number) <= fewFeatures {
			largest := 0.0
			m.kernel.visit(i, func(_ int, value float64) { largest = max(largest, math.Abs(value)) })
			m.kernel.visit(i, func(col int, value float64) {
				if size := math.Abs(value); size > largest*rounding {
					step := uint64(int64(math.Floor(math.Log2(size*math.Abs(m.scale))*valueSteps + math.Sqrt2)))
					key += mixed(uint64(number[col])<<32 ^ 2*step ^ math.Float64bits(value)>>63)
				}
			})
		}
		keys[i] = mixed(key)
	})
	return keys
}

func (a *arrays[I, V]) pattern(i int, hashes []uint64, full bool) uint64 {
	indices, values := a.row(i)
	return pattern(indices, values, hashes, full)
}

func (a *dense[V]) pattern(i int, hashes []uint64, full bool) uint64 {
	return pattern[int32](nil, a.row(i), hashes, full)
}

// pattern adds up the hashes [2 features] of the features that are not zero: the second hash of those above half of the
// largest, the first hash of the others. indices nil: all features.
func pattern[I index, V value](indices []I, values []V, hashes []uint64, full bool) (key uint64) {
	largest := V(0)
	for _, v := range values {
		if v > largest {
			largest = v
		}
	}
	nothing := largest * rounding
	for k, v := range values {
		feature := k
		if indices != nil {
			feature = int(indices[k])
		}
		if v > largest/2 {
			key += hashes[2*feature+1]
		} else if math.Abs(float64(v)) > float64(nothing) { // no branch by the sign
			key += hashes[2*feature]
		}
	}
	if full {
		key += sizes(indices, values, hashes)
	}
	return key
}

// sizes adds up multiples of the first hashes of the features that are not zero: by how often the largest size can be
// divided by four before it is below theirs, and by whether they are above the mean of those up to half of it. A vector
// may have a feature that is always the largest, or all between 1 and 2.
func sizes[I index, V value](indices []I, values []V, hashes []uint64) (key uint64) {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(float64(v)))
	}
	nothing := largest * rounding
	mean, n := meanUpTo(values, nothing, largest/2)
	if n == 0 {
		mean, _ = meanUpTo(values, nothing, largest)
	}
	for k, v := range values {
		size, feature := math.Abs(float64(v)), k
		if size <= nothing {
			continue
		}
		if indices != nil {
			feature = int(indices[k])
		}
		multiple := 4*((math.Float64bits(largest)-math.Float64bits(size))>>53) + 1
		if float64(v)-mean > nothing {
			multiple += 2
		}
		key += hashes[2*feature] * multiple
	}
	return key
}

// meanUpTo is that of the n values whose sizes are above one number and up to another.
func meanUpTo[V value](values []V, above, most float64) (mean float64, n int) {
	for _, v := range values {
		if size := math.Abs(float64(v)); size > above && size <= most {
			mean += float64(v)
			n++
		}
	}
	return mean / float64(max(1, n)), n
}

// rounding of the largest value counts as 0: computed features differ by it where rows come in another order.
const rounding = 1e-6

// fewFeatures is a number of features at which many different rows have the same features that are zero and large.
const fewFeatures = 32

// valueSteps is the number of steps between a size and twice it, to which values are rounded, as another scale changes
// their last digits. Steps are shifted (by √2), so that no round value lies at an edge.
const valueSteps = 1 << 12

// mixed spreads the bits of a number: the finalizer of SplitMix64, Steele, Lea & Flood 2014.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
