package fit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// kindOfFit is a row of the table of invariances.
type kindOfFit struct {
	name string
	n    int                                   // rows
	many int                                   // rows for threads
	draw func(n int) sample.Problem            // of n rows
	with func(p sample.Problem) method.Options // of such a problem
	way  func(t *testing.T)                    // makes few rows take the path of many; nil: no need
	took func(r *Result) bool                  // whether they did

	weight                        func(i int) float64 // nil: there are no weights
	start, dense, weak, unlabeled bool                // what the problem has
	described                     int                 // one label in so many describes its class; 0: none

	no string // properties that are not asked for
}

// kindsOfFits are every method with every loss, for two classes and for four, and whatever else a fit can be asked for.
func kindsOfFits() (all []*kindOfFit) {
	wide := kept(func(n int) planted.Data { return planted.Classes(n, 300, 40, []float64{0.4, 0.3, 0.2, 0.1}, 5) })
	two := kept(func(n int) planted.Data { return planted.Topics(n, 60, 20, 0.4, 3) })
	four := kept(func(n int) planted.Data { return planted.Classes(n, 80, 40, []float64{0.4, 0.3, 0.2, 0.1}, 5) })
	add := func(name string, data func(n int) planted.Data, change func(o *method.Options)) *kindOfFit {
		k := &kindOfFit{name: name, n: 200, many: 8500}
		k.draw = func(n int) sample.Problem {
			return k.problem(data(n))
		}
		k.with = func(p sample.Problem) method.Options {
			o := plainOptions()
			o.ClassPrior.Shares = data(len(p.Labels)).Shares()
			change(&o)
			return o
		}
		all = append(all, k)
		return k
	}
	for _, name := range names(method.Defaults(), "method") {
		by := method.Method(name)
		for l, loss := range method.Find(by).Losses {
			for classes, data := range []func(n int) planted.Data{two, four} {
				k := add(fmt.Sprintf("%s, %s, %s", [2]string{"two", "four"}[classes], by, loss), data, func(o *method.Options) {
					if o.Method, o.Loss = by, loss; by == "gradient" {
						o.Alpha = 3e-2 // with a smaller one rounding leads to other stationary points
					}
				})
				if l > 0 || method.Find(by).Begins != "" {
					k.many = 1500 // products are as with the first loss
				}
				if loss == method.Hinge || loss == method.CrammerSinger {
					k.n = 120
				}
				if loss == method.CrammerSinger { // its hinge has many ways, and rounding decides
					k.no += "copies order "
				}
				if l > 0 && method.Find(by).Begins != "" {
					k.no += "machines units copies rounding " // as of the methods that it runs
				}
				if method.Find(by).OneMachine {
					k.many, k.no = 1500, k.no+"machines " // an exchange takes a step
				}
			}
		}
	}
	unequal := func(i int) float64 { return 0.5 + float64(i*7%10)/9 }
	whole := func(i int) float64 { return float64(1 + i*i%3) }
	plain := len(all)
	for _, by := range []method.Method{"annealing", "switching"} {
		of := func(name string, change func(o *method.Options)) (ofTwo, ofFour *kindOfFit) {
			both := func(o *method.Options) { o.Method = by; change(o) }
			return add(fmt.Sprintf("two, %s, %s", by, name), two, both), add(fmt.Sprintf("four, %s, %s", by, name), four, both)
		}
		for _, balance := range names(method.Defaults(), "balance")[1:] {
			of("balance "+balance, func(o *method.Options) { o.Balance = balance })
		}
		of("no intercept", func(o *method.Options) { o.FitIntercept = false })
		of("shares found", func(o *method.Options) { o.ClassPrior = sample.ClassPrior{Rule: "auto"} })
		k, l := of("a start", func(*method.Options) {})
		k.start, l.start = true, true
		k, l = of("dense rows", func(*method.Options) {})
		k.dense, l.dense = true, true
		k, l = of("weights", func(*method.Options) {})
		k.weight, l.weight, k.no, l.no = unequal, whole, "copies", "copies"
		add(fmt.Sprintf("wide rows, %s", by), wide, func(o *method.Options) { o.Method = by }).many = 2000
		add(fmt.Sprintf("tree, %s", by), four, func(o *method.Options) {
			o.Method, o.Hierarchy = by, []int{4, 4, 5, 5, -1, -1}
		}).n = 240
	}
	eight := kept(func(n int) planted.Data { return planted.Classes(n, 60, 16, slices.Repeat([]float64{0.125}, 8), 3) })
	add("few rows of a class", eight, func(o *method.Options) { o.Method = "annealing" }) // it ends earlier
	add("supervised", four, func(o *method.Options) { o.UnlabeledWeight = 0 })
	add("small alpha", two, func(o *method.Options) { o.Method, o.Alpha, o.Balance = "annealing", 1e-5, "share" })
	add("tree, maxent", four, func(o *method.Options) {
		o.Method, o.Loss, o.Hierarchy = "annealing", "maxent", []int{4, 4, 5, 5, -1, -1}
	})
	add("committee of two", two, func(o *method.Options) { o.ClassPrior = sample.ClassPrior{Rule: "auto"} })
	add("committee of four", four, func(o *method.Options) { o.ClassPrior = sample.ClassPrior{Rule: "auto"} }).n = 240
	for _, described := range []int{1, 2} {
		k := add(fmt.Sprintf("one in %d a description", described), four, func(o *method.Options) {
			o.ClassPrior = sample.ClassPrior{Rule: "auto"}
		})
		k.described, k.n = described, 280
	}
	for name, weight := range map[string]func(i int) float64{"whole": whole, "unequal": unequal} {
		k := add("committee, "+name+" weights", two, func(o *method.Options) {
			o.ClassPrior = sample.ClassPrior{Rule: "auto"}
		})
		k.weight, k.no = weight, "copies"
	}
	add("max_switches", four, func(o *method.Options) { o.Method, o.MaxSwitches = "switching", 3 }).no = "machines"
	k := add("calibrated", four, func(o *method.Options) {
		o.Calibrate, o.ClassPrior = true, sample.ClassPrior{Rule: "auto"}
	})
	k.n, k.no = 220, "machines copies" // where a share is nearly a whole number of rows rounding decides
	for _, by := range names(method.Defaults(), "method") {
		spec := method.Find(method.Method(by))
		change := func(o *method.Options) {
			if o.Method, o.Loss, o.Alpha = spec.Name, spec.Losses[0], 3e-2; spec.UsesProbabilities {
				o.Alpha = 1e-3
			}
		}
		sets := add("sets, "+by, four, change)
		none := add("probabilities without a label, "+by, four, func(o *method.Options) {
			change(o)
			o.ClassPrior = sample.ClassPrior{Rule: "auto"}
		})
		sets.n, none.n = 120, 120
		sets.weak, none.weak, none.unlabeled = true, true, true
		none.way = func(t *testing.T) { withCoarseStart(t, 50) } // a part would lack most of what is known
		if spec.OneMachine {
			sets.no, none.no, sets.many, none.many = "machines", "machines", 1500, 1500
		}
	}
	for _, gathered := range []int{0, 1 << 22} {
		name := fmt.Sprintf(", %d gathered", gathered)
		twice := func(r *Result) bool { return r.Trained[len(r.Trained)-1].Models > 1 }
		begins := func(k *kindOfFit, n int) {
			k.n, k.took = n, twice
			k.way = func(t *testing.T) {
				withCoarseStart(t, 300)
				withThird(t, 400)
				withGathered(t, gathered)
			}
		}
		begins(add("a part first, annealing"+name, two, func(o *method.Options) { o.Method = "annealing" }), 1000)
		k := add("a part first, switching"+name, two, func(o *method.Options) { o.Method = "switching" })
		k.dense = true
		begins(k, 600)
		begins(add("a third first, committee"+name, four, func(o *method.Options) {
			o.ClassPrior = sample.ClassPrior{Rule: "auto"}
		}), 580)
	}
	for _, k := range all[plain:] {
		k.many = min(k.many, 1500) // products are as before
	}
	return all
}

