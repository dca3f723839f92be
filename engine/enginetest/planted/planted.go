// Package planted makes small data with known answers for the tests of the engine.
package planted

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/weak"
)

// Data is a classification problem: sparse rows, the true class of each, and what a learner may see.
type Data struct {
	Rows   *rows.Matrix
	Dense  [][]float64 // [n][d] the same rows
	Truth  []int32     // [n] class
	Labels []int32     // [n] class, or -1: unlabeled
}

// Topics draws n rows with d features: words of two topics over a common background, rows of unit length. The
// first labeled rows are labeled, alternately of class 0 and 1; share is that of class 1 among the others.
func Topics(n, d, labeled int, share float64, seed uint64) Data {
	return draw(n, d, labeled, 2, 3, seed, func(random *rand.Rand) int32 {
		if random.Float64() < share {
			return 1
		}
		return 0
	})
}

// Classes draws rows of several topics, the same way; shares are those of the classes among the unlabeled rows.
func Classes(n, d, labeled int, shares []float64, seed uint64) Data {
	return draw(n, d, labeled, len(shares), len(shares), seed, func(random *rand.Rand) int32 {
		at := random.Float64()
		for y, share := range shares {
			if at -= share; at < 0 {
				return int32(y)
			}
		}
		return int32(len(shares) - 1)
	})
}

// draw makes the rows; class draws that of an unlabeled row, and a topic has one of so many parts of the vocabulary.
func draw(n, d, labeled, classes, parts int, seed uint64, class func(random *rand.Rand) int32) Data {
	random := rand.New(rand.NewPCG(seed, 7))
	out := Data{Truth: make([]int32, n), Labels: make([]int32, n)}
	out.Rows = Sparse(n, d, func(i int, add func(int, float64)) {
		y, label := int32(i%classes), int32(i%classes)
		if i >= labeled {
			y, label = class(random), -1
		}
		out.Truth[i], out.Labels[i] = y, label
		for j, v := range drawRow(random, d, int(y), parts) {
			if v != 0 {
				add(j, v)
			}
		}
	})
	out.Dense = table(out.Rows)
	return out
}

// drawRow puts about ten words into a row: half of them from the topic's part of the vocabulary.
func drawRow(random *rand.Rand, d, class, parts int) []float64 {
	row := make([]float64, d)
	square := 0.0
	for range 10 {
		j := random.IntN(d)
		if random.Float64() < 0.5 {
			j = class*d/parts + random.IntN(d/parts)
		}
		row[j]++
	}
	for _, v := range row {
		square += v * v
	}
	for j := range row {
		row[j] /= math.Sqrt(square)
	}
	return row
}

// Weak are weak labels of the rows without a label by prior costs [n, classes], +Inf where a row cannot have the class.
func Weak(classes int, costs []float64, labels []int32) weak.Labels {
	start, class, p := []int64{0}, []int32(nil), []float64(nil)
	for i, label := range labels {
		row := costs[i*classes : (i+1)*classes]
		for y, cost := range row {
			if label < 0 && !math.IsInf(cost, 1) && (slices.Min(row) < slices.Max(row)) {
				class, p = append(class, int32(y)), append(p, math.Exp(-cost))
			}
		}
		start = append(start, int64(len(class)))
	}
	return must(weak.New(classes, start, class, p, labels))
}

// Sparse are n rows; row gives the values of one, by features in any order.
func Sparse(n, features int, row func(i int, add func(feature int, value float64))) *rows.Matrix {
	indptr, indices, values := []int64{0}, []int32(nil), []float64(nil)
	for i := range n {
		row(i, func(feature int, value float64) {
			indices, values = append(indices, int32(feature)), append(values, value)
		})
		indptr = append(indptr, int64(len(indices)))
	}
	return must(rows.New(features, indptr, indices, values))
}

// Dense are the same rows with a value for every feature.
func Dense(x *rows.Matrix) *rows.Matrix {
	return must(rows.NewDense(x.Rows(), x.Cols(), x.Cols(), slices.Concat(table(x)...)))
}

// table has the values of rows for every feature.
func table(x *rows.Matrix) [][]float64 {
	values := make([][]float64, x.Rows())
	for i := range values {
		values[i] = make([]float64, x.Cols())
		x.Row(i, func(col int, value float64) { values[i][col] += value })
	}
	return values
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// Resized are sparse rows with every value times a factor of its row and feature, and further features that no row has.
func Resized(x *rows.Matrix, further int, factor func(row, feature int) float64) *rows.Matrix {
	return Sparse(x.Rows(), x.Cols()+further, func(i int, add func(int, float64)) {
		x.Row(i, func(feature int, value float64) { add(feature, value*factor(i, feature)) })
	})
}

// Resized is the data with other rows, dense ones too.
func (d Data) Resized(factor func(row, feature int) float64) Data {
	d.Rows = Resized(d.Rows, 0, factor)
	d.Dense = table(d.Rows)
	return d
}

// Chosen is the data of some rows, repeated as listed.
func (d Data) Chosen(chosen []int) (out Data) {
	out.Rows = Sparse(len(chosen), d.Rows.Cols(), func(k int, add func(int, float64)) { d.Rows.Row(chosen[k], add) })
	for _, i := range chosen {
		out.Labels, out.Truth = append(out.Labels, d.Labels[i]), append(out.Truth, d.Truth[i])
	}
	out.Dense = table(out.Rows)
	return out
}

// Shares are those of the true classes.
func (d Data) Shares() []float64 {
	shares := make([]float64, slices.Max(d.Truth)+1)
	for _, y := range d.Truth {
		shares[y] += 1 / float64(len(d.Truth))
	}
	return shares
}
