package structure

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	drawing "github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// drawn is a problem and the same in dense matrices.
type drawn struct {
	Problem
	x       *mat.Dense // [n, d]
	labels  *mat.Dense // [n, m] ±1
	visible *mat.Dense // [d, m] 0 or 1
}

// planted draws rows whose words come from a few topics; problem l asks for the presence of feature l, which it hides.
func planted(n, d, m, topics int, seed uint64) drawn {
	random := rand.New(rand.NewPCG(seed, 5))
	x, labels, visible := mat.NewDense(n, d, nil), mat.NewDense(n, m, nil), mat.NewDense(d, m, nil)
	for i := range n {
		topic := random.IntN(topics)
		for range 12 {
			j := random.IntN(d)
			if random.Float64() < 0.8 {
				j = random.IntN(d/topics)*topics + topic
			}
			x.Set(i, j, 1)
		}
	}
	hidden := mat.NewDense(m, d, nil)
	hides := make([]int32, m)
	for l := range m {
		hides[l] = int32(l)
		hidden.Set(l, l, 1)
		for j := range d {
			if j != l {
				visible.Set(j, l, 1)
			}
		}
		for i := range n {
			labels.Set(i, l, 2*x.At(i, l)-1)
		}
	}
	first := mat.DenseCopyOf(x.Slice(0, n, 0, m))
	p := Problem{Rows: sparse(x), Labels: sparse(first), Hidden: sparse(hidden), Hides: hides}
	return drawn{p, x, labels, visible}
}

func sparse(a *mat.Dense) *rows.Matrix {
	n, d := a.Dims()
	return drawing.Sparse(n, d, func(i int, add func(int, float64)) {
		for j := range d {
			if v := a.At(i, j); v != 0 {
				add(j, v)
			}
		}
	})
}

// centered takes the mean off every column.
func centered(a *mat.Dense) *mat.Dense {
	n, d := a.Dims()
	out := mat.DenseCopyOf(a)
	for j := range d {
		mean := mat.Sum(a.ColView(j)) / float64(n)
		for i := range n {
			out.Set(i, j, a.At(i, j)-mean)
		}
	}
	return out
}

// scaled is the rows in units of their root mean square length.
func (p drawn) scaled() *mat.Dense {
	n, _ := p.x.Dims()
	out := mat.DenseCopyOf(p.x)
	out.Scale(math.Sqrt(float64(n))/mat.Norm(p.x, 2), out)
	return out
}

// solved are the exact weights [d, m] at α, with the regularizer around center (nil: zero).
func (p drawn) solved(alpha float64, center *mat.Dense) *mat.Dense {
	x, y := centered(p.scaled()), centered(p.labels)
	n, d := x.Dims()
	_, m := y.Dims()
	out := mat.NewDense(d, m, nil)
	for l := range m {
		seen := mat.DenseCopyOf(x)
		for j := range d {
			for i := range n {
				seen.Set(i, j, x.At(i, j)*p.visible.At(j, l))
			}
		}
		var gram, right, w mat.Dense
		gram.Mul(seen.T(), seen)
		gram.Scale(1/float64(n), &gram)
		for j := range d {
			gram.Set(j, j, gram.At(j, j)+alpha)
		}
		right.Mul(seen.T(), y.Slice(0, n, l, l+1))
		right.Scale(1/float64(n), &right)
		if center != nil {
			for j := range d {
				right.Set(j, 0, right.At(j, 0)+alpha*center.At(j, l)*p.visible.At(j, l))
			}
		}
		if err := w.Solve(&gram, &right); err != nil {
			panic(err)
		}
		out.SetCol(l, mat.Col(nil, 0, &w))
	}
	return out
}

// sides are the masked right-hand sides, with columns of length 1.
func (p drawn) sides() *mat.Dense {
	var out mat.Dense
	out.Mul(centered(p.x).T(), centered(p.labels))
	out.MulElem(&out, p.visible)
	return unit(&out)
}

func unit(u *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(u)
	_, m := u.Dims()
	for l := range m {
		column := mat.Col(nil, l, u)
		length := mat.Norm(u.ColView(l), 2)
		for j := range column {
			out.Set(j, l, column[j]/length)
		}
	}
	return out
}

// leftVectors are the first h by a dense SVD, and the singular values.
func leftVectors(u *mat.Dense, h int) (*mat.Dense, []float64) {
	var svd mat.SVD
	if !svd.Factorize(u, mat.SVDThin) {
		panic("no SVD")
	}
	var left mat.Dense
	svd.UTo(&left)
	d, _ := u.Dims()
	return mat.DenseCopyOf(left.Slice(0, d, 0, h)), svd.Values(nil)[:h]
}