// problem is one of planted rows.
func (k *kindOfFit) problem(data planted.Data) sample.Problem {
	p := sample.Problem{Rows: data.Rows, Labels: data.Labels}
	if k.unlabeled {
		p.Labels = slices.Repeat([]int32{-1}, len(p.Labels))
	}
	if k.described > 0 {
		p = describing(p, slices.DeleteFunc(labeledPlaces(p), func(i int) bool { return i/4%k.described > 0 })...)
	}
	if k.dense {
		p.Rows = planted.Dense(data.Rows)
	}
	for i := range p.Labels {
		if k.weight != nil {
			p.Weights = append(p.Weights, k.weight(i))
		}
	}
	if k.start {
		classes := int(slices.Max(data.Truth)) + 1
		m := &model.Linear{Classes: classes, Outputs: model.OutputsOf(classes), Features: p.Rows.Cols()}
		m.Coef, m.Intercept = make([]float64, m.Features*m.Outputs), make([]float64, m.Outputs)
		for j := range m.Coef {
			m.Coef[j] = 0.3 * math.Sin(float64(j))
		}
		p.Start = m
	}
	if k.weak { // sets of two classes, or probabilities that one of three machines knows of
		costs := make([]float64, 4*len(p.Labels))
		for i, truth := range data.Truth {
			for y := range 4 {
				switch other := (y - int(truth) + 4) % 4; {
				case p.Labels[i] >= 0 || other == 0:
				case !k.unlabeled && other != 1+i%3:
					costs[4*i+y] = math.Inf(1)
				case k.unlabeled && (7*i+i/5)%3 == 0:
					costs[4*i+y] = 3
				}
			}
		}
		p.Classes, p.Weak = 4, planted.Weak(4, costs, p.Labels)
	}
	return p
}

