package fit

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
)

// hiddenTopics draws n rows of 40 words out of d, which follow Zipf's law with exponent 1.05, and hides two classes in
// them: a word is replaced with this probability by one of the own words of the row's class, which are of any
// frequency. Rows have 1 + log counts times log of the inverse frequency, and unit length; the first labeled rows are
// labeled. Few labels hardly show a linear model which way such classes lie. There are no dense rows.
func hiddenTopics(n, d, own, labeled int, probability float64, seed uint64) planted.Data {
	random := rand.New(rand.NewPCG(seed, 8))
	words, topical := zipf(d), random.Perm(d)[:2*own]
	out := planted.Data{Truth: make([]int32, n), Labels: make([]int32, n)}
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
	out.Rows = planted.Sparse(n, d, func(i int, add func(int, float64)) {
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
