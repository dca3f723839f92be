package transduction

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/csr"
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/problem"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

func gradientOptions(change func(o *problem.Options)) problem.Options {
	o := plainOptions()
	o.Method = problem.Gradient
	change(&o)
	return o
}

func nearWeights(t *testing.T, what string, a, b []float64, tolerance float64) {
	t.Helper()
	for j := range a {
		if math.Abs(a[j]-b[j]) > tolerance {
			t.Fatalf("%s: weight %d is %v, and %v", what, j, a[j], b[j])
		}
	}
}

func TestGradientOfTheGradientMethodAgreesWithDifferences(t *testing.T) {
	for name, data := range map[string]planted.Data{"two": planted.Topics(150, 20, 20, 0.4, 3), "five": fiveClasses(200, 3)} {
		for _, balance := range []string{"mean", "labels"} {
			task := taskOf(t, data, gradientOptions(func(o *problem.Options) { o.Balance = balance }))
			r, _, _ := task.begin()
			free := &freeRows{Risk: r, task: task, labels: make([]int32, len(task.Unlabeled))}
			free.admit()
			free.enter(1)
			w := slices.Clone(free.Weights())
			for j := range w {
				w[j] *= 3 // margins on both halves of the loss
			}
			gradient, scratch := make([]float64, len(w)), make([]float64, len(w))
			free.At(w, gradient)
			const h = 1e-6
			for j := 0; j < len(w); j += 1 + len(w)/40 {
				up, down := slices.Clone(w), slices.Clone(w)
				up[j], down[j] = w[j]+h, w[j]-h
				difference := (free.At(up, scratch) - free.At(down, scratch)) / (2 * h)
				if gradient[j] != 0 && math.Abs(gradient[j]-difference) > 1e-6 {
					t.Errorf("%s, %s: gradient %d is %v, difference %v", name, balance, j, gradient[j], difference)
				}
			}
		}
	}
}

// Two classes in a tree without groups have two columns: with twice alpha F is that of one column.
func TestTwoClassesAsManyHaveTheObjectiveOfTwo(t *testing.T) {
	data, values := planted.Topics(200, 30, 20, 0.4, 3), [2]float64{}
	for k, change := range []func(o *problem.Options){
		func(o *problem.Options) {},
		func(o *problem.Options) { o.Alpha, o.Hierarchy = 2*o.Alpha, []int{-1, -1} },
	} {
		task := taskOf(t, data, gradientOptions(change))
		free := &freeRows{Risk: task.risk(), task: task, labels: make([]int32, len(task.Unlabeled))}
		free.admit()
		free.enter(1)
		w := make([]float64, free.Dim())
		shape := csr.Wide{Features: task.Rows.Cols(), Classes: 1 + k}
		for j := range task.Rows.Cols() {
			v := 3 * math.Sin(float64(1+j))
			if k == 0 {
				w[j] = v
				continue
			}
			w[shape.At(j, 0)], w[shape.At(j, 1)] = -v/2, v/2
		}
		values[k] = free.At(w, make([]float64, len(w)))
	}
	if math.Abs(values[0]-values[1]) > 1e-12 {
		t.Errorf("the objective is %v as a pair, %v as many", values[0], values[1])
	}
}

func TestGradientMethodHasTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 4)
	for _, data := range []planted.Data{planted.Topics(9000, 60, 30, 0.4, 4), fiveClasses(9000, 4)} {
		one := mustFit(t, data, nil, gradientOptions(func(o *problem.Options) { o.Tol = 1e-3 }))
		for threads := 2; threads <= 3; threads++ {
			o := gradientOptions(func(o *problem.Options) { o.Threads, o.Tol = threads, 1e-3 })
			if other := mustFit(t, data, nil, o); !slices.Equal(one.Model.Coef, other.Model.Coef) {
				t.Errorf("%d threads give other bits", threads)
			}
		}
	}
}

func TestGradientMethodWithoutUnlabeledRowsConverges(t *testing.T) {
	data := planted.Topics(200, 30, 60, 0.4, 3)
	none := mustFit(t, data, nil, gradientOptions(func(o *problem.Options) { o.UnlabeledWeight, o.Tol = 0, 1e-10 }))
	weights := make([]float64, 200)
	for i := range 60 {
		weights[i] = 1
	}
	scale := mustFit(t, data, weights, gradientOptions(func(o *problem.Options) { o.Tol = 1e-10 }))
	if none.Model.Termination != "converged" || scale.Model.Termination != "converged" {
		t.Errorf("ended by %s and %s", none.Model.Termination, scale.Model.Termination)
	}
}

// As ε falls to 0 and τ rises to 1 both losses become those of the hinge and of the 0/1 step at margin 1.
func TestLossesOfTheGradientMethodHaveTheirLimits(t *testing.T) {
	for _, at := range []float64{-1, 0.2, 0.95, 1.05, 2} {
		huber, _, _ := loss.Huber{Band: 1e-9}.At(at)
		hinge, _, _ := loss.Hinge{}.At(at)
		step, _, _ := loss.Plateau{Flat: 1 - 1e-9}.At(at)
		if math.Abs(huber-hinge) > 1e-9 || at < 1 && step != 1 || at > 1 && step != 0 {
			t.Errorf("at %v: %v for the hinge's %v, step %v", at, huber, hinge, step)
		}
	}
}

func TestGradientMethodLearnsFromUnlabeledRows(t *testing.T) {
	data := planted.Topics(600, 60, 10, 0.4, 3)
	wrong := func(o problem.Options) (count int) {
		for i, y := range mustFit(t, data, nil, o).Transduction {
			if data.Truth[i] != y {
				count++
			}
		}
		return count
	}
	with := wrong(gradientOptions(func(o *problem.Options) { o.ClassPrior.Shares = []float64{0.6, 0.4} }))
	without := wrong(gradientOptions(func(o *problem.Options) { o.UnlabeledWeight = 0 }))
	t.Logf("%d rows wrong, %d supervised", with, without)
	if with >= without {
		t.Errorf("%d rows wrong, %d supervised", with, without)
	}
}

func TestTheGradientMethodKnowsOnlyRatiosOfWeights(t *testing.T) {
	data := planted.Topics(150, 30, 20, 0.4, 3)
	ones := slices.Repeat([]float64{1}, 150)
	twos := slices.Repeat([]float64{2}, 150)
	o := gradientOptions(func(o *problem.Options) { o.Tol = 1e-9 })
	nearWeights(t, "coef", mustFit(t, data, ones, o).Model.Coef, mustFit(t, data, twos, o).Model.Coef, 1e-9)
}