// kept draws data of each number of rows once.
func kept(draw func(n int) planted.Data) func(n int) planted.Data {
	drawn := map[int]planted.Data{}
	return func(n int) planted.Data {
		data, found := drawn[n]
		if !found {
			data = draw(n)
			drawn[n] = data
		}
		return data
	}
}

// names are the choices of an option.
func names(o method.Options, option string) []string {
	for _, entry := range o.Table() {
		if entry.Name == option {
			return entry.Choices
		}
	}
	return nil
}

// Every kind of fit has every property.
func TestInvariances(t *testing.T) {
	worktest.Processors(t, 3)
	for _, k := range kindsOfFits() {
		t.Run(k.name, func(t *testing.T) {
			if k.way != nil {
				k.way(t)
			}
			p := k.draw(k.n)
			o := k.with(p)
			o.Tol = 1e-8
			var one *Result
			if !worktest.Raced { // races are in threads
				one = mustFitProblem(t, p, o)
			}
			if one != nil && k.took != nil && !k.took(one) {
				t.Errorf("another way than was meant: %v", one.Trained)
			}
			for _, property := range []struct {
				name  string
				holds func(t *testing.T, k *kindOfFit, p sample.Problem, o method.Options, one *Result)
			}{
				{"threads", sameOnThreads}, {"machines", sameOnMachines}, {"units", sameInOtherUnits},
				{"copies", sameAsCopies}, {"rounding", sameButForRounding}, {"starts", sameFromAnyStart}, {"ends", endsWhenTold},
			} {
				if !strings.Contains(k.no, property.name) && (one != nil || property.name == "threads") {
					t.Run(property.name, func(t *testing.T) { property.holds(t, k, p, o, one) })
				}
			}
		})
	}
}

// Any number of threads gives the same bits: here of so many rows that all loops run in parallel, for a few steps.
func sameOnThreads(t *testing.T, k *kindOfFit, _ sample.Problem, _ method.Options, _ *Result) {
	p := k.draw(k.many)
	o := k.with(p)
	if o.MaxIter, o.Tol = 3, 0.1; o.Loss == method.Hinge || o.Loss == method.CrammerSinger {
		o.MaxIter, o.Tol = 1, 0.5 // smoothed in steps
	}
	one := mustFitProblem(t, p, o)
	o.Threads = 3
	three := mustFitProblem(t, p, o)
	if !reflect.DeepEqual(known(one), known(three)) {
		t.Error("other bits on three threads")
	}
}

