package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/taxonomy"
	"github.com/fewlabel/fewlabel/engine/work"
)

const rowsOfClasses = 60

var classLosses = map[string]loss.Classes{
	"one against the rest": loss.OneAgainstRest{Margin: loss.SquaredHinge{}},
	"maxent":               loss.Softmax{Smoothing: 1},
	"Crammer-Singer":       loss.Softmax{Smoothing: 0.2, Margin: 1},
}

func tree(t *testing.T, parents ...int32) *taxonomy.Tree {
	t.Helper()
	tree, err := taxonomy.New(5, parents)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func trees(t *testing.T) map[string]*taxonomy.Tree {
	return map[string]*taxonomy.Tree{
		"flat": tree(t, -1, -1, -1, -1, -1),
		"tree": tree(t, 5, 5, 6, 6, 7, 7, -1, -1),
	}
}

// someClasses is a risk of five classes at a random point: certain labels, soft ones, and rows without a cost.
func someClasses(t *testing.T, tree *taxonomy.Tree, l loss.Classes, frame Frame, data planted.Data) *Classes {
	t.Helper()
	random := rand.New(rand.NewPCG(4, 3))
	r := NewClasses(work.NewJob(2, nil), data.Rows, tree, frame.Constant, frame.Center, alpha, false)
	if !frame.Constant && frame.Center != nil {
		r.Means = []float64{-0.4, 0.1, 0, 0.2, -0.3}
	}
	r.Loss = l
	for i := range r.Cost {
		r.Cost[i] = float64(i%4) / rowsOfClasses
		r.Label[i], r.Place[i] = int32(i%5), int32(i)
		if i%2 == 1 {
			r.Label[i] = -1
		}
	}
	r.Soft = softLabels(random)
	for j := range r.shape.Features {
		for v := range tree.Nodes() {
			r.weights[r.shape.At(j, v)] = random.NormFloat64()
		}
	}
	r.Recost()
	return r
}

// softLabels are random ones of every row.
func softLabels(random *rand.Rand) []float64 {
	soft := make([]float64, 5*rowsOfClasses)
	for i := range rowsOfClasses {
		total, row := 0.0, soft[5*i:5*i+5]
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

// classValue is F of the weights of the nodes, recomputed from dense rows.
func classValue(r *Classes, data planted.Data) float64 {
	total, d, shift := 0.0, data.Rows.Cols(), make([]float64, r.shape.Stride())
	r.frame.shift(r.job.Pool, shift, r.weights)
	for v := range r.tree.Nodes() {
		for j := range d {
			w := r.weights[r.shape.At(j, v)]
			total += alpha / 2 * w * w
		}
		if r.frame.constant {
			total += alpha / 2 * shift[v] * shift[v]
		}
	}
	coef, intercept := r.Linear()
	slope, state := make([]float64, 5), make([]float64, 5)
	for i, row := range data.Dense {
		s := append([]float64(nil), intercept...)
		for j, x := range row {
			for y := range s {
				s[y] += x * coef[5*j+y]
			}
		}
		total += r.Cost[i] * r.Loss.At(s, r.target(int32(i), make([]float64, 5)), slope, state)
	}
	return total
}

func TestClassesValueGradientAndHessianAgreeWithDifferences(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for lossName, l := range classLosses {
		for treeName, tree := range trees(t) {
			for frameName, frame := range frames(12) {
				name := lossName + ", " + treeName + ", " + frameName
				r := someClasses(t, tree, l, frame, data)
				checkClasses(t, name, r, data, lossName != "Crammer-Singer")
			}
		}
	}
}

func checkClasses(t *testing.T, name string, r *Classes, data planted.Data, exactCurvature bool) {
	t.Helper()
	dim := r.Dim()
	gradient, unit, product := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	up, down := make([]float64, dim), make([]float64, dim)
	near(t, name+": value", r.Gradient(gradient), classValue(r, data), 1e-12)
	const h = 1e-5
	for j := range r.shape.Features {
		for v := range r.tree.Nodes() {
			k := r.shape.At(j, v)
			clear(unit)
			unit[k] = 1
			r.Gradient(up)
			near(t, name+": curvature", r.HessianTimes(product, unit), product[k], 1e-12)
			r.Aim(unit)
			slope, curvature := r.Along(0)
			near(t, name+": slope along", slope, gradient[k], 1e-10)
			near(t, name+": curvature along", curvature, product[k], 1e-10)
			r.Step(h)
			high := r.Gradient(up)
			r.Step(-2 * h)
			low := r.Gradient(down)
			r.Step(h)
			near(t, name+": gradient", gradient[k], (high-low)/(2*h), 1e-7)
			for q := range dim {
				if exactCurvature {
					near(t, name+": Hessian", product[q], (up[q]-down[q])/(2*h), 1e-6)
				}
			}
		}
	}
}

// Two classes one against the rest are the two-class risk on a scale of two: the same weights, with opposite signs.
func TestTwoClassesAreTheBinaryRisk(t *testing.T) {
	data := planted.Topics(200, 30, 20, 0.3, 1)
	flat, err := taxonomy.New(2, []int32{-1, -1})
	if err != nil {
		t.Fatal(err)
	}
	job := work.NewJob(1, nil)
	for name, frame := range frames(30) {
		binary := New(job, data.Rows, frame, loss.SquaredHinge{}, alpha)
		many := NewClasses(job, data.Rows, flat, frame.Constant, frame.Center, alpha, false)
		many.Loss = classLosses["one against the rest"]
		if !frame.Constant && frame.Center != nil {
			many.Means = []float64{-frame.Mean, frame.Mean}
		}
		for i, y := range data.Truth {
			many.Cost[i], many.Label[i] = 1.0/200, y
			binary.Plus[i], binary.Minus[i] = float64(y)/200, float64(1-y)/200
		}
		binary.Recost()
		many.Recost()
		limits := minimize.Limits{Tolerance: 1e-13, MaxSteps: 100}
		one := minimize.NewNewton(binary.Dim(), job.Pool).Minimize(binary, limits)
		two := minimize.NewNewton(many.Dim(), job.Pool).Minimize(many, limits)
		near(t, name+": value", two.Value, 2*one.Value, 1e-10)
		coef, intercept := binary.Linear()
		wide, intercepts := many.Linear()
		for j, w := range coef {
			near(t, name+": class 1", wide[2*j+1], w, 1e-5)
			near(t, name+": class 0", wide[2*j], -w, 1e-5)
		}
		near(t, name+": intercept", intercepts[1], intercept, 1e-5)
	}
}

// A tree with a node above all classes only is no tree.
func TestAFlatTreeIsNoTree(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	var coefs [2][]float64
	for k, parents := range [][]int32{{-1, -1, -1, -1, -1}, {5, 5, 5, 5, 5, -1}} {
		r := NewClasses(work.NewJob(1, nil), data.Rows, tree(t, parents...), true, nil, alpha, false)
		r.Loss = classLosses["maxent"]
		for i, y := range data.Truth {
			r.Cost[i], r.Label[i] = 1.0/rowsOfClasses, y
		}
		r.Recost()
		minimize.NewNewton(r.Dim(), r.job.Pool).Minimize(r, minimize.Limits{Tolerance: 1e-10, MaxSteps: 100})
		coefs[k], _ = r.Linear()
	}
	for j, w := range coefs[0] {
		if math.Float64bits(w) != math.Float64bits(coefs[1][j]) {
			t.Fatalf("weight %d: %v, %v", j, w, coefs[1][j])
		}
	}
}
