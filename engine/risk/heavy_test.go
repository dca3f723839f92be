package risk

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// Multiplying M⁻¹ r with M, formed from the Hessian of the heavy rows alone, gives r again.
func TestPreconditionerIsTheInverseOfTheHeavyRowsHessian(t *testing.T) {
	data := planted.Topics(80, 30, 10, 0.4, 1)
	for name, frame := range frames(30) {
		r := somewhere(frame, data, 6)
		heavy := []int32{3, 7, 8, 20, 41}
		r.Heavy(heavy)
		gradient := make([]float64, r.Dim())
		r.Gradient(gradient)
		r.Curve()
		z := make([]float64, r.Dim())
		if !r.Precondition(z, gradient) {
			t.Fatalf("%s: no preconditioner", name)
		}
		back := make([]float64, r.Dim()) // M z
		for j := range z {
			back[j] = alpha * z[j]
		}
		shift := r.frame.shift(r.job.Pool, z)
		for _, i := range heavy {
			q := r.curve[i] * (r.rows.RowTimes(int(i), z) + shift)
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
			near(t, name+": M z", back[j], g, 1e-12)
		}
	}
}

// The rows of a tree's preconditioner alone make a Hessian of which it is the inverse, as near as conjugate gradients
// come; the loss is separable.
func TestPreconditionerOfATree(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for shape, tree := range trees(t) {
		for name, frame := range frames(12) {
			if frame.Constant && frame.Center != nil {
				continue // M is α I in other coordinates
			}
			r := someClasses(t, tree, classLosses["one against the rest"], frame, data)
			heavy := []int32{2, 3, 6, 13}
			for i := range r.Cost {
				if !slices.Contains(heavy, int32(i)) {
					r.Cost[i] = 0
				}
			}
			r.Recost()
			r.Heavy(heavy)
			gradient, z, back := make([]float64, r.Dim()), make([]float64, r.Dim()), make([]float64, r.Dim())
			r.Gradient(gradient)
			r.Curve()
			if !r.Precondition(z, gradient) {
				t.Fatalf("%s, %s: no preconditioner", shape, name)
			}
			r.HessianTimes(back, z)
			vector.Add(back, -1, gradient)
			off := math.Sqrt(vector.Dot(back, back) / vector.Dot(gradient, gradient))
			if off > 20*togetherLooseness {
				t.Errorf("%s, %s: M z is %.2g of |r| away from r", shape, name, off)
			}
		}
	}
}

// Flat classes with a separable loss: the preconditioner of each class is that of a two-class risk with its curvature.
func TestPreconditionerOfClasses(t *testing.T) {
	data := planted.Classes(rowsOfClasses, 12, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	for name, frame := range frames(12) {
		r := someClasses(t, trees(t)["flat"], classLosses["one against the rest"], frame, data)
		heavy := []int32{2, 3, 6, 13}
		r.Heavy(heavy)
		gradient, z := make([]float64, r.Dim()), make([]float64, r.Dim())
		r.Gradient(gradient)
		r.Curve()
		r.Precondition(z, gradient)
		for y := range 5 {
			narrow := New(r.job, data.Rows, frame, loss.SquaredHinge{}, alpha)
			narrow.Heavy(heavy)
			for _, i := range heavy {
				narrow.curve[i] = r.Cost[i] * r.curve[int(i)*r.shape.Stride()+y]
			}
			narrow.factor = narrow.heavy.factor(alpha, func(place int) float64 { return narrow.curve[heavy[place]] })
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