// known is a result in which agreements that are not known are equal.
func known(r *Result) Result {
	out := *r
	if math.IsNaN(out.Agreement) {
		out.Agreement = -1
	}
	return out
}

// Machines that share the rows, one of them without any, find the fit of one.
func sameOnMachines(t *testing.T, k *kindOfFit, p sample.Problem, _ method.Options, _ *Result) {
	o := k.with(p)
	one := mustFitProblem(t, p, o)
	parts := parted(planted.Data{Labels: p.Labels}, 3)
	got, errs := fitTogether(t, worktest.NewRanks(3), p, o, parts)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	sameFit(t, "three machines", o, one, got, parts)
}

// Rows times a power of two have the same digits in every number on the way, so that the weights have; features that no
// row has change nothing. A start is in the units of the rows.
func sameInOtherUnits(t *testing.T, _ *kindOfFit, p sample.Problem, o method.Options, one *Result) {
	for _, factor := range []float64{0x1p-60, 0x1p980} {
		further := 3
		switch {
		case len(one.Model.Intercept) == 1 == (factor > 1):
			continue // of two classes the one, of four the other
		case method.Find(o.Method).OneMachine:
			factor = 0x1p500 // rare steps that are small lose digits at the end of the range
		case p.Rows.Dense():
			further = 0 // features of dense rows are added by fours
		}
		other := mustFitProblem(t, inUnits(p, factor, further), o)
		for j, w := range other.Model.Coef {
			if j < len(one.Model.Coef) && w*factor != one.Model.Coef[j] || j >= len(one.Model.Coef) && w != 0 {
				t.Fatalf("factor %v: coef[%d] is %v, times the factor not as before", factor, j, w)
			}
		}
		a, b := withoutPasses(one), withoutPasses(other)
		a.Trained, b.Trained = nil, nil
		m := *b.Model
		m.Coef, m.Features = one.Model.Coef, one.Model.Features
		if b.Model = &m; !reflect.DeepEqual(a, b) {
			t.Errorf("factor %v: other bits", factor)
		}
	}
}

// inUnits are rows times a factor, with further features that no row has.
func inUnits(p sample.Problem, factor float64, further int) sample.Problem {
	if p.Start != nil {
		start := *p.Start
		start.Coef = make([]float64, (start.Features+further)*start.Outputs)
		for j, w := range p.Start.Coef {
			start.Coef[j] = w / factor
		}
		start.Features += further
		p.Start = &start
	}
	x := planted.Resized(p.Rows, further, func(_, _ int) float64 { return factor })
	if p.Rows.Dense() {
		x = planted.Dense(x)
	}
	p.Rows = x
	return p
}

// differ compares with a fit whose row k is row of[k]: the paths differ by rounding alone. A row on the threshold between
// two classes, once that moves, goes where rounding decides.
func differ(t *testing.T, want, got *Result, of []int32) string {
	a, b := lastOf(t, want, "objective"), lastOf(t, got, "objective")
	if !(math.Abs(a-b) <= 1e-6*a) {
		return fmt.Sprintf("objective %v, not %v: %.1e", b, a, b/a-1)
	}
	others := map[int32]bool{}
	for k, i := range of {
		if got.Transduction[k] != want.Transduction[i] {
			others[i] = true
		}
	}
	if a, b = want.Model.Objective, got.Model.Objective; len(others) > 1 || len(others) == 0 && !(math.Abs(a-b) <= 1e-6*a) {
		return fmt.Sprintf("%d rows have another class; objective %v, not %v, at the end", len(others), b, a)
	}
	return ""
}

