package risk

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/work"
)

// solved minimizes a risk of five classes with certain and soft labels, in two stages: rows of the second have no cost
// in the first, and lose theirs again in a third.
func solved(t *testing.T, lossName, treeName string, frame Frame, inRows, heavy bool, threads int) *Classes {
	t.Helper()
	data := planted.Classes(rowsOfClasses, 80, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	random := rand.New(rand.NewPCG(4, 3))
	job := work.NewJob(threads, nil)
	r := NewClasses(job, data.Rows, trees(t)[treeName], frame.Constant, frame.Center, alpha, inRows)
	if !frame.Constant && frame.Center != nil {
		r.Means = []float64{-0.4, 0.1, 0, 0.2, -0.3}
	}
	r.Loss = classLosses[lossName]
	r.Soft = make([]float64, 5*rowsOfClasses)
	var labeled []int32
	for i := range rowsOfClasses {
		r.Label[i], r.Place[i] = int32(i%5), int32(i)
		if i%3 > 0 {
			r.Label[i] = -1
		} else {
			r.Cost[i], labeled = 0.05, append(labeled, int32(i))
		}
		total := 0.0
		for y := range 5 {
			r.Soft[5*i+y] = random.Float64()
			total += r.Soft[5*i+y]
		}
		for y := range 5 {
			r.Soft[5*i+y] /= total
		}
	}
	r.Recost()
	if heavy {
		r.Heavy(labeled)
	}
	newton := minimize.NewNewton(r.Dim(), job.Pool)
	limits := minimize.Limits{Tolerance: 1e-13, MaxSteps: 100}
	for stage := range 3 {
		for i := range rowsOfClasses {
			switch {
			case stage == 1 && r.Cost[i] == 0:
				r.Cost[i] = 0.01
			case stage == 2 && i%7 == 1:
				r.Cost[i] = 0
			}
		}
		r.Recost()
		if outcome := newton.Minimize(r, limits); !outcome.Converged {
			t.Fatalf("stage %d: %+v", stage, outcome)
		}
	}
	return r
}

func TestWeightsAsSumsOfRowsAreTheSameWeights(t *testing.T) {
	for lossName := range classLosses {
		for treeName := range trees(t) {
			for frameName, frame := range frames(80) {
				for _, heavy := range []bool{false, true} {
					name := lossName + ", " + treeName + ", " + frameName
					features := solved(t, lossName, treeName, frame, false, heavy, 1)
					rows := solved(t, lossName, treeName, frame, true, heavy, 1)
					near(t, name+": penalty", rows.Regularizer(), features.Regularizer(), 1e-6)
					want, wantIntercept := features.Linear()
					got, intercept := rows.Linear()
					for k := range want {
						near(t, name+": weight", got[k], want[k], 1e-5)
					}
					for y := range intercept {
						near(t, name+": intercept", intercept[y], wantIntercept[y], 1e-5)
					}
					for i := range rowsOfClasses {
						if rows.Cost[i] > 0 {
							for y, s := range rows.Score(int32(i)) {
								near(t, name+": score", s, features.Score(int32(i))[y], 1e-5)
							}
						}
					}
				}
			}
		}
	}
}

// A step of conjugate gradients in sums of rows is the one in features: M⁻¹ r, H p and their inner products agree.
func TestConjugateStepsAgree(t *testing.T) {
	for frameName, frame := range frames(80) {
		for treeName := range trees(t) {
			name := frameName + ", " + treeName
			r := solved(t, "one against the rest", treeName, frame, true, true, 1)
			for i := range r.Cost {
				r.Cost[i] *= 3 // away from the optimum
			}
			residual, z, image := make([]float64, r.Dim()), make([]float64, r.Dim()), make([]float64, r.Dim())
			product := make([]float64, r.Dim())
			r.Residual(residual)
			r.Curve()
			r.Gather(residual)
			near(t, name+": rᵀ M⁻¹ r", r.Nearness(), r.Conjugate(z, image, residual), 1e-10)
			near(t, name+": pᵀ H p", r.BendRows(product, z, image), r.inner(product, image), 1e-10)
			square := r.inner(z, image)
			r.Gather(z)
			plain, _ := r.Steepness()
			near(t, name+": |z|²", square, plain, 1e-10)
		}
	}
}

func TestSumsOfRowsHaveTheSameBitsAtAnyThreadCount(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for frameName, frame := range frames(80) {
		one, _ := solved(t, "maxent", "tree", frame, true, true, 1).Linear()
		four, _ := solved(t, "maxent", "tree", frame, true, true, 4).Linear()
		for k := range one {
			if one[k] != four[k] {
				t.Fatalf("%s: weight %d is %v and %v", frameName, k, one[k], four[k])
			}
		}
	}
}
