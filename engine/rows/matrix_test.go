package rows

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// messy is a random matrix with unsorted and repeated indices and empty rows, beside its dense form.
func messy(n, d, perRow int, seed uint64) (indptr, indices []int64, values []float64, dense [][]float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	indptr = append(indptr, 0)
	for range n {
		row := make([]float64, d)
		for range random.IntN(2 * perRow) {
			j, v := random.IntN(d), math.Round(8*random.NormFloat64())/8
			indices, values = append(indices, int64(j)), append(values, v)
			row[j] += v
		}
		indptr = append(indptr, int64(len(indices)))
		dense = append(dense, row)
	}
	return indptr, indices, values, dense
}

func convert[To, From int32 | int64 | float32 | float64](from []From) []To {
	to := make([]To, len(from))
	for k, v := range from {
		to[k] = To(v)
	}
	return to
}

// everyType views the same rows with every type of index and value, and both types of bounds.
func everyType(d int, indptr, indices []int64, values []float64) map[string]func() (*Matrix, error) {
	ends, short, small := convert[int32](indptr), convert[int32](indices), convert[float32](values)
	return map[string]func() (*Matrix, error){
		"int64 float64": func() (*Matrix, error) { return View(d, ends, indices, values) },
		"int64 float32": func() (*Matrix, error) { return View(d, indptr, indices, small) },
		"int32 float64": func() (*Matrix, error) { return View(d, indptr, short, values) },
		"int32 float32": func() (*Matrix, error) { return View(d, ends, short, small) },
	}
}

// checked are the rows of everyType; the values are exact in float32.
func checked(t *testing.T, d int, indptr, indices []int64, values []float64) map[string]*Matrix {
	t.Helper()
	out := map[string]*Matrix{}
	for name, view := range everyType(d, indptr, indices, values) {
		m, err := view()
		if err == nil {
			m, err = m.Checked()
		}
		if err != nil {
			t.Fatal(err)
		}
		out[name] = m
	}
	return out
}

func TestProductsAgreeWithDenseRows(t *testing.T) {
	const n, d, shift = 300, 40, 0.7
	indptr, indices, values, dense := messy(n, d, 12, 3)
	random := rand.New(rand.NewPCG(5, 5))
	p, h, want, wantSum := make([]float64, d), make([]float64, n), make([]float64, d), 0.0
	for j := range p {
		p[j] = random.NormFloat64()
	}
	for i, row := range dense {
		h[i] = random.Float64()
		c := h[i] * (vector.Dot(row, p) + shift)
		wantSum += c
		vector.Add(want, c, row)
	}
	for name, m := range checked(t, d, indptr, indices, values) {
		sameProducts(t, m, indptr, indices, values)
		gram := make([]float64, d)
		total := m.AddGram(work.NewJob(2, nil), m.All(), gram, h, p, shift)
		near(t, name+" X'DXp", gram, want)
		near(t, name+" sum", []float64{total}, []float64{wantSum})
		for i, row := range dense {
			near(t, name+" square", []float64{m.SquaredNorm(i)}, []float64{vector.Dot(row, row)})
		}
	}
}

