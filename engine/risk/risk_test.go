package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	rowsOfClasses = 60
	alpha         = 0.01
)

// frames are all kinds, for so many outputs.
func frames(d, outputs int) map[string]Frame {
	center := make([]float64, d)
	for j := range center {
		center[j] = 0.1 * math.Sin(float64(j))
	}
	mean := []float64{-0.4, 0.1, 0, 0.2, -0.3}[:outputs]
	return map[string]Frame{
		"no intercept":     {},
		"constant feature": {Constant: true},
		"recentred":        {Constant: true, Center: center},
		"centred":          {Center: center, Mean: mean},
	}
}

var classLosses = map[string]loss.Classes{
	"one against the rest": loss.OneAgainstRest{Margin: loss.SquaredHinge{}},
	"maxent":               loss.Softmax{Smoothing: 1},
	"Crammer-Singer":       loss.Softmax{Smoothing: 0.2, Margin: 1},
}

var signed = loss.Signed{Margin: loss.SquaredHinge{}}

func tree(t *testing.T, parents ...int) *scores.Tree {
	t.Helper()
	tree, err := scores.NewTree(5, parents)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func trees(t *testing.T) map[string]*scores.Tree {
	return map[string]*scores.Tree{
		"flat": tree(t, -1, -1, -1, -1, -1),
		"tree": tree(t, 5, 5, 6, 6, 7, 7, -1, -1),
	}
}

// somewhere is a risk at a random point: certain labels, soft ones, and rows without a weight.
func somewhere(t *testing.T, m *scores.Tree, l loss.Classes, frame Frame, data planted.Data) *Risk {
	t.Helper()
	random := rand.New(rand.NewPCG(4, 3))
	r := New(work.NewJob(2, nil), data.Rows, m, l, frame, alpha)
	for i := range r.Cost {
		r.Cost[i] = float64(i%4) / rowsOfClasses
		r.Label[i], r.Place[i] = int32(i%m.Classes()), int32(i)
		if i%2 == 1 {
			r.Label[i] = -1
		}
	}
	r.SoftLabels = softLabels(random, m.Classes())
	for j := range r.shape.Features {
		for v := range m.Columns() {
			r.Weights[r.shape.At(j, v)] = 0.3 * random.NormFloat64() // no row so certain that its curvature is left out
		}
	}
	r.UpdateSupport()
	return r
}

// softLabels are random ones of every row.
func softLabels(random *rand.Rand, classes int) []float64 {
	soft := make([]float64, classes*rowsOfClasses)
	for i := range rowsOfClasses {
		total, row := 0.0, soft[classes*i:classes*(i+1)]
		for y := range row {
			row[y] = random.Float64()
			total += row[y]
		}
		for y := range row {
			row[y] /= total
		}
	}
	return soft
}

// value is F of the weights of the columns, recomputed from dense rows.
func value(r *Risk, data planted.Data) float64 {
	total, d, shift := 0.0, data.Rows.Cols(), r.shift(r.Weights)
	for v := range r.Map.Columns() {
		for j := range d {
			w := r.Weights[r.shape.At(j, v)]
			total += alpha / 2 * w * w
		}
		if r.frame.Constant {
			total += alpha / 2 * shift[v] * shift[v]
		}
	}
	coef, intercept := r.Linear()
	k := r.Map.Classes()
	s, slope, state := make([]float64, k), make([]float64, k), make([]float64, k)
	for i, row := range data.Dense {
		outputs := append([]float64(nil), intercept...)
		for j, x := range row {
			for y := range outputs {
				outputs[y] += x * coef[len(outputs)*j+y]
			}
		}
		r.Map.ClassScores(s, outputs)
		total += r.Cost[i] * r.Loss.At(s, r.target(int32(i), make([]float64, k)), slope, state)
	}
	return total
}

func TestValueGradientAndHessianAgreeWithDifferences(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for lossName, l := range classLosses {
		for treeName, tree := range trees(t) {
			for frameName, frame := range frames(12, 5) {
				name := lossName + ", " + treeName + ", " + frameName
				check(t, name, somewhere(t, tree, l, frame, data), data, lossName != "Crammer-Singer")
			}
		}
	}
	for frameName, frame := range frames(12, 1) {
		check(t, "pair, "+frameName, somewhere(t, scores.Pair(), signed, frame, data), data, true)
	}
}

func check(t *testing.T, name string, r *Risk, data planted.Data, exactCurvature bool) {
	t.Helper()
	dim := r.Dim()
	gradient, unit, product := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	up, down := make([]float64, dim), make([]float64, dim)
	near(t, name+": value", r.Gradient(gradient), value(r, data), 1e-12)
	const h = 1e-5
	coupled := false // whether a direction in one column has a product in another
	for j := range r.shape.Features {
		for v := range r.Map.Columns() {
			k := r.shape.At(j, v)
			clear(unit)
			unit[k] = 1
			r.Gradient(up)
			r.UpdateHessian()
			r.HessVec(product, unit)
			for other := range r.Map.Columns() {
				for i := range r.shape.Features {
					coupled = coupled || other != v && product[r.shape.At(i, other)] != 0
				}
			}
			r.SetDirection(unit)
			_, alone, _ := r.Line(1)
			_, slope, curvature := r.Line(0)
			near(t, name+": slope along", slope, gradient[k], 1e-10)
			near(t, name+": curvature along", curvature, product[k], 1e-10)
			step := func(t float64) { // a gradient takes the memory of the direction
				r.SetDirection(unit)
				r.Step(t)
			}
			r.Step(1)
			r.Gradient(up)
			step(-1)
			near(t, name+": slope at 1", alone, up[k], 1e-10)
			step(h)
			high := r.Gradient(up)
			step(-2 * h)
			low := r.Gradient(down)
			step(h)
			near(t, name+": gradient", gradient[k], (high-low)/(2*h), 1e-7)
			for q := range dim {
				if exactCurvature {
					near(t, name+": Hessian", product[q], (up[q]-down[q])/(2*h), 1e-6)
				}
			}
		}
	}
	if columns := r.Map.Columns(); columns > 1 && coupled != (r.Columns().Classes == 1) {
		t.Errorf("%s: columns are coupled: %v, but Columns says %+v", name, coupled, r.Columns())
	}
}

// Linear gives the outputs coef_y . x + intercept_y at the current point; coef [d, outputs].
func (r *Risk) Linear() (coef, intercept []float64) {
	return r.coef(r.Weights, rows.Numbers(r.rows.Cols()), r.rows.Cols()), r.intercepts(r.Weights)
}

// solved gives rows of equal weight their true classes and minimizes the risk.
func solved(r *Risk, truth []int32, tolerance float64) minimize.Outcome {
	for i, y := range truth {
		r.Cost[i], r.Label[i] = 1/float64(len(truth)), y
	}
	r.UpdateSupport()
	limits := minimize.Limits{Tolerance: tolerance, MaxSteps: 200}
	return minimize.NewNewton(r.Dim(), r.job.Pool).Minimize(r, limits)
}

// Two classes one against the rest are the pair on a scale of two: the same weights, with opposite signs.
func TestTwoClassesAreThePair(t *testing.T) {
	data := planted.Topics(200, 30, 20, 0.3, 1)
	flat, err := scores.NewTree(2, []int{-1, -1})
	if err != nil {
		t.Fatal(err)
	}
	job := work.NewJob(1, nil)
	narrow := frames(30, 1)
	for name, frame := range frames(30, 2) {
		pair := narrow[name]
		if pair.Mean != nil {
			frame.Mean = []float64{-pair.Mean[0], pair.Mean[0]}
		}
		binary := New(job, data.Rows, scores.Pair(), signed, pair, alpha)
		many := New(job, data.Rows, flat, classLosses["one against the rest"], frame, alpha)
		one, two := solved(binary, data.Truth, 1e-13), solved(many, data.Truth, 1e-13)
		near(t, name+": value", two.Value, 2*one.Value, 1e-10)
		coef, intercept := binary.Linear()
		wide, intercepts := many.Linear()
		for j, w := range coef {
			near(t, name+": class 1", wide[2*j+1], w, 1e-5)
			near(t, name+": class 0", wide[2*j], -w, 1e-5)
		}
		near(t, name+": intercept", intercepts[1], intercept[0], 1e-5)
	}
}

// A tree with a node above all classes only is no tree.
func TestAFlatTreeIsNoTree(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	var coefs [2][]float64
	for k, parents := range [][]int{{-1, -1, -1, -1, -1}, {5, 5, 5, 5, 5, -1}} {
		r := New(work.NewJob(1, nil), data.Rows, tree(t, parents...), classLosses["maxent"], Frame{Constant: true}, alpha)
		solved(r, data.Truth, 1e-10)
		coefs[k], _ = r.Linear()
	}
	for j, w := range coefs[0] {
		if math.Float64bits(w) != math.Float64bits(coefs[1][j]) {
			t.Fatalf("weight %d: %v, %v", j, w, coefs[1][j])
		}
	}
}

// Solves of float32 rows begin rounded, and end as near the minimum as those of the same rows in float64: up to where
// float32 leads, and beyond it.
func TestSolvesThatBeginRoundedEndExactly(t *testing.T) {
	const n, d, classes = 300, 24, 5
	narrow, wide := make([]float32, n*d), make([]float64, n*d)
	for k := range narrow {
		narrow[k] = float32(math.Sin(float64(k*k%977)) + math.Cos(float64(k%d*(k/d%classes))))
		wide[k] = float64(narrow[k])
	}
	truth := make([]int32, n)
	for i := range truth {
		truth[i] = int32(i % classes)
	}
	x, errNarrow := rows.NewDense(n, d, d, narrow)
	y, errWide := rows.NewDense(n, d, d, wide)
	if errNarrow != nil || errWide != nil {
		t.Fatal(errNarrow, errWide)
	}
	if x.Rounded(panel.Shape{Features: d, Classes: classes}) == nil {
		t.Skip("this processor has no rounded products")
	}
	for name, l := range classLosses {
		for _, tolerance := range []float64{1e-4, 1e-18} {
			var ends []minimize.Outcome
			var risks []*Risk
			for _, m := range []*rows.Matrix{x, y} {
				r := New(work.NewJob(1, nil), m, tree(t, -1, -1, -1, -1, -1), l, Frame{Constant: true}, alpha)
				ends, risks = append(ends, solved(r, truth, tolerance)), append(risks, r)
			}
			if !ends[0].Converged {
				t.Fatalf("%s: outcome %+v", name, ends[0])
			}
			exact := New(work.NewJob(1, nil), y, tree(t, -1, -1, -1, -1, -1), l, Frame{Constant: true}, alpha)
			copy(exact.Weights, risks[0].Weights)
			copy(exact.Cost, risks[0].Cost)
			copy(exact.Label, risks[0].Label)
			exact.UpdateSupport()
			gradient := make([]float64, exact.Dim())
			value := exact.Gradient(gradient)
			if gap := exact.Gap(gradient); gap > 1.001*tolerance*value {
				t.Errorf("%s: the gap is %v of the value at tolerance %v", name, gap/value, tolerance)
			}
			near(t, name+": value", value, ends[1].Value, 2*tolerance+1e-15)
		}
	}
}

func TestScoresFollowTheWeights(t *testing.T) {
	data := planted.Topics(rowsOfClasses, 30, 10, 0.4, 2)
	for name, frame := range frames(30, 1) {
		r := somewhere(t, scores.Pair(), signed, frame, data)
		direction := make([]float64, r.Dim())
		for j := range direction {
			direction[j] = math.Cos(float64(j))
		}
		r.SetDirection(direction)
		r.Step(0.3)
		coef, intercept := r.Linear()
		for i, cost := range r.Cost {
			if cost > 0 {
				near(t, name+" score", r.Scores[i], data.Rows.RowTimes(i, coef)+intercept[0], 1e-12)
			}
		}
	}
}

func TestCentredFrameHoldsTheMeanScore(t *testing.T) {
	data := planted.Topics(rowsOfClasses, 30, 10, 0.4, 2)
	mean, weights := make([]float64, 30), make([]float64, rowsOfClasses)
	for i := range weights {
		weights[i] = 1.0 / rowsOfClasses
	}
	data.Rows.AddTransposedOn(work.NewJob(1, nil), data.Rows.All(), mean, weights)
	r := somewhere(t, scores.Pair(), signed, Frame{Center: mean, Mean: []float64{-0.3}}, data)
	_, _, outputs := r.Read(make([]int32, 30), 30)
	total := 0.0
	for _, f := range outputs {
		total += f / rowsOfClasses
	}
	near(t, "mean score", total, -0.3, 1e-12)
}

// The recentred constant feature is the same problem in other coordinates: the same minimum, reached in fewer products.
func TestRecentredFrameHasTheSameMinimum(t *testing.T) {
	data := planted.Topics(400, 60, 10, 0.3, 5)
	minimum := func(frame Frame) (coef []float64, intercept float64) {
		r := New(work.NewJob(1, nil), data.Rows, scores.Pair(), signed, frame, alpha)
		if outcome := solved(r, data.Truth, 1e-12); !outcome.Converged {
			t.Fatalf("outcome %+v", outcome)
		}
		coef, intercepts := r.Linear()
		return coef, intercepts[0]
	}
	mean, weights := make([]float64, 60), make([]float64, 400)
	for i := range weights {
		weights[i] = 1.0 / 400
	}
	data.Rows.AddTransposedOn(work.NewJob(1, nil), data.Rows.All(), mean, weights)
	plain, b := minimum(Frame{Constant: true})
	recentred, c := minimum(Frame{Constant: true, Center: mean})
	near(t, "intercept", c, b, 1e-5)
	for j := range plain {
		near(t, "coef", recentred[j], plain[j], 1e-5)
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*(1+math.Abs(want)) {
		t.Fatalf("%s is %v, should be %v", what, got, want)
	}
}
