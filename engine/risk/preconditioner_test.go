package risk

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// preconditioned are the gradient and what the preconditioner makes of it.
func preconditioned(t *testing.T, r *Risk) (gradient, z []float64) {
	t.Helper()
	gradient, z = make([]float64, r.Dim()), make([]float64, r.Dim())
	r.Gradient(gradient)
	r.UpdateHessian()
	if !r.Precondition(z, gradient) {
		t.Fatal("no preconditioner")
	}
	return gradient, z
}

// Multiplying P⁻¹ r with P, formed from the Hessian of the labeled rows alone, gives r again.
func TestPreconditionerIsTheInverseOfTheLabeledRowsHessian(t *testing.T) {
	data := planted.Topics(rowsOfClasses, 30, 10, 0.4, 1)
	for name, frame := range frames(30, 1) {
		r := somewhere(t, scores.Pair(), signed, frame, data)
		labeled := []int32{3, 7, 9, 21, 41}
		r.PreconditionBy(labeled, nil)
		gradient, z := preconditioned(t, r)
		back, shift := make([]float64, r.Dim()), r.shift(z) // P z
		for j := range z {
			back[j] = alpha * z[j]
		}
		for _, i := range labeled {
			q := r.state[i] * (r.rows.RowTimes(int(i), z) + shift[0])
			for j, x := range data.Dense[i] {
				if frame.Center != nil {
					x -= frame.Center[j]
				}
				back[j] += q * x
			}
			if frame.Constant {
				back[len(back)-1] += q
			}
		}
		for j, g := range gradient {
			near(t, name+": P z", back[j], g, 1e-12)
		}
	}
}

// The factor that several columns share solves the system of its header for each of them.
func TestASharedFactorSolvesForAllColumns(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	r := somewhere(t, tree(t, -1, -1, -1, -1, -1), classLosses["maxent"], Frame{Constant: true}, data)
	r.PreconditionBy([]int32{3, 7, 9, 22}, nil)
	r.Gradient(make([]float64, r.Dim()))
	r.UpdateHessian()
	p := r.preconditioner
	if len(p.factors) > 1 {
		t.Fatal("a loss that is no sum over the classes has several factors")
	}
	const columns = 70 // of three panels
	scores, solved := make([][]float64, 4), make([][]float64, 4)
	for a := range scores {
		for c := range columns {
			scores[a] = append(scores[a], math.Sin(float64(1+a*columns+c)))
		}
		solved[a] = slices.Clone(scores[a])
	}
	p.factors[0].solveAll(r.job, solved)
	for a, h := range p.factors[0].curves {
		for c, want := range scores[a] {
			got := alpha / h * solved[a][c]
			for b := range solved {
				got += p.gram[a*4+b] * solved[b][c]
			}
			near(t, "score", got, want, 1e-10)
		}
	}
}

// Where rounding leaves no factor, of one column or of several together, the preconditioner is that of no rows.
func TestAPreconditionerWithoutAFactorIsThatOfNoRows(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for name, l := range classLosses {
		r := somewhere(t, tree(t, -1, -1, -1, -1, -1), l, Frame{Constant: true}, data)
		r.PreconditionBy([]int32{3, 7, 9}, nil)
		for k := range r.preconditioner.gram {
			r.preconditioner.gram[k] = -1e9 // as of no rows
		}
		gradient, z := preconditioned(t, r)
		for j, g := range gradient {
			near(t, name+": z", z[j], g/alpha, 1e-12)
		}
	}
}

// A row whose weight is a part of a copy takes as much as a whole one: 200 of these are too many for a preconditioner.
func TestPartsOfCopiesCountAsRowsOfAPreconditioner(t *testing.T) {
	data := planted.Topics(400, 30, 10, 0.4, 1)
	r := somewhere(t, scores.Pair(), signed, frames(30, 1)["no intercept"], data)
	copies, labeled := make([]float64, 400), []int32{}
	for i := range copies {
		if copies[i] = 2; i%2 == 0 {
			copies[i], labeled = 0.4, append(labeled, int32(i))
		}
	}
	labeled[0], copies[0] = 0, 2
	if r.PreconditionBy(labeled, copies); r.preconditioner != nil {
		t.Errorf("a preconditioner of %d rows", len(labeled))
	}
	if r.PreconditionBy(labeled[:5], copies); r.preconditioner == nil {
		t.Error("no preconditioner of 5 rows")
	}
}