func TestSubsetLeavesOtherRowsAlone(t *testing.T) {
	indptr, indices, values, dense := messy(50, 10, 5, 9)
	m, err := New(10, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	p, got, want := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, make([]float64, 50), make([]float64, 50)
	on := m.Subset([]int32{3, 7, 49})
	m.TimesOn(work.NewJob(1, nil), on, got, p)
	for _, i := range on.Rows() {
		want[i] = vector.Dot(dense[i], p)
	}
	near(t, "X p", got, want)
}

func TestPackedRowsAreNumberedByFrequency(t *testing.T) {
	const n, d = 200, 50
	indptr, indices, values, _ := messy(n, d, 6, 21)
	for k := range indices { // features 10 to 19 do not occur
		if indices[k] >= 10 && indices[k] < 20 {
			indices[k] = 3
		}
	}
	for name, m := range checked(t, d, indptr, indices, values) {
		packed, old := m.Packed(work.NewJob(1, nil))
		if len(old) != 40 || old[0] != 3 || packed.Cols() != 40 || packed.NonZeros() != m.NonZeros() {
			t.Fatalf("%s: %d features, the first is %d", name, len(old), old[0])
		}
		sameProducts(t, m, indptr, indices, values)
	}
	empty, _ := New(5, []int32{0, 0, 0}, []int32{}, []float64{})
	if packed, _ := empty.Packed(work.NewJob(1, nil)); packed.Cols() != 1 || packed.NonZeros() != 0 {
		t.Error("a matrix without non-zeros")
	}
}

func TestNewRefusesBrokenMatrices(t *testing.T) {
	for _, c := range []struct {
		name    string
		cols    int
		indptr  []int64
		indices []int64
		values  []float64
		want    string
	}{
		{"no features", 0, []int64{0, 0}, nil, nil, "n_features is 0"},
		{"features", 1 << 44, []int64{0, 0}, nil, nil, "n_features is 17592186044416: at most 2147483647"},
		{"no rows", 3, []int64{0}, nil, nil, "no rows"},
		{"start", 3, []int64{1, 1}, []int64{0}, []float64{1}, "indptr[0] is 1"},
		{"falls", 3, []int64{0, 2, 1}, []int64{0, 1}, []float64{1, 1}, "indptr falls from 2 to 1 at row 1"},
		{"promises", 3, []int64{0, 1 << 31}, []int64{0}, []float64{1}, "requires 2147483648 values, but there are only 1"},
		{"index", 3, []int64{0, 1, 2}, []int64{0, 3}, []float64{1, 1}, "row 1 has index 3: the matrix has features 0 to 2"},
		{"negative", 3, []int64{0, 1}, []int64{-1}, []float64{1}, "row 0 has index -1"},
		{"nan", 3, []int64{0, 0, 1}, []int64{2}, []float64{math.NaN()}, "row 1 has the value NaN at feature 2"},
		{"infinite", 3, []int64{0, 1}, []int64{2}, []float64{math.Inf(-1)}, "row 0 has the value -Inf at feature 2"},
	} {
		if _, err := New(c.cols, c.indptr, c.indices, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", c.name, err, c.want)
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for k := range want {
		if math.Abs(got[k]-want[k]) > 1e-11*(1+math.Abs(want[k])) {
			t.Errorf("%s: entry %d is %v, should be %v", what, k, got[k], want[k])
			return
		}
	}
}

// Values of an index that stands twice in a row are added up.
func TestLengthsOfRowsWithRepeatedIndices(t *testing.T) {
	values := []float64{1, 2, 4, 8, 16}
	for name, c := range map[string]struct {
		indices  []int32
		nonZeros int
		squares  []float64
	}{
		"sorted":          {[]int32{0, 1, 2, 0, 2}, 5, []float64{21, 320}},
		"not sorted":      {[]int32{2, 0, 1, 2, 0}, 5, []float64{21, 320}},
		"twice in a row":  {[]int32{2, 1, 2, 2, 0}, 4, []float64{29, 320}},
		"one after other": {[]int32{0, 1, 2, 1, 1}, 4, []float64{21, 576}},
	} {
		m, err := New(3, []int64{0, 3, 5}, c.indices, values)
		if err != nil {
			t.Fatal(err)
		}
		job := work.NewJob(2, nil)
		packed, _ := m.Packed(job)
		for of, rows := range map[string]*Matrix{"": m, "packed": packed, "half": m.Scaled(2).Scaled(0.5),
			"selected": packed.Selected(job.Pool, []int32{0, 1}), "everywhere": onAll(m)} {
			if rows.NonZeros() != c.nonZeros {
				t.Errorf("%s %s: %d values", name, of, rows.NonZeros())
			}
			near(t, name+" "+of, []float64{rows.SquaredNorm(0), rows.SquaredNorm(1)}, c.squares)
		}
	}
}

// A matrix takes no memory of the number of its features, and asks before it takes any of the number of its rows.
func TestWideRowsTakeNoMemory(t *testing.T) {
	indptr, indices, values := []int32{0, 3, 6}, []int32{5, math.MaxInt32 - 1, 5, 9, 4, 9}, []float64{1, 2, 4, 8, 16, 32}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := New(math.MaxInt32, indptr, indices, values)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("six values take %d bytes", taken)
	}
	var found [][2]float64
	for i := range 2 {
		m.Row(i, func(col int, value float64) { found = append(found, [2]float64{float64(col), value}) })
	}
	if want := [][2]float64{{5, 5}, {math.MaxInt32 - 1, 2}, {9, 40}, {4, 16}}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestRepeatedIndicesAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for range 2000 {
		a := &arrays[int32, float64]{indptr: []int64{0}}
		longest, twice := 1, false
		for range 1 + random.IntN(4) {
			row := make([]int32, 1+random.IntN(40))
			for k, j := range random.Perm(40 + random.IntN(3000))[:len(row)] {
				row[k] = int32(j)
			}
			if len(row) > 1 && random.IntN(8) == 0 {
				row[random.IntN(len(row)-1)], twice = row[len(row)-1], true
			}
			a.indices, longest = append(a.indices, row...), max(longest, len(row))
			a.indptr = append(a.indptr, int64(len(a.indices)))
		}
		if a.values = make([]float64, len(a.indices)); a.repeats(longest) != twice {
			t.Fatalf("%v of rows %v", !twice, a)
		}
	}
}

func TestRowsThatDoNotFit(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	const ofRows = 12 * 3
	sorted, unsorted, values := []int32{0, 1, 2}, []int32{2, 1, 0}, []float64{1, 2, 3}
	for _, c := range []struct {
		indices   []int32
		available float64
		fits      bool
	}{{sorted, ofRows - 1, false}, {sorted, ofRows, true}, {unsorted, ofRows, false}, {unsorted, 1000, true}} {
		memory.Need = func(bytes float64, _, _ string) error {
			if bytes > c.available {
				return fault.Memory("no room")
			}
			return nil
		}
		if _, err := New(3, []int32{0, 3, 3, 3}, c.indices, values); (err == nil) != c.fits {
			t.Errorf("%v with %v bytes: %v", c.indices, c.available, err)
		}
		_, err := NewDense(3, 1, 1, values)
		view := func() (*Matrix, error) { return View(3, []int32{0, 3, 3, 3}, c.indices, values) }
		by := Weights{make([]float64, 3), make([]float64, 1), true}
		other := decisions(view, work.NewPool(1), by, make([]float64, 3))
		if fits := c.available >= ofRows; (err == nil) != fits || (other == nil) != fits {
			t.Errorf("with %v bytes: %v of dense rows, %v of decisions", c.available, err, other)
		}
	}
}

// TimesOn sets dst[i] = x_i . p for the rows of a subset and leaves the other entries of dst as they are.
func (m *Matrix) TimesOn(job *work.Job, on *Subset, dst, p []float64) {
	m.TimesPanels(job, on, dst, p, panel.Shape{Features: len(p), Classes: 1})
}

// TransposedTimes sets dst = Xᵀ q.
func (m *Matrix) TransposedTimes(job *work.Job, dst, q []float64) {
	clear(dst)
	m.AddTransposedOn(job, m.All(), dst, q)
}

func TestAnEmptyListOfRowEndsIsRefused(t *testing.T) {
	if _, err := New(3, []int64{}, []int32{}, []float64{}); err == nil {
		t.Error("no error")
	}
}
