package risk

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fewlabel/fewlabel/engine/minimize"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

// solved minimizes a risk of five classes with certain and soft labels, in two stages: rows of the second have no cost
// in the first, and lose theirs again in a third.
func solved(t *testing.T, lossName, treeName string, frame Frame, inRows, labeled bool, threads int) *Risk {
	t.Helper()
	data := planted.Classes(rowsOfClasses, 80, 10, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 1)
	random := rand.New(rand.NewPCG(4, 3))
	job := work.NewJob(threads, nil)
	r := New(job, data.Rows, trees(t)[treeName], classLosses[lossName], frame, alpha, inRows)
	r.Soft = softLabels(random, 5)
	var list []int32
	for i := range rowsOfClasses {
		r.Label[i], r.Place[i] = int32(i%5), int32(i)
		if i%3 > 0 {
			r.Label[i] = -1
		} else {
			r.Cost[i], list = 0.05, append(list, int32(i))
		}
	}
	r.UpdateSupport()
	if labeled {
		r.PreconditionBy(list, nil)
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
		r.UpdateSupport()
		if outcome := newton.Minimize(r, limits); !outcome.Converged {
			t.Fatalf("stage %d: %+v", stage, outcome)
		}
	}
	return r
}

func TestWeightsAsSumsOfRowsAreTheSameWeights(t *testing.T) {
	for lossName := range classLosses {
		for treeName := range trees(t) {
			for frameName, frame := range frames(80, 5) {
				for _, labeled := range []bool{false, true} {
					name := lossName + ", " + treeName + ", " + frameName
					features := solved(t, lossName, treeName, frame, false, labeled, 1)
					rows := solved(t, lossName, treeName, frame, true, labeled, 1)
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
							got, want := make([]float64, 5), make([]float64, 5)
							rows.Score(got, int32(i))
							features.Score(want, int32(i))
							for y, s := range got {
								near(t, name+": score", s, want[y], 1e-5)
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
	for frameName, frame := range frames(80, 5) {
		for treeName := range trees(t) {
			name := frameName + ", " + treeName
			r := solved(t, "one against the rest", treeName, frame, true, true, 1)
			for i := range r.Cost {
				r.Cost[i] *= 3 // away from the optimum
			}
			residual, z, image := make([]float64, r.Dim()), make([]float64, r.Dim()), make([]float64, r.Dim())
			product := make([]float64, r.Dim())
			r.Residual(residual)
			r.UpdateHessian()
			r.Gather(residual)
			near(t, name+": rᵀ M⁻¹ r", r.PreconditionedNorm(), r.Conjugate(z, image, residual), 1e-10)
			near(t, name+": pᵀ H p", r.HessVecRows(product, z, image), r.rowsInner(product, image), 1e-10)
			square := r.rowsInner(z, image)
			r.Gather(z)
			plain, _ := r.GradientNorm()
			near(t, name+": |z|²", square, plain, 1e-10)
		}
	}
}

// float64Rows are more features than rows, and enough rows for loops over them to be divided.
func float64Rows(t *testing.T) *rows.Matrix {
	t.Helper()
	const n, d, length = 9000, 9500, 12
	random := rand.New(rand.NewPCG(8, 1))
	indptr, indices, values := make([]int64, n+1), make([]int32, n*length), make([]float64, n*length)
	for i := range n {
		indptr[i+1] = int64((i + 1) * length)
		for k := range length {
			indices[i*length+k] = int32(random.IntN(d) * random.IntN(d) / d)
			values[i*length+k] = random.NormFloat64()
		}
	}
	rows, err := rows.New(d, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestSumsOfRowsHaveTheSameBitsAtAnyThreadCount(t *testing.T) {
	worktest.Processors(t, 4)
	rows := float64Rows(t)
	center := make([]float64, rows.Cols())
	for i := range rows.Rows() {
		rows.AddRow(i, 1/float64(rows.Rows()), center)
	}
	for frameName, frame := range map[string]Frame{"constant": {Constant: true, Center: center}, "mean": {Center: center}} {
		var first []float64
		for _, threads := range []int{1, 2, 4} {
			r := New(work.NewJob(threads, nil), rows, trees(t)["tree"], classLosses["maxent"], frame, alpha, true)
			for i := range r.Cost {
				r.Cost[i], r.Label[i] = 1/float64(len(r.Cost)), int32(i%5)
			}
			r.UpdateSupport()
			r.PreconditionBy([]int32{0, 17, 400, 8999}, nil)
			minimize.NewNewton(r.Dim(), r.job.Pool).Minimize(r, minimize.Limits{Tolerance: 1e-4, MaxSteps: 10})
			coef, _ := r.Linear()
			if first == nil {
				first = coef
			}
			for k, w := range coef {
				if math.Float64bits(w) != math.Float64bits(first[k]) {
					t.Fatalf("%s, %d threads: weight %d is %v and %v", frameName, threads, k, first[k], w)
				}
			}
		}
	}
}
