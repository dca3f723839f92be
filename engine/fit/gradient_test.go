package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/belief"
	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
)

func gradientOptions(change func(o *method.Options)) method.Options {
	o := plainOptions()
	o.Method = "gradient"
	change(&o)
	return o
}

func TestGradientOfTheGradientMethodAgreesWithDifferences(t *testing.T) {
	for name, data := range map[string]planted.Data{"two": planted.Topics(150, 20, 20, 0.4, 3), "five": fiveClasses(200, 3)} {
		for _, balance := range []string{"mean", "labels"} {
			r, k := runOf(t, data, gradientOptions(func(o *method.Options) { o.Balance = balance }))
			r.Costs.Admit(k)
			free := belief.NewFree(k, r.Costs, 1)
			free.Enter(1)
			w := slices.Clone(free.Weights)
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

// As far as few rows do not tell where the intercept is, it is that of the supervised classifier, of the same loss.
func TestTheInterceptOfTheGradientMethodBesideFewRows(t *testing.T) {
	data := planted.Topics(38, 300, 20, 0.8, 5) // of fewer unlabeled rows than labels no mean score is held
	o := gradientOptions(func(o *method.Options) { o.ClassPrior.Shares, o.Tol = data.Shares(), 1e-8 })
	intercept := func(tells float64) float64 {
		d := dataOf(t, problemOf(data), o)
		d.tells = tells
		found, err := learn(d)
		if err == nil {
			err = found.moveForNewRows()
		}
		if err != nil {
			t.Fatal(err)
		}
		return found.Model.Intercept[0]
	}
	all := intercept(1)
	o.UnlabeledWeight = 0
	supervised := mustFit(t, data, nil, o).Model.Intercept[0]
	if o.UnlabeledWeight = plainOptions().UnlabeledWeight; math.Abs(all-supervised) < 0.01 {
		t.Fatalf("intercepts %v and %v are too near for this test", all, supervised)
	}
	for _, tells := range []float64{0, 0.1, 0.5} {
		if got, want := intercept(tells), tells*all+(1-tells)*supervised; math.Abs(got-want) > 1e-5 {
			t.Errorf("%v: intercept %v, should be %v", tells, got, want)
		}
	}
}

// Of rows that decide little the mean score is no share, and what they owe to themselves is that of the solution, not of
// the scores with the threshold moved: these may all lie where the loss is flat.
func TestFewRowsByTheGradientMethod(t *testing.T) {
	for _, few := range []bool{true, false} {
		data := planted.Topics(1200, 300, 20, 0.8, 5)
		o := gradientOptions(func(o *method.Options) {
			o.ClassPrior.Shares, o.UnlabeledWeight = data.Shares(), option.AutoWeight
		})
		p := problemOf(data)
		if few {
			p = partOf(t, p, numbers(150))
		}
		d := dataOf(t, p, o)
		found, err := learn(d)
		if err != nil {
			t.Fatal(err)
		}
		if d.objective(d.sample.Job, found.spec).Centered == few {
			t.Errorf("%v few rows: the mean score is held at %v", few, d.prior.Shares)
		}
		if len(found.moved) != 1 {
			t.Fatalf("few rows: %v, the threshold moves by %v", few, found.moved)
		}
		checkOwnParts(t, found, func(z float64) float64 {
			z -= found.moved[0]
			_, _, _, slope := marginLosses(math.Abs(z))
			return math.Copysign(-slope, z)
		})
	}
}

// marginLosses are ℓ(t) and u(t) with their slopes, written from the papers' figures and not from package loss.
func marginLosses(t float64) (labeled, labeledSlope, unlabeled, unlabeledSlope float64) {
	switch {
	case t < 0.7:
		labeled, labeledSlope = 1-t, -1
	case t < 1.3:
		labeled, labeledSlope = (1.3-t)*(1.3-t)/1.2, -(1.3-t)/0.6
	}
	switch {
	case t < 0.4:
		unlabeled = 1
	case t < 0.7:
		unlabeled, unlabeledSlope = 1-2*math.Pow((t-0.4)/0.6, 2), -4*(t-0.4)/0.36
	case t < 1:
		unlabeled, unlabeledSlope = 2*math.Pow((1-t)/0.6, 2), -4*(1-t)/0.36
	}
	return labeled, labeledSlope, unlabeled, unlabeledSlope
}

// recomputed is F of a model from dense rows of unit length, and |its gradient|² / 2α; see fromRows.
func recomputed(data planted.Data, m *model.Linear, o method.Options) (value, gap float64) {
	w := append(slices.Clone(m.Coef), m.Intercept...)
	gradient := make([]float64, len(w))
	value = fromRows(data, o, w, gradient)
	for _, g := range gradient {
		gap += g * g / (2 * o.Alpha)
	}
	return value, gap
}

// fromRows is F of weights, the outputs of a feature side by side, and puts the gradient into dst unless that is nil;
// balance labels, where the intercepts are weights of a constant feature, the last one.
func fromRows(data planted.Data, o method.Options, w, dst []float64) (value float64) {
	d := len(data.Dense[0])
	k := len(w) / (d + 1)
	for j, v := range w {
		value += o.Alpha / 2 * v * v
		if dst != nil {
			dst[j] = o.Alpha * v
		}
	}
	labeled := 0.0
	for _, y := range data.Labels {
		if y >= 0 {
			labeled++
		}
	}
	for i, row := range data.Dense {
		scores := slices.Clone(w[d*k:])
		for j, x := range row {
			for y := range scores {
				scores[y] += x * w[j*k+y]
			}
		}
		weight := 1 / labeled
		if data.Labels[i] < 0 {
			weight = o.UnlabeledWeight / (float64(len(data.Labels)) - labeled)
		}
		margin, along := marginOf(scores, data.Labels[i])
		l, ls, u, us := marginLosses(margin)
		if data.Labels[i] < 0 {
			l, ls = u, us
		}
		value += weight * l
		for j, x := range append(slices.Clone(row), 1) {
			for y, g := range along {
				if dst != nil {
					dst[j*k+y] += x * weight * ls * g
				}
			}
		}
	}
	return value
}

// marginOf is the margin of class y, or of the best class where y is -1, and its derivative by the scores.
func marginOf(scores []float64, y int32) (margin float64, along []float64) {
	if len(scores) == 1 {
		sign := math.Copysign(1, scores[0])
		if y >= 0 {
			sign = float64(2*y - 1)
		}
		return sign * scores[0], []float64{sign}
	}
	if y < 0 {
		for c, s := range scores {
			if y < 0 || s > scores[y] {
				y = int32(c)
			}
		}
	}
	sum := 0.0
	along = make([]float64, len(scores))
	for c, s := range scores {
		if int32(c) != y {
			along[c] = -math.Exp(10 * s)
			sum -= along[c]
		}
	}
	for c := range along {
		along[c] /= sum
	}
	along[y] = 1
	return scores[y] - math.Log(sum)/10, along
}

func TestGradientMethodEndsWhereTheGradientIsShort(t *testing.T) {
	for name, data := range map[string]planted.Data{"two": planted.Topics(300, 40, 20, 0.4, 3), "five": fiveClasses(300, 3)} {
		for _, weight := range []float64{0, 1} {
			o := gradientOptions(func(o *method.Options) { o.Balance, o.Tol, o.UnlabeledWeight = "labels", 1e-8, weight })
			fitted := mustFit(t, data, nil, o)
			value, gap := recomputed(data, fitted.Model, o)
			if math.Abs(value-fitted.Model.Objective) > 1e-9*value || !(gap <= 1.001*o.Tol*value) {
				t.Errorf("%s, unlabeled_weight %v: objective %v, recomputed %v, |gradient|² / 2 alpha is %v of it (%s)", name,
					weight, fitted.Model.Objective, value, gap/value, fitted.Model.Termination)
			}
		}
	}
}

// mistakes counts the rows that get another label than their true one.
func mistakes(r *Result, data planted.Data) (n int) {
	for i, label := range r.Transduction {
		if int(label) != int(data.Truth[i]) {
			n++
		}
	}
	return n
}