// The rows of a tree's preconditioner alone make a Hessian of which it is the inverse, as near as conjugate gradients
// come; the loss is separable.
func TestPreconditionerOfATree(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for shape, tree := range trees(t) {
		for name, frame := range frames(12, 5) {
			if frame.Constant && frame.Center != nil {
				continue // M is α I in other coordinates
			}
			r := somewhere(t, tree, classLosses["one against the rest"], frame, data)
			labeled := []int32{2, 3, 6, 13}
			for i := range r.Cost {
				if !slices.Contains(labeled, int32(i)) {
					r.Cost[i] = 0
				}
			}
			r.UpdateSupport()
			r.PreconditionBy(labeled, nil)
			gradient, z := preconditioned(t, r)
			back := make([]float64, r.Dim())
			r.HessVec(back, z)
			vector.Add(back, -1, gradient)
			off := math.Sqrt(vector.Dot(back, back) / vector.Dot(gradient, gradient))
			if off > 20*coupledTolerance {
				t.Errorf("%s, %s: M z is %.2g of |r| away from r", shape, name, off)
			}
		}
	}
}

// Flat classes with a separable loss: the preconditioner of each class is that of a two-class risk with its curvature.
func TestPreconditionerOfClasses(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for name, frame := range frames(12, 5) {
		r := somewhere(t, trees(t)["flat"], classLosses["one against the rest"], frame, data)
		labeled := []int32{2, 3, 6, 13}
		r.PreconditionBy(labeled, nil)
		gradient, z := preconditioned(t, r)
		for y := range 5 {
			pair := Frame{Constant: frame.Constant, Center: frame.Center}
			narrow := New(r.job, data.Rows, scores.Pair(), signed, pair, alpha)
			narrow.PreconditionBy(labeled, nil)
			for _, i := range labeled {
				narrow.state[i] = r.Cost[i] * r.state[int(i)*r.Stride+y]
			}
			narrow.preconditioner.findCurves()
			narrow.preconditioner.factorize()
			g, want := make([]float64, narrow.Dim()), make([]float64, narrow.Dim())
			for j := range g {
				g[j] = gradient[r.shape.At(j, y)]
			}
			narrow.Precondition(want, g)
			for j := range want {
				near(t, name+": class weights", z[r.shape.At(j, y)], want[j], 1e-10*(1+math.Abs(want[j])))
			}
		}
	}
}

func TestAFactorServesAsLongAsNoCurvatureIsFarFromItsOwn(t *testing.T) {
	f := &factor{curves: []float64{1, 2, 0}}
	for _, near := range [][]float64{{1, 2, 0}, {1.4, 1.4, 0}} {
		if !f.serves(near) {
			t.Errorf("%v is near %v", near, f.curves)
		}
	}
	for _, far := range [][]float64{{1.6, 2, 0}, {1, 1.3, 0}, {1, 2, 1e-9}, {0, 2, 0}} {
		if f.serves(far) {
			t.Errorf("%v is far from %v", far, f.curves)
		}
	}
}

func TestManyRowsMakeNoPreconditioner(t *testing.T) {
	for _, test := range []struct {
		rows, nonZeros, all float64
		factors             int
		want                bool
	}{
		{20, 1e6, 1e5, 2, true},
		{500, 1e8, 1e4, 2, false}, // a factor for each class would take as much as all scores
		{500, 1e8, 1e4, 1, true},
		{2_200_000, 2_200_000, 2_200_000, 1, false}, // whose cube is no 64-bit number
		{0, 1e6, 1e5, 1, false},
	} {
		if got := preconditions(test.rows, test.nonZeros, test.all, test.factors); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