// distance is the norm of the difference of the projections on two subspaces; a [h, d] by rows, b [d, h] by columns.
func distance(a []float64, b *mat.Dense) float64 {
	d, h := b.Dims()
	theta := mat.NewDense(h, d, a)
	var one, two mat.Dense
	one.Mul(theta.T(), theta)
	two.Mul(b, b.T())
	one.Sub(&one, &two)
	return mat.Norm(&one, 2)
}

func fit(t *testing.T, p Problem, change func(o *Options)) *Result {
	t.Helper()
	options := Defaults()
	options.Components = 4
	change(&options)
	result, err := Fit(p, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// components are the components [h, d], those of all groups side by side.
func (r *Result) components() []float64 {
	h, d := r.Model.Components, r.Model.Features
	rows := make([]float64, h*d)
	for at, v := range r.Model.Theta {
		rows[at%h*d+at/h] = v
	}
	return rows
}

func needOrthonormal(t *testing.T, components []float64, h int) {
	t.Helper()
	theta := mat.NewDense(h, len(components)/h, components)
	var gram mat.Dense
	gram.Mul(theta, theta.T())
	for a := range h {
		for b := range h {
			want := 0.0
			if a == b {
				want = 1
			}
			if math.Abs(gram.At(a, b)-want) > 1e-10 {
				t.Fatalf("components %d and %d have the product %v", a, b, gram.At(a, b))
			}
		}
	}
}

func TestComponentsSpanThoseOfADenseSVD(t *testing.T) {
	p, many := planted(300, 60, 40, 5, 1), planted(2000, 200, 120, 5, 2) // more problems than probes
	grouped := p
	grouped.Groups = slices.Repeat([]int32{0, 1}, 30)
	squared := func(unit bool) func(o *Options) {
		return func(o *Options) {
			o.Solver, o.Alpha, o.MaxIter, o.Tol, o.Unit = Squared, 0.1, 200, 1e-12, unit
		}
	}
	for _, c := range []struct {
		name   string
		p      drawn
		want   *mat.Dense
		change func(o *Options)
	}{
		{"none", p, p.sides(), func(*Options) {}},
		{"more problems than probes", many, many.sides(), func(*Options) {}},
		{"groups", grouped, p.sides(), func(*Options) {}},
		{"squared", p, p.solved(0.1, nil), squared(false)},
		{"squared, unit", p, unit(p.solved(0.1, nil)), squared(true)},
	} {
		t.Run(c.name, func(t *testing.T) { c.p.spans(t, fit(t, c.p.Problem, c.change), c.want) })
	}
}

// objective is equation 6 for dense weights and the best v at Θ.
func (p drawn) objective(u *mat.Dense, theta []float64, h int, alpha float64) float64 {
	x, y := centered(p.scaled()), centered(p.labels)
	n, d := x.Dims()
	var off, inside, back mat.Dense
	off.Mul(x, u)
	off.Sub(&off, y)
	t := mat.NewDense(h, d, theta)
	inside.Mul(t, u)
	back.Mul(t.T(), &inside)
	back.Sub(u, &back)
	return math.Pow(mat.Norm(&off, 2), 2)/(2*float64(n)) + alpha/2*math.Pow(mat.Norm(&back, 2), 2)
}

func TestTheObjectiveIsThatOfEquation6AndNeverRises(t *testing.T) {
	p := planted(300, 60, 40, 5, 4)
	const alpha = 0.05
	solving := func(o *Options) {
		o.Solver, o.Alpha, o.MaxIter, o.Tol, o.Unit, o.Alternations = Squared, alpha, 200, 1e-12, false, 2
	}
	result := fit(t, p.Problem, solving)
	first := p.solved(alpha, nil)
	theta, _ := leftVectors(first, 4)
	var project, center mat.Dense
	project.Mul(theta, theta.T())
	center.Mul(&project, first)
	second := p.solved(alpha, &center)
	next, _ := leftVectors(second, 4)
	if off := distance(result.components(), next); off > 1e-6 {
		t.Errorf("after two rounds the subspaces are %g apart", off)
	}
	for round, want := range []float64{
		p.objective(first, rowsOf(theta), 4, alpha), p.objective(second, rowsOf(next), 4, alpha),
	} {
		if got := result.Objectives[round]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("round %d: objective %v, should be %v", round, got, want)
		}
	}
	for _, p := range []drawn{p, planted(600, 200, 150, 5, 4)} { // all probes, and fewer than problems
		few := fit(t, p.Problem, func(o *Options) {
			solving(o)
			o.MaxIter, o.Tol, o.Alternations = 2, 1e-9, 12
		})
		for round := 1; round < len(few.Objectives); round++ {
			if few.Objectives[round] > few.Objectives[round-1] {
				t.Errorf("round %d: the objective rises from %v to %v", round, few.Objectives[round-1], few.Objectives[round])
			}
		}
	}
}

func TestTheObjectiveOfGroupsIsThatOfEquation6(t *testing.T) {
	const alpha, h = 0.05, 3
	p := planted(300, 60, 40, 5, 4)
	p.Groups = slices.Repeat([]int32{0, 1}, 30)
	u := p.solved(alpha, nil)
	for rounds := 1; rounds <= 2; rounds++ {
		result := fit(t, p.Problem, func(o *Options) {
			o.Components, o.Solver, o.Alpha, o.MaxIter, o.Tol = h, Squared, alpha, 200, 1e-12
			o.Unit, o.Alternations = false, rounds
		})
		theta := p.spans(t, result, u)
		want := p.objective(u, theta, 2*h, alpha)
		if got := result.Objectives[rounds-1]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("round %d: objective %v, should be %v", rounds, got, want)
		}
		var inside, center mat.Dense
		all := mat.NewDense(2*h, 60, theta)
		inside.Mul(all, u)
		center.Mul(all.T(), &inside)
		u = p.solved(alpha, &center)
	}
}

