package sample_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/fit"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// scattered has rows of ten random features among the first `used` of d, and classes that are noise.
func scattered(n, d, used, classes, labeled int) sample.Problem {
	random := rand.New(rand.NewPCG(3, 3))
	indptr, indices, values := []int32{0}, []int32{}, []float32{}
	p := sample.Problem{Labels: make([]int32, n)}
	for i := range n {
		for range 10 {
			indices, values = append(indices, int32(random.IntN(used))), append(values, 0.3)
		}
		indptr = append(indptr, int32(len(indices)))
		p.Labels[i] = -1
		if i < labeled {
			p.Labels[i] = int32(i % classes)
		}
	}
	var err error
	if p.Rows, err = rows.New(d, indptr, indices, values); err != nil {
		panic(err)
	}
	return p
}

// long has rows of 500 features each, of so many that their packed numbers take four bytes, in float64.
func long(n, labeled int) sample.Problem {
	const d, ofRow = 100_000, 500
	random := rand.New(rand.NewPCG(3, 5))
	p := scattered(n, d, d, 2, labeled)
	indptr, indices, values := []int64{0}, []int32{}, []float64{}
	for range n {
		for k := range ofRow {
			indices, values = append(indices, int32(k*d/ofRow+random.IntN(d/ofRow))), append(values, random.Float64())
		}
		indptr = append(indptr, int64(len(indices)))
	}
	var err error
	if p.Rows, err = rows.New(d, indptr, indices, values); err != nil {
		panic(err)
	}
	return p
}

// dense has the rows of scattered, whose features are all there.
func dense(n, d, classes, labeled int) sample.Problem {
	p, values := scattered(n, d, d, classes, labeled), make([]float32, n*d)
	random := rand.New(rand.NewPCG(3, 4))
	for k := range values {
		values[k] = float32(random.NormFloat64())
	}
	var err error
	if p.Rows, err = rows.NewDense(n, d, d, values); err != nil {
		panic(err)
	}
	return p
}

// known gives the labels of a problem as probabilities.
func known(p sample.Problem, classes int) sample.Problem {
	costs := make([]float64, classes*len(p.Labels))
	for i, label := range p.Labels {
		for y := range classes {
			if label >= 0 && int32(y) != label {
				costs[i*classes+y] = 2
			}
		}
		p.Labels[i] = -1
	}
	p.Classes, p.Weak = classes, planted.Weak(classes, costs, p.Labels)
	return p
}

// groups is a class tree in which every class has a group of its own.
func groups(classes, groups int) []int {
	parents := make([]int, classes+groups)
	for v := range parents {
		parents[v] = classes + v
		if v >= classes {
			parents[v] = -1
		}
	}
	return parents
}

// peak is the most memory that the heap takes above what it has at the start.
func peak(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // that of the library
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	start, most := sample[0].Value.Uint64(), uint64(0)
	var done atomic.Bool
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for own := []metrics.Sample{{Name: sample[0].Name}}; !done.Load(); time.Sleep(100 * time.Microsecond) {
			metrics.Read(own)
			most = max(most, own[0].Value.Uint64())
		}
	}()
	f()
	done.Store(true)
	<-watched
	return float64(most) - float64(start)
}

