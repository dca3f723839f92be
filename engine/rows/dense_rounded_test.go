package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// roundable are rows in float32, the same in float64, and weights, whose size is far from 1.
func roundable(t testing.TB, n, d, classes int) (narrow, wide *Matrix, shape panel.Shape, p []float64) {
	random := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	values, same := make([]float32, n*d), make([]float64, n*d)
	for k := range values {
		values[k] = float32(random.NormFloat64())
		same[k] = float64(values[k])
	}
	narrow, err := NewDense(n, d, d, values)
	if err != nil {
		t.Fatal(err)
	}
	if wide, err = NewDense(n, d, d, same); err != nil {
		t.Fatal(err)
	}
	shape = panel.Shape{Features: d + 1, Classes: classes}
	p = make([]float64, shape.Len())
	for j := range shape.Features {
		for c := range classes {
			p[shape.At(j, c)] = 1e-200 * random.NormFloat64()
		}
	}
	return narrow.Scaled(3), wide.Scaled(3), shape, p
}

// alike reports whether numbers are those wanted, up to a rounding of the largest.
func alike(found, want []float64) bool {
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for k, v := range want {
		if !(math.Abs(found[k]-v) <= 1e-6*largest) {
			return false
		}
	}
	return largest > 0
}

func TestRoundedProductsAreThoseInFloat64UpToTheirDigits(t *testing.T) {
	for _, of := range [][3]int{{1, 1, 3}, {3, 5, 8}, {70, 17, 20}, {701, 40, 33}, {5000, 24, 75}} {
		n, d, classes := of[0], of[1], of[2]
		narrow, wide, shape, p := roundable(t, n, d, classes)
		if narrow.Rounded(shape) == nil {
			t.Skip("this processor has no rounded products")
		}
		if wide.Rounded(shape) != nil {
			t.Error("rows of float64 have no rounded products")
		}
		stride, job := shape.Stride(), work.NewJob(2, nil)
		var some []int32
		for i := range n {
			if i%7 != 3 {
				some = append(some, int32(i))
			}
		}
		on, same := narrow.Subset(some), wide.Subset(some)
		exact, found := make([]float64, n*stride), make([]float64, n*stride)
		wide.TimesPanels(job, same, exact, p, shape)
		narrow.Rounded(shape).Times(job, on, found, p)
		if !alike(found, exact) {
			t.Errorf("%v: products with rows are not near", of)
		}
		sums, exactSums := slices.Clone(p), slices.Clone(p)
		wide.AddTransposedPanels(job, same, exactSums, exact, shape)
		narrow.Rounded(shape).AddTransposed(job, on, sums, exact, 1e-200)
		if !alike(sums, exactSums) {
			t.Errorf("%v: sums over rows are not near", of)
		}
		gram, twice := slices.Clone(p), slices.Clone(p)
		count := make([]float64, 1)
		narrow.Rounded(shape).AddGram(job, on, gram, found, p, count, 2, func(rows []int32, sums []float64) {
			sums[0] += float64(len(rows))
			for _, i := range rows {
				vector.Scale(found[int(i)*stride:(int(i)+1)*stride], 2)
			}
		})
		for k := range exact {
			exact[k] *= 2
		}
		wide.AddTransposedPanels(job, same, twice, exact, shape)
		if !alike(gram, twice) || count[0] != float64(len(some)) {
			t.Errorf("%v: both together are not near", of)
		}
	}
}

// Numbers far below the unit count as 0, and NaN as NaN.
func TestRoundedSumsLeaveOutWhatHasNoDigits(t *testing.T) {
	narrow, _, shape, _ := roundable(t, 9, 5, 8)
	if narrow.Rounded(shape) == nil {
		t.Skip("this processor has no rounded products")
	}
	job, q := work.NewJob(1, nil), make([]float64, 9*shape.Stride())
	for value, same := range map[float64]bool{1e-30: true, 1e-9: false, math.NaN(): false} {
		q[3] = value
		sums := make([]float64, shape.Len())
		narrow.Rounded(shape).AddTransposed(job, narrow.All(), sums, q, 1)
		if zeros := slices.Equal(sums, make([]float64, shape.Len())); zeros != same || math.IsNaN(value) != math.IsNaN(sums[3]) {
			t.Errorf("%v: sums %v", value, sums)
		}
	}
}

func TestRowsNearTheEndsOfFloat32AreNotRounded(t *testing.T) {
	narrow, _, shape, _ := roundable(t, 3, 5, 8)
	for scale, rounds := range map[float64]bool{1e-38: false, 1e-20: useLoops, 1e20: useLoops, 1e38: false} {
		if (narrow.Scaled(scale).Rounded(shape) != nil) != rounds {
			t.Errorf("rows in units of %v: rounded %v", 1/scale, !rounds)
		}
	}
}

func TestRoundedProductsHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	for _, classes := range []int{20, 53} { // 53 columns go through the rows in three parts
		narrow, _, shape, p := roundable(t, 4000, 64, classes)
		if narrow.Rounded(shape) == nil {
			t.Skip("this processor has no rounded products")
		}
		var results [2][]float64
		for k := range results {
			scores, sums := make([]float64, narrow.Rows()*shape.Stride()), make([]float64, shape.Len())
			job, keep := work.NewJob(1+k, nil), func([]int32, []float64) {}
			narrow.Rounded(shape).AddGram(job, narrow.All(), sums, scores, p, nil, 1, keep)
			results[k] = append(sums, scores...)
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("%d classes: one and two threads differ", classes)
		}
	}
}

func BenchmarkDenseProducts(b *testing.B) {
	narrow, _, shape, p := roundable(b, 14134, 384, 20)
	job, scores, sums := work.NewJob(1, nil), make([]float64, narrow.Rows()*shape.Stride()), make([]float64, shape.Len())
	b.Run("times", func(b *testing.B) {
		for b.Loop() {
			narrow.TimesPanels(job, narrow.All(), scores, p, shape)
		}
	})
	b.Run("times rounded", func(b *testing.B) {
		for b.Loop() {
			narrow.Rounded(shape).Times(job, narrow.All(), scores, p)
		}
	})
	b.Run("sums", func(b *testing.B) {
		for b.Loop() {
			narrow.AddTransposedPanels(job, narrow.All(), sums, scores, shape)
		}
	})
	b.Run("sums rounded", func(b *testing.B) {
		for b.Loop() {
			narrow.Rounded(shape).AddTransposed(job, narrow.All(), sums, scores, 1)
		}
	})
	b.Run("gram rounded", func(b *testing.B) {
		for b.Loop() {
			narrow.Rounded(shape).AddGram(job, narrow.All(), sums, scores, p, nil, 1, func([]int32, []float64) {})
		}
	})
}
