// Package planted makes small data with known answers for the tests of the engine.
package planted

import (
	"math"
	"math/rand/v2"

	"github.com/fewlabel/fewlabel/engine/csr"
)

// Data is a two-class problem: sparse rows, the true class of each, and what a learner may see.
type Data struct {
	Rows   *csr.Matrix
	Dense  [][]float64 // [n][d] the same rows
	Truth  []int32     // [n] class 0 or 1
	Labels []int32     // [n] class, or -1: unlabeled
}

// Topics draws n rows with d features: words of two topics over a common background, rows of unit length. The
// first labeled rows are labeled, alternately of class 0 and 1; share is that of class 1 among the others.
func Topics(n, d, labeled int, share float64, seed uint64) Data {
	random := rand.New(rand.NewPCG(seed, 7))
	var indptr, indices []int32
	var values []float64
	out := Data{Dense: make([][]float64, n), Truth: make([]int32, n), Labels: make([]int32, n)}
	indptr = append(indptr, 0)
	for i := range n {
		class := int32(0)
		if i < labeled {
			class = int32(i % 2)
		} else if random.Float64() < share {
			class = 1
		}
		out.Truth[i], out.Labels[i] = class, -1
		if i < labeled {
			out.Labels[i] = class
		}
		row := drawRow(random, d, int(class))
		for j, v := range row {
			if v != 0 {
				indices, values = append(indices, int32(j)), append(values, v)
			}
		}
		indptr = append(indptr, int32(len(indices)))
		out.Dense[i] = row
	}
	var err error
	if out.Rows, err = csr.New(d, indptr, indices, values); err != nil {
		panic(err)
	}
	return out
}

// drawRow puts about ten words into a row: half of them from the topic's third of the vocabulary, the rest from
// anywhere.
func drawRow(random *rand.Rand, d, class int) []float64 {
	row := make([]float64, d)
	square := 0.0
	for range 10 {
		j := random.IntN(d)
		if random.Float64() < 0.5 {
			j = class*d/3 + random.IntN(d/3)
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