// changes of a problem leave rounding alone: any unit, also near the ends of the range of numbers, any order of rows, rows
// of weight 0, which count as absent, with whatever label; of the other weights ratios count. They give the row of the
// problem for each row that counts.
var changes = map[string]func(t *testing.T, p sample.Problem, o method.Options) (changed sample.Problem, of []int32){
	"unit": func(_ *testing.T, p sample.Problem, _ method.Options) (sample.Problem, []int32) {
		return inUnits(p, []float64{1e-290, 100, 1e290}[len(p.Labels)/20%3], 0), numbers(len(p.Labels))
	},
	"order": func(t *testing.T, p sample.Problem, _ method.Options) (sample.Problem, []int32) {
		order := numbers(len(p.Labels))
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		return partOf(t, p, order), order
	},
	"idle": func(t *testing.T, p sample.Problem, _ method.Options) (sample.Problem, []int32) {
		n := len(p.Labels)
		idle := partOf(t, p, append(numbers(n), 0, 1, int32(n-1), int32(n-1)))
		if idle.Labels[n+3] = 0; p.Weak == nil {
			idle.Labels[n] = 7
		}
		if idle.Weights == nil {
			idle.Weights = slices.Repeat([]float64{1}, n+4)
		}
		vector.Scale(idle.Weights[:n], 2.5)
		clear(idle.Weights[n:])
		return idle, numbers(n)
	},
}

// sameButForRounding makes all changes at once, and each alone where a fit differs.
func sameButForRounding(t *testing.T, k *kindOfFit, p sample.Problem, o method.Options, one *Result) {
	try := func(names ...string) (differs string) {
		of := numbers(len(p.Labels))
		changed := p
		for _, name := range names {
			if !strings.Contains(k.no, name) {
				next, rows := changes[name](t, changed, o)
				for j, i := range rows {
					rows[j] = of[i]
				}
				changed, of = next, rows
			}
		}
		got := mustFitProblem(t, changed, o)
		for i, y := range got.Transduction {
			if y < 0 || int(y) >= one.Model.Classes {
				t.Errorf("row %d has class %d", i, y)
			}
		}
		if n := len(of); len(got.Transduction) > n && got.Transduction[n-1] != got.Transduction[n+2] {
			t.Errorf("a row has class %d, and with weight 0 class %d", got.Transduction[n-1], got.Transduction[n+2])
		}
		return differ(t, one, got, of)
	}
	if differs := try("order", "unit", "idle"); differs != "" {
		t.Error(differs)
		for name := range changes {
			t.Errorf("%s: %s", name, try(name))
		}
	}
}

// A weight that is a whole number is that many copies of the row.
func sameAsCopies(t *testing.T, _ *kindOfFit, p sample.Problem, o method.Options, _ *Result) {
	var copies []int32
	weighted := p
	weighted.Weights = nil
	for i, y := range p.Labels {
		weight := (7*i + i/5) % 4
		if y >= 0 {
			weight = max(1, weight)
		}
		weighted.Weights = append(weighted.Weights, float64(weight))
		copies = append(copies, slices.Repeat([]int32{int32(i)}, weight)...)
	}
	one, other := mustFitProblem(t, weighted, o), mustFitProblem(t, partOf(t, p, copies), o)
	if differs := differ(t, one, other, copies); differs != "" {
		t.Error(differs)
	}
	if one.Model.Iterations != other.Model.Iterations {
		t.Errorf("%d steps with weights, %d with copies", one.Model.Iterations, other.Model.Iterations)
	}
}

