package belief

import (
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/work"
)

const alpha = 0.02

// joined is the risk of some labeled rows with the cost of the others, over a class tree.
func joined(
	t *testing.T, n int, center []float64,
	cost func(rows []int32, u []float64, r *risk.Risk) risk.Joint,
) *risk.Risk {
	t.Helper()
	data := planted.Classes(n, 14, 15, prior, 1)
	tree, err := scores.NewTree(classes, []int{5, 5, 6, 6, -1, -1, -1})
	if err != nil {
		t.Fatal(err)
	}
	r := risk.New(work.NewJob(2, nil), data.Rows, tree, loss.Softmax{Smoothing: 1},
		risk.Frame{Constant: true, Center: center}, alpha)
	var rows []int32
	for i, y := range data.Labels {
		r.Label[i], r.Cost[i] = y, 1.0/15
		if y < 0 {
			r.Label[i] = risk.LabelJoint
			rows = append(rows, int32(i))
		}
	}
	weights := make([]float64, len(rows))
	for k := range weights {
		weights[k] = 1 / float64(len(rows))
	}
	r.Joint = cost(rows, weights, r)
	r.UpdateSupport()
	r.PreconditionBy([]int32{0, 1, 2, 3, 4}, nil)
	return r
}

func entropyOf(rows []int32, u []float64, r *risk.Risk) risk.Joint {
	m := NewMeans(work.NewJob(2, nil), rows, u, classes, r.Stride)
	m.Entropy, m.Constraint = 0.5, &Multipliers{Prior: prior, Lambda: []float64{0.1, 0, -0.2, 1, 0.3}, Weight: 2}
	return m
}

func center() []float64 {
	c := make([]float64, 14)
	for j := range c {
		c[j] = 0.05 * float64(j%3)
	}
	return c
}

func TestRiskWithMeansAgreesWithDifferences(t *testing.T) {
	for name, center := range map[string][]float64{"plain": nil, "center": center()} {
		r := joined(t, 40, center, entropyOf)
		newton := minimize.NewNewton(r.Dim(), work.NewPool(1))
		newton.Minimize(r, minimize.Limits{MaxSteps: 1}) // away from W = 0
		dim := r.Dim()
		gradient, unit, product := make([]float64, dim), make([]float64, dim), make([]float64, dim)
		up, down := make([]float64, dim), make([]float64, dim)
		const h = 1e-5
		for k := 0; k < dim; k += 3 {
			r.Gradient(gradient)
			r.UpdateHessian()
			clear(unit)
			unit[k] = 1
			r.HessVec(product, unit)
			r.SetDirection(unit)
			_, slope, curvature := r.Line(0)
			near(t, name+": slope along", slope, gradient[k], 1e-11)
			near(t, name+": curvature along", curvature, product[k], 1e-11)
			r.Step(h)
			high := r.Gradient(up)
			r.Step(-2 * h)
			low := r.Gradient(down)
			r.Step(h)
			near(t, name+": gradient", gradient[k], (high-low)/(2*h), 1e-8)
			for q := range dim {
				near(t, name+": Hessian", product[q], (up[q]-down[q])/(2*h), 1e-7)
			}
		}
	}
}