// What is let through fits, and what is refused is within a factor of the limit. The caller's copy of the model is part
// of the forecast but not of what the engine takes.
func TestForecastOfMemory(t *testing.T) {
	if worktest.Raced {
		t.Skip("the race detector takes memory of its own")
	}
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	for name, c := range map[string]struct {
		problem sample.Problem
		classes int
		method  string
		tree    []int
	}{
		"rows":                {scattered(100_000, 50, 50, 2, 50), 2, "annealing", nil},
		"features":            {scattered(2000, 3_000_000, 3_000_000, 2, 20), 2, "annealing", nil},
		"switching":           {scattered(100_000, 50, 50, 2, 50), 2, "switching", nil},
		"pair switching":      {scattered(100_000, 50, 50, 2, 50), 2, "pair_switching", nil},
		"gradient":            {scattered(40_000, 100_000, 100_000, 2, 20_000), 2, "gradient", nil},
		"rows, classes":       {scattered(20_000, 50, 50, 40, 80), 40, "annealing", nil},
		"rows, classes, hard": {scattered(20_000, 50, 50, 40, 80), 40, "switching", nil},
		"heavy rows":          {scattered(10_000, 50, 50, 30, 130), 30, "switching", nil},
		"groups":              {scattered(20_000, 50, 50, 20, 80), 20, "switching", groups(20, 20)},
		"used features":       {scattered(2000, 20_000, 20_000, 60, 60), 60, "annealing", nil},
		"unused features":     {scattered(500, 400_000, 1000, 30, 60), 30, "annealing", nil},
		"labeled rows":        {scattered(4000, 50, 50, 80, 400), 80, "switching", nil},
		"dense":               {dense(20_000, 200, 10, 50), 10, "annealing", nil},
		"no label":            {known(scattered(4000, 50, 50, 80, 100), 80), 80, "switching", nil},
	} {
		o := plainOptions()
		o.Method, o.MaxIter, o.Tol, o.Hierarchy = method.Method(c.method), 3, 0.1, c.tree
		if o.Method == "gradient" {
			o.Tol, o.Alpha, o.MaxIter = 1e-7, 1e-5, 20 // steps enough to keep all pairs
		}
		var forecast float64
		memory.Need = func(bytes float64, _, _ string) error { forecast = max(forecast, bytes); return nil }
		work := func() {
			if _, err := fit.Fit(c.problem, o, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := peak(work)
		copied := 8 * float64(c.problem.Rows.Cols()*model.OutputsOf(c.classes))
		if forecast-copied < 0.9*got { // garbage that waits for its collector may count where others work, too
			got = min(got, peak(work))
		}
		if ratio := (forecast - copied) / got; ratio < 0.9 || ratio > 4 {
			t.Errorf("%s: ratio %.2f, %.1f MB in the forecast, %.1f MB were taken", name, ratio, (forecast-copied)/1e6, got/1e6)
		}
	}
}

// Averaged classifiers have no weights of the features that no row has: until the caller copies the model, its part of
// the forecast is for what waits for the collector.
func TestForecastOfMemoryOfACommittee(t *testing.T) {
	if worktest.Raced {
		t.Skip("the race detector takes memory of its own")
	}
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	forecast, o := 0.0, plainOptions()
	memory.Need = func(bytes float64, _, _ string) error { forecast = max(forecast, bytes); return nil }
	o.Method, o.MaxIter, o.Tol, o.ClassPrior.Rule = "auto", 3, 0.1, "auto"
	for name, of := range map[string]func() sample.Problem{ // one at a time, as garbage grows with what is alive
		"unused features":        func() sample.Problem { return scattered(500, 400_000, 1000, 30, 60) },
		"many rows":              func() sample.Problem { return scattered(60_000, 50, 50, 3, 60) },
		"labels":                 func() sample.Problem { return scattered(20_000, 500, 500, 2, 10_000) },
		"dense rows with labels": func() sample.Problem { return dense(10_000, 100, 2, 5000) },
		"long rows with labels":  func() sample.Problem { return long(4000, 3000) },
	} {
		p := of()
		forecast = 0
		work := func() {
			if result, err := fit.Fit(p, o, nil, nil); err != nil || result.Trained[2].Name != "mixture" {
				t.Fatal(err, result)
			}
		}
		if got := min(peak(work), peak(work)); forecast < 0.9*got {
			t.Errorf("%s: %.1f MB in the forecast, %.1f MB were taken", name, forecast/1e6, got/1e6)
		}
	}
}

func TestAFitThatDoesNotFitIsRefused(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	memory.Need = func(bytes float64, purpose, advice string) error {
		if bytes > 1e9 || strings.HasPrefix(purpose, "a copy of the labels") && bytes > 1e6 {
			return fault.Memory("%s: %.0f GB, %s", purpose, bytes/1e9, advice)
		}
		return nil
	}
	for _, c := range []struct {
		problem sample.Problem
		change  func(o *method.Options)
		kind    fault.Kind
		want    string
	}{
		{scattered(20, 1<<29, 50, 2, 4), nil, fault.NoMemory,
			"a fit of 20 rows with n_features 536870912 and 2 classes: 17 GB, use fewer features"},
		{scattered(20, 1<<22, 50, 20, 20), nil, fault.NoMemory, "n_features 4194304 and 20 classes: 1 GB"},
		{scattered(20_000, 50, 50, 2000, 4000), nil, fault.NoMemory, "20000 rows with n_features 50 and 2000 classes: 5 GB"},
		{scattered(40_000, 50, 50, 2, 4), nil, fault.NoMemory, "a copy of the labels of 40000 rows: 0 GB, give fewer rows"},
		{scattered(200, 50, 50, 2, 4), func(o *method.Options) { o.Hierarchy = groups(2, 2_000_000) }, fault.NoMemory, "GB"},
		{scattered(3, 1<<30, 50, 3, 3), nil, fault.BadArgument,
			"coef would have the shape [1073741824 3]: at most 2147483648 values are possible"},
	} {
		o := plainOptions()
		if c.change != nil {
			c.change(&o)
		}
		_, err := fit.Fit(c.problem, o, nil, nil)
		var found *fault.Error
		if !errors.As(err, &found) || found.Kind != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, should be %q", err, c.want)
		}
	}
}

func plainOptions() method.Options {
	o := method.Defaults()
	o.UnlabeledWeight, o.ClassPrior.Rule = 1, "labels"
	return o
}

// A fit that could begin at few rows begins without them where there is no memory for a copy.
func TestWithoutMemoryForFewRowsAFitDoesWithoutThem(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	p, o, steps := scattered(9000, 50, 50, 2, 50), plainOptions(), [2]int{}
	for k, lacks := range []string{"nothing", "a copy of some rows"} {
		memory.Need = func(_ float64, purpose, _ string) error {
			if purpose == lacks {
				return fault.Memory("no memory")
			}
			return nil
		}
		result, err := fit.Fit(p, o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		steps[k] = len(result.History[0].Values)
	}
	if steps[0] > 8 || steps[1] < 10 {
		t.Errorf("%d steps with memory, %d without", steps[0], steps[1])
	}
}
