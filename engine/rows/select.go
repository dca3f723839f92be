package rows

import (
	"math"
	"slices"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Scaled is a view of the same rows, each times a factor. The values stay where they are: products apply it.
func (m *Matrix) Scaled(factor float64) *Matrix {
	view := *m
	view.scale *= factor
	return &view
}

// RootMeanSquare is the root of the mean square length of the rows that have a weight and are not zero, averaged by
// the weights [rows]; 1 where there is no such row. Rows times a power of two have the same bits times it.
func (m *Matrix) RootMeanSquare(job *work.Job, weights []float64) float64 {
	// Squares of lengths up to 1e100 stay in the range of numbers; longer and shorter rows are measured in other units.
	for _, unit := range []float64{1, 0x1p350, 0x1p-350, 0x1p700, 0x1p-700} {
		square := m.Scaled(unit).meanSquare(job, weights)
		if square > 1e-200 && square < 1e200 {
			return math.Sqrt(square) / unit
		}
	}
	return 1
}

// Lengths of rows whose inverse is a finite number and, times a weight, still has all its digits.
const (
	shortest = 0x1p-1023
	longest  = 0x1p1000
)

// CheckLength refuses rows in which no fit can count: length is their RootMeanSquare.
func (m *Matrix) CheckLength(length float64) error {
	if length >= shortest && length <= longest {
		return nil
	}
	return Overflowed(m.Largest())
}

// Largest is the value farthest from zero, with its row and its feature.
func (m *Matrix) Largest() (value float64, row, feature int) {
	for i := range m.Rows() {
		m.Row(i, func(col int, v float64) {
			if math.Abs(v) > math.Abs(value) {
				value, row, feature = v, i, col
			}
		})
	}
	return value, row, feature
}

// Overflowed is the error of a fit of rows with this largest value.
func Overflowed(value float64, row, feature int) error {
	return fault.Data("the fit overflowed: scale your features (the largest value of X is %.4g in row %d, column %d) or "+
		"raise alpha", value, row, feature)
}

// meanSquare is the mean of the squared lengths that are not zero, by the weights.
func (m *Matrix) meanSquare(job *work.Job, weights []float64) float64 {
	squares := make([]float64, m.Rows())
	job.CountAndCheck(int64(m.NonZeros()))
	job.Every(len(squares), func(i int) { squares[i] = m.SquaredNorm(i) })
	var total, sums [1]float64 // weight of the rows that count; their mean square
	job.SumRows(len(squares), 0, total[:], func(i int, dst, _ []float64) {
		if squares[i] > 0 {
			dst[0] += weights[i]
		}
	})
	job.SumRows(len(squares), 0, sums[:], func(i int, dst, _ []float64) {
		if w := weights[i]; w > 0 {
			dst[0] += w / total[0] * squares[i]
		}
	})
	return sums[0]
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

// SelectedBytes is the memory of the values and features of selected rows with so many non-zeros.
func (m *Matrix) SelectedBytes(nonZeros float64) float64 {
	if m.Dense() {
		return 0
	}
	return (8 + 4) * nonZeros
}

// Gathered copies some rows of every machine to all of them, by rank; first is the place of this one's.
func (m *Matrix) Gathered(job *work.Job, rows []int32) (gathered *Matrix, first int) {
	var own []float64 // of every row the number of its non-zeros, then their features and values
	for _, i := range rows {
		own = append(own, float64(m.RowNonZeros(int(i))))
		m.Row(int(i), func(col int, value float64) { own = append(own, float64(col), value) })
	}
	all, place := job.Gather(own)
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for at := 0; at < len(all); {
		if at < place {
			first++
		}
		end := at + 1 + 2*int(all[at])
		for at++; at < end; at += 2 {
			indices, values = append(indices, int32(all[at])), append(values, all[at+1])
		}
		indptr = append(indptr, int64(len(indices)))
	}
	gathered = newMatrix(m.cols, &arrays[int32, float64]{indptr, indices, values}, indptr)
	gathered.everywhere = true
	return gathered, first
}

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
		key := m.kernel.pattern(i, hashes)
		if len(number) <= fewFeatures {
			m.kernel.visit(i, func(col int, value float64) {
				if value *= m.scale; value != 0 {
					key += mixed(uint64(number[col])<<32 ^ uint64(int64(math.Floor(value*valueSteps+math.Sqrt2))))
				}
			})
		}
		keys[i] = mixed(key)
	})
	return keys
}

func (a *arrays[I, V]) pattern(i int, hashes []uint64) uint64 {
	indices, values := a.row(i)
	return pattern(indices, values, hashes)
}

func (a *dense[V]) pattern(i int, hashes []uint64) uint64 {
	return pattern[int32](nil, a.row(i), hashes)
}

// pattern adds the hashes [2 features] of the features that are not zero, the second one where they are above half of
// the largest; indices nil: all features.
func pattern[I index, V value](indices []I, values []V, hashes []uint64) (key uint64) {
	largest := V(0)
	for _, v := range values {
		if v > largest {
			largest = v
		}
	}
	for k, v := range values {
		at := 2 * k
		if indices != nil {
			at = 2 * int(indices[k])
		}
		if v > largest/2 {
			key += hashes[at+1]
		} else if v != 0 {
			key += hashes[at]
		}
	}
	return key
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
