package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/work"
)

const alpha = 0.01

func frames(d int) map[string]Frame {
	center := make([]float64, d)
	for j := range center {
		center[j] = 0.1 * math.Sin(float64(j))
	}
	return map[string]Frame{
		"no intercept":     {},
		"constant feature": {Constant: true},
		"recentred":        {Constant: true, Center: center},
		"centred":          {Center: center, Mean: -0.4},
	}
}

// somewhere is a risk with soft costs at a random point.
func somewhere(frame Frame, data planted.Data, seed uint64) *Risk {
	random := rand.New(rand.NewPCG(seed, 3))
	r := New(work.NewJob(2, nil), data.Rows, frame, loss.SquaredHinge{}, alpha)
	for i := range r.Plus {
		p := random.Float64()
		r.Plus[i], r.Minus[i] = p/float64(len(r.Plus)), (1-p)/float64(len(r.Plus))
	}
	for j := range r.weights {
		r.weights[j] = random.NormFloat64()
	}
	r.Recost()
	return r
}

// value is F recomputed from dense rows and the classifier alone.
func value(r *Risk, data planted.Data) float64 {
	coef, intercept := r.Linear()
	total := 0.0
	for _, w := range coef {
		total += alpha / 2 * w * w
	}
	if r.frame.Constant {
		total += alpha / 2 * intercept * intercept
	}
	for i, row := range data.Dense {
		f := intercept
		for j, v := range row {
			f += v * coef[j]
		}
		total += r.Plus[i]*0.5*math.Pow(max(0, 1-f), 2) + r.Minus[i]*0.5*math.Pow(max(0, 1+f), 2)
	}
	return total
}

func TestValueGradientAndHessianAgreeWithDifferences(t *testing.T) {
	data := planted.Topics(80, 30, 10, 0.4, 1)
	for name, frame := range frames(30) {
		r := somewhere(frame, data, 6)
		gradient, dim := make([]float64, r.Dim()), r.Dim()
		if got, want := r.Gradient(gradient), value(r, data); math.Abs(got-want) > 1e-12 || math.Abs(r.Value()-want) > 1e-12 {
			t.Errorf("%s: value %v, recomputed %v", name, got, want)
		}
		r.Curve()
		const h = 1e-5
		for j := range dim {
			unit, product, up, down := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
			unit[j] = 1
			near(t, name+" curvature", r.HessianTimes(product, unit), product[j], 1e-12)
			r.Aim(unit)
			slope, curvature := r.Along(0)
			near(t, name+" slope along", slope, gradient[j], 1e-10)
			near(t, name+" curvature along", curvature, product[j], 1e-10)
			r.Step(h)
			high := r.Gradient(up)
			r.Step(-2 * h)
			low := r.Gradient(down)
			r.Step(h)
			near(t, name+" gradient", gradient[j], (high-low)/(2*h), 1e-7)
			for k := range dim {
				near(t, name+" Hessian", product[k], (up[k]-down[k])/(2*h), 1e-6)
			}
		}
	}
}

func TestScoresFollowTheWeights(t *testing.T) {
	data := planted.Topics(60, 30, 10, 0.4, 2)
	for name, frame := range frames(30) {
		r := somewhere(frame, data, 9)
		direction := make([]float64, r.Dim())
		for j := range direction {
			direction[j] = math.Cos(float64(j))
		}
		r.Aim(direction)
		r.Step(0.3)
		fresh := make([]float64, 60)
		r.ScoreAll(fresh)
		coef, intercept := r.Linear()
		for i, f := range fresh {
			near(t, name+" score", r.Scores()[i], f, 1e-12)
			near(t, name+" linear", data.Rows.RowTimes(i, coef)+intercept, f, 1e-12)
		}
	}
}

func TestCentredFrameHoldsTheMeanScore(t *testing.T) {
	data := planted.Topics(60, 30, 10, 0.4, 2)
	mean, weights := make([]float64, 30), make([]float64, 60)
	for i := range weights {
		weights[i] = 1.0 / 60
	}
	data.Rows.TransposedTimes(work.NewJob(1, nil), mean, weights)
	r := somewhere(Frame{Center: mean, Mean: -0.3}, data, 4)
	total := 0.0
	for _, f := range r.Scores() {
		total += f / 60
	}
	near(t, "mean score", total, -0.3, 1e-12)
}

// The recentred constant feature is the same problem in other coordinates: the same minimum, reached in fewer products.
func TestRecentredFrameHasTheSameMinimum(t *testing.T) {
	data := planted.Topics(400, 60, 10, 0.3, 5)
	minimum := func(frame Frame) (coef []float64, intercept float64) {
		r := New(work.NewJob(1, nil), data.Rows, frame, loss.SquaredHinge{}, alpha)
		for i, class := range data.Truth {
			if class == 1 {
				r.Plus[i] = 1.0 / 400
			} else {
				r.Minus[i] = 1.0 / 400
			}
		}
		r.Recost()
		outcome := minimize.NewNewton(r.Dim(), work.NewPool(2)).Minimize(r, minimize.Limits{Tolerance: 1e-12, MaxSteps: 100})
		if !outcome.Converged {
			t.Fatalf("outcome %+v", outcome)
		}
		return r.Linear()
	}
	mean, weights := make([]float64, 60), make([]float64, 400)
	for i := range weights {
		weights[i] = 1.0 / 400
	}
	data.Rows.TransposedTimes(work.NewJob(1, nil), mean, weights)
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
