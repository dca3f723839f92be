package planted

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/fewlabel/fewlabel/engine/rows"
)

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

// Line draws two overlapping classes of one feature, 40 labels.
func Line(n int) (data Data) {
	random := rand.New(rand.NewPCG(1, 7))
	data.Rows = Sparse(n, 1, func(i int, add func(int, float64)) {
		y, label := int32(random.IntN(2)), int32(-1)
		if i < 40 {
			label = y
		}
		data.Truth, data.Labels = append(data.Truth, y), append(data.Labels, label)
		add(0, random.NormFloat64()+3*float64(y)-1.5)
	})
	return data
}

// Hidden draws n rows of 40 words out of d, which follow Zipf's law with exponent 1.05, and hides two classes in
// them: a word is replaced with this probability by one of the own words of the row's class, which are of any
// frequency. Rows have 1 + log counts times log of the inverse frequency, and unit length; the first labeled rows are
// labeled. Few labels hardly show a linear model which way such classes lie. There are no dense rows.
func Hidden(n, d, own, labeled int, probability float64, seed uint64) Data {
	random := rand.New(rand.NewPCG(seed, 8))
	words, topical := zipf(d), random.Perm(d)[:2*own]
	out := Data{Truth: make([]int32, n), Labels: make([]int32, n)}
	counts, with := make([]map[int32]float64, n), make([]float64, d)
	for i := range n {
		out.Truth[i], out.Labels[i] = int32(i%2), -1
		if i < labeled {
			out.Labels[i] = out.Truth[i]
		}
		counts[i] = map[int32]float64{}
		for range 40 {
			word := sort.SearchFloat64s(words, random.Float64())
			if random.Float64() < probability {
				word = topical[int(out.Truth[i])*own+random.IntN(own)]
			}
			counts[i][int32(word)]++
		}
		for word := range counts[i] {
			with[word]++
		}
	}
	value := func(i int, word int32) float64 {
		return (1 + math.Log(counts[i][word])) * math.Log(float64(n)/with[word])
	}
	out.Rows = Sparse(n, d, func(i int, add func(int, float64)) {
		sorted, square := slices.Sorted(maps.Keys(counts[i])), 0.0
		for _, word := range sorted {
			square += value(i, word) * value(i, word)
		}
		for _, word := range sorted {
			add(int(word), value(i, word)/math.Sqrt(square))
		}
	})
	return out
}

// zipf are the sums of the probabilities of the first, the first two and so on of d words; the last one is 1.
func zipf(d int) []float64 {
	sums, total := make([]float64, d), 0.0
	for k := range sums {
		total += math.Pow(float64(k+1), -1.05)
		sums[k] = total
	}
	for k := range sums {
		sums[k] /= total
	}
	return sums
}