// Where unlabeled rows have no weight the problem is convex: from its solution a fit ends where it begins, at once, and
// from a far start at the same objective. The agreement is that with this solution, but where it knows of the class
// prior; from another start there is none.
func sameFromAnyStart(t *testing.T, k *kindOfFit, p sample.Problem, _ method.Options, one *Result) {
	o := k.with(p)
	if p.Start != nil && !math.IsNaN(one.Agreement) {
		t.Errorf("agreement %v from another start", one.Agreement)
	}
	if p.Start != nil || p.Weak != nil || o.Calibrate {
		return
	}
	o.UnlabeledWeight = 0
	smoothed := o.Loss == method.Hinge || o.Loss == method.CrammerSinger // coarsely first
	first := mustFitProblem(t, p, o)
	p.Start = first.Model
	second := mustFitProblem(t, p, o)
	if n := second.Model.Iterations; n > 1 && !smoothed {
		t.Errorf("%d steps from the optimum", n)
	}
	const made = 3.0 // passes that make the rows ready
	if a, b := passesOf(t, first)-made, passesOf(t, second)-made; b > 0.7*a && !smoothed {
		t.Errorf("%.1f passes from nothing, %.1f from the optimum", a, b)
	}
	// F is strongly convex: |w - w*|² <= 2 (F - F*) / α for both
	distance, within := 0.0, 2*math.Sqrt(2*o.Tol*first.Model.Objective/o.Alpha)
	for j, w := range first.Model.Coef {
		distance += (w - second.Model.Coef[j]) * (w - second.Model.Coef[j])
	}
	if math.Sqrt(distance) > within {
		t.Errorf("weights at a distance of %v, allowed %v", math.Sqrt(distance), within)
	}
	far := *first.Model
	far.Coef, far.Intercept = slices.Clone(far.Coef), slices.Clone(far.Intercept)
	for j := range far.Coef {
		far.Coef[j] = 3 * math.Sin(float64(j))
	}
	far.Intercept[0] = -7
	p.Start = &far
	for name, of := range map[string]*Result{"the optimum": second, "far": mustFitProblem(t, p, o)} {
		if a, b := first.Model.Objective, of.Model.Objective; math.Abs(a-b) > 2*o.Tol*a {
			t.Errorf("objective %v, from %s %v", a, name, b)
		}
		if of.Agreement != 1 || first.Agreement != 1 {
			t.Errorf("agreement %v of the supervised solution with itself, %v from %s", first.Agreement, of.Agreement, name)
		}
	}
	same, all, positive := 0.0, 0.0, 0.0
	for i, y := range p.Labels {
		if y < 0 {
			all++
			positive += float64(first.Transduction[i])
			if one.Transduction[i] == first.Transduction[i] {
				same++
			}
		}
	}
	knows := k.way != nil || o.Loss != method.Maxent && o.Balance != "labels" && o.Balance != "share"
	if got := one.Agreement; !(got > 0.2 && got <= 1) || !knows && math.Abs(got-same/all) > 2.5/all {
		t.Errorf("agreement %v, by the models %v", got, same/all)
	}
	if first.Model.Classes == 2 && o.Loss == method.SquaredHinge && p.Weights == nil &&
		math.Abs(column(t, first, "positive_share")[0]-positive/all) > 1e-12 {
		t.Errorf("the history of a supervised fit does not tell the share %v of class 1", positive/all)
	}
}

// A fit can be cancelled. A wish to stop that is there from the beginning is as a max_iter of 1, without its warning; a
// max_iter that just suffices changes nothing.
func endsWhenTold(t *testing.T, _ *kindOfFit, p sample.Problem, o method.Options, one *Result) {
	if _, err := Fit(p, o, &work.Progress{Cancel: 1}, nil); !errors.Is(err, fault.ErrCancelled) {
		t.Error(err)
	}
	progress := &work.Progress{Cancel: work.Stop}
	stopped, err := Fit(p, o, progress, nil)
	if err != nil || progress.Step == 0 {
		t.Fatalf("%v, %d steps reported", err, progress.Step)
	}
	last := one.Trained[len(one.Trained)-1]
	if p.Weak != nil || o.UnlabeledWeight == 0 || len(one.Trained) > 2 || last.Models > 1 {
		return // there is nothing to stop, or each of several models has a max_iter
	}
	o.MaxIter = one.Model.Iterations + 1
	if free := mustFitProblem(t, p, o); free.Model.Termination != one.Model.Termination ||
		free.Model.Iterations != one.Model.Iterations {
		t.Errorf("%d steps of %d, ended by %s", free.Model.Iterations, o.MaxIter, free.Model.Termination)
	}
	o.MaxIter = 1
	least := mustFitProblem(t, p, o)
	if !slices.Equal(stopped.Model.Coef, least.Model.Coef) || stopped.Model.Iterations != least.Model.Iterations {
		t.Errorf("%d steps, another model than that of one step", stopped.Model.Iterations)
	}
	if m := stopped.Model; m.Termination != "stopped" && least.Model.Termination == "max_iter" ||
		len(m.Warnings) > len(one.Model.Warnings) {
		t.Errorf("ended by %s, warnings %v", m.Termination, m.Warnings)
	}
}