func rowsOf(columns *mat.Dense) []float64 { return mat.DenseCopyOf(columns.T()).RawMatrix().Data }

func TestALargeAlphaIsTheLimitThatSolvesNothing(t *testing.T) {
	p := planted(300, 60, 40, 5, 5)
	none := fit(t, p.Problem, func(*Options) {})
	limit := fit(t, p.Problem, func(o *Options) { o.Solver, o.Alpha = Squared, 1e9 })
	if off := distance(limit.components(), mat.DenseCopyOf(mat.NewDense(4, 60, none.components()).T())); off > 1e-5 {
		t.Errorf("the subspaces are %g apart", off)
	}
}

// Rows times a power of two and any number of threads give the same bits, of enough rows for several blocks.
func TestComponentsHaveTheSameBits(t *testing.T) {
	worktest.Processors(t, 8)
	p := planted(9000, 400, 100, 5, 7)
	small := p.Problem
	small.Rows = drawing.Resized(p.Rows, 0, func(_, _ int) float64 { return 0x1p-40 })
	for _, solver := range []string{None, Squared} {
		of := func(p Problem, threads int) []float64 {
			return fit(t, p, func(o *Options) { o.Solver, o.Threads, o.Alternations = solver, threads, 2 }).components()
		}
		want := of(p.Problem, 1)
		for name, got := range map[string][]float64{
			"two threads": of(p.Problem, 2), "three threads": of(p.Problem, 3), "small": of(small, 3),
		} {
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: other components", solver, name)
			}
		}
	}
}

func TestWhatCannotBeLearnedFromIsRefused(t *testing.T) {
	p := planted(100, 30, 20, 5, 9).Problem
	alone := mat.NewDense(100, 3, nil)
	for i := range 100 {
		alone.Set(i, 0, float64(i%2))
		alone.Set(i, 1, float64(i%2))
		alone.Set(i, 2, float64((i+1)%2))
	}
	short := p
	short.Labels, short.Hides, short.Hidden = sparse(alone), nil, nil
	few := p
	few.Groups = make([]int32, 30)
	few.Groups[3] = 1
	for _, c := range []struct {
		name    string
		p       func(p *Problem)
		options func(o *Options)
		want    string
	}{
		{"components", func(*Problem) {}, func(o *Options) { o.Components = 21 },
			"n_components is 21, but there are 20 auxiliary problems"},
		{"no components", func(*Problem) {}, func(o *Options) { o.Components = 0 }, "n_components is 0"},
		{"rank", func(p *Problem) { *p = short }, func(o *Options) { o.Components = 2 }, "have rank 1 in group 0"},
		{"group", func(p *Problem) { *p = few }, func(o *Options) { o.Components = 2 }, "group 1 has 1 features"},
		{"negative group", func(p *Problem) { p.Groups = append(make([]int32, 29), -1) }, func(*Options) {},
			"groups[29] is -1"},
		{"hides", func(p *Problem) { p.Hides = append(make([]int32, 19), 20) }, func(*Options) {}, "hides[19] is 20"},
		{"no hides", func(p *Problem) { p.Hides = nil }, func(*Options) {}, "hidden is given without hides"},
		{"hidden", func(p *Problem) { p.Hidden = nil }, func(*Options) {}, "hidden has 0 sets"},
		{"rows", func(p *Problem) { p.Labels = p.Hidden }, func(*Options) {}, "labels has 20 rows, rows has 100"},
		{"values", func(p *Problem) { p.Rows = p.Rows.Scaled(1e307) }, func(*Options) {}, "rows of X are too short or too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			own, options := p, Defaults()
			options.Components = 4
			c.p(&own)
			c.options(&options)
			_, err := Fit(own, options, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, should have %q", err, c.want)
			}
		})
	}
}

func TestOptionsAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		`{"max_iters": 3}`:     `unknown option "max_iters"; there are solver, alpha, max_iter, tol, n_iter, unit, threads, random_state`,
		`{"max_iter": 0}`:      "max_iter is 0",
		`{"solver": "exact"}`:  `solver is "exact"`,
		`{"alpha": 0}`:         "alpha is 0",
		`{"n_components": 10}`: "unknown option",
	} {
		options := Defaults()
		if err := options.Table().Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, should have %q", text, err, want)
		}
	}
	options := Defaults()
	err := options.Table().Decode([]byte(`{"max_iter": 7, "unit": false}`))
	if err != nil || options.MaxIter != 7 || options.Unit || options.Alpha != Defaults().Alpha {
		t.Errorf("%+v, %v", options, err)
	}
}

func TestACancelledFitEnds(t *testing.T) {
	p := planted(300, 60, 40, 5, 1)
	options := Defaults()
	options.Components = 4
	if _, err := Fit(p.Problem, options, &work.Progress{Cancel: 1}); !errors.Is(err, fault.ErrCancelled) {
		t.Errorf("got %v", err)
	}
	progress := &work.Progress{}
	options.Solver, options.Alternations = Squared, 3
	result, err := Fit(p.Problem, options, progress)
	if err != nil || progress.Step != 3*(2+1) || math.Float64frombits(progress.Objective) != result.Objectives[2] {
		t.Errorf("progress %+v, %v", progress, err)
	}
}

func TestAFitThatDoesNotFitIsRefused(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	p := planted(100, 30, 20, 5, 9).Problem
	memory.Need = func(bytes float64, purpose, advice string) error {
		if bytes < 4*30*20+24*20 {
			t.Errorf("%v bytes are less than U and the lists of positive rows take", bytes)
		}
		return fault.Memory("%s: %s", purpose, advice)
	}
	options := Defaults()
	options.Components = 4
	var failure *fault.Error
	if _, err := Fit(p, options, nil); !errors.As(err, &failure) || failure.Kind != fault.NoMemory {
		t.Errorf("got %v", err)
	}
}

// spans compares the components of every group, orthonormal ones, and their strengths with the left vectors of the
// weights u by a dense SVD, and gives the Θ of the groups one below the other.
func (p drawn) spans(t *testing.T, r *Result, u *mat.Dense) (theta []float64) {
	t.Helper()
	h, d, groups := r.Model.Components, r.Model.Features, p.Groups
	if groups == nil {
		groups = make([]int32, d)
	}
	for g := range int(slices.Max(groups)) + 1 {
		own, part := r.components(), mat.DenseCopyOf(u)
		for j, of := range groups {
			if int(of) == g {
				continue
			}
			for l := range p.Labels.Cols() {
				part.Set(j, l, 0)
			}
			for c := range h {
				own[c*d+j] = 0
			}
		}
		needOrthonormal(t, own, h)
		want, strengths := leftVectors(part, h)
		if off := distance(own, want); off > 1e-6 {
			t.Errorf("group %d: the subspaces are %g apart", g, off)
		}
		for k, strength := range strengths {
			if got := r.Strengths[g*h+k]; math.Abs(got-strength) > 1e-6*strength {
				t.Errorf("group %d: singular value %d is %v, should be %v", g, k, got, strength)
			}
			if row := own[k*d : (k+1)*d]; slices.Max(row) < -slices.Min(row) {
				t.Errorf("group %d: the largest entry of component %d is %v", g, k, slices.Min(row))
			}
		}
		theta = append(theta, own...)
	}
	return theta
}
