package fit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

const (
	calibratedRows = 5 * 1500 // unlabeled rows of the five fits together
	calibratedTol  = 1e-3     // smallest tolerance of these fits: T does not need the last digits of scores
	agreedRows     = 6.0      // c
	growth         = 0.6      // g
	fewRows        = 20       // unlabeled rows; with fewer, T = T' is that of the labeled rows held out
	openShare      = 0.15     // what a may be off by without a warning
	unlike         = 0.25     // part of the rows in which the fits differ from the classifier that a may be off by
)

// calibrate finds the temperatures of probabilities, or warns that there are none.
//
//	Problem  probabilities are on average as large as the share a of the rows whose class is found: by the temperature
//	         T for new rows, by T' for the unlabeled rows of the fit, which has pushed their scores off the boundary
//	Method   cross-fitting: five fits with the class shares of the fit, each without a fifth of the labels and on a fifth
//	         of the unlabeled rows, score the labeled rows held out, the unlabeled rows of their own, and those of the
//	         next fit. Labels held out are weighted to the class shares, as much as h rows of weight 1
//	         1. a is the share of the labels held out that are found, and counts h; the share of the rows of the next fit
//	            in which a fit agrees with the classifier counts c √h. Half a row at least is not found
//	         2. T' gives the unlabeled rows, by the classifier, the mean a of their largest probability
//	         3. T = T' (t / t')^((m/n)^g): t gives that mean to the rows of the next fit, t' to its own. A fit has m of n
//	            rows, and the more there are, the less does each one push its own score
//	Source   ours; one temperature for all classes: Guo, Pleiss, Sun & Weinberger 2017. Measured, with what was
//	         rejected, in docs/notes/calibration.md
//	Cost     at most about one more fit, and three searches for temperatures
func calibrate(result *fitted) {
	s := result.data.sample
	if s.Constant() {
		result.Calibration = &Calibration{Temperature: 1}
		return
	}
	split, next := crossfit.NewSplit(s, calibratedRows), &nextRows{Scored: crossfit.Scored{Views: make([][]float64, 1)}}
	held, err := crossfit.HeldOut(s, &split, 1, func(f *crossfit.Fold) ([][]float64, error) {
		return next.score(result, f)
	})
	failed := warning.CalibrationFailed.Of()
	switch {
	case split.Folds == 0:
		result.warn(failed.And(": no class has two different labeled rows. Label more rows"))
	case err != nil:
		result.warn(failed.And(": " + err.Error()))
	case s.Job.Stopped(): // so were the further fits, after a step
		result.warn(failed.And(": the fit was stopped"))
	default:
		result.setTemperatures(&split, held, next)
	}
}

// nextRows are the unlabeled rows of the fit after each of the five, with scores by that one.
type nextRows struct {
	crossfit.Scored
	places []int // in Split.Unlabeled
}

// score scores the rows of a fold by the fit without its labels, and keeps scores of the rows of the next one.
func (next *nextRows) score(result *fitted, f *crossfit.Fold) ([][]float64, error) {
	d, s, split, rows := result.data, result.data.sample, f.Split, slices.Clone(f.Rows)
	for k, place := range split.Unlabeled {
		if split.Chosen[k] == (f.Number+1)%split.Folds {
			next.places, next.Weight = append(next.places, k), append(next.Weight, s.UnlabeledRows[place])
			rows = append(rows, s.Unlabeled[place])
		}
	}
	part, err := d.of(s.Keep(f.Held, f.Chosen), d.options, s.Job.Silent())
	if err != nil {
		return nil, err
	}
	part.name = "calibrate"
	tol := max(d.options.Tol, calibratedTol)
	without, err := part.Train(Member{tol: tol})
	if err != nil {
		return nil, err
	}
	if result.CommitteeWeight > 0 {
		views, err := part.views(result.CommitteeWeight, tol, true)
		if err == nil {
			err = without.join(views, result.CommitteeWeight, tol)
		}
		if err != nil {
			return nil, err
		}
	}
	scores, err := d.scoresOf(without.Model, s.Rows.Selected(s.Job.Pool, rows))
	if err != nil {
		return nil, err
	}
	cut := len(f.Rows) * s.Classes()
	next.Views[0] = append(next.Views[0], scores[cut:]...)
	return [][]float64{scores[:cut]}, nil
}

// agreement is the share of the rows for which the scores [Split.Unlabeled, K] of the classifier have the same class.
func (next *nextRows) agreement(scores []float64, classes int) float64 {
	agreed, total := 0.0, 0.0
	for i, k := range next.places {
		total += next.Weight[i]
		if vector.Largest(next.Views[0][i*classes:][:classes]) == vector.Largest(scores[k*classes:][:classes]) {
			agreed += next.Weight[i]
		}
	}
	return agreed / total
}

// setTemperatures sets the temperatures and the probabilities of the rows of the fit, from scores by the five fits.
func (r *fitted) setTemperatures(split *crossfit.Split, held *crossfit.Scores, next *nextRows) {
	d, s, k := r.data, r.data.sample, held.Classes
	h, labels := balance(held, d.prior.Shares), vector.Sum(held.Held.Weight)
	right, e := 1-held.Wrong(held.Held.Views[0])/labels, smoothing(labels, k)
	scores, rows, many := d.decisions(s.Packed(r.Model)).of(s.Unlabeled), held.Held, len(split.Unlabeled) >= fewRows
	agreed, c := 1.0, 0.0
	if many {
		rows = crossfit.Scored{Views: make([][]float64, 1)}
		for _, j := range split.Unlabeled {
			rows.Views[0] = append(rows.Views[0], scores[j*k:(j+1)*k]...)
			rows.Weight = append(rows.Weight, s.UnlabeledRows[j])
		}
		agreed, c = next.agreement(rows.Views[0], k), agreedRows*math.Sqrt(h)
	}
	// a is open by two standard errors of the labels found, with two more of each kind (Agresti & Coull 1998), and by
	// what the fits may be worse than the classifier
	share := (h*right + 2) / (h + 4)
	if off := 2*math.Sqrt(share*(1-share)/(h+4)) + unlike*(1-agreed); off > openShare {
		r.warn(warning.Calibration.Of(float64(len(held.Class)), 100*off))
	}
	right = min((h*right+c*agreed)/(h+c), 1-0.5/(h+c))
	of := func(rows crossfit.Scored) float64 {
		return temperature(s.Job, rows, k, right, d.options.Loss.Spec().Temperature)
	}
	ofFit, excess := of(rows), 1.0
	if many && s.Transductive() {
		part := float64(len(split.Unlabeled)) / float64(split.Folds*len(s.Unlabeled))
		excess = math.Pow(of(next.Scored)/of(held.Unlabeled), math.Pow(part, growth))
	}
	r.Calibration = &Calibration{HeldOut: len(held.Class), Temperature: ofFit * excess, Smoothing: e}
	r.Distributions = distributions(d, probabilities(s, scores, ofFit, e))
}

// probabilities makes probabilities of the unlabeled rows of their scores [unlabeled, K].
func probabilities(s *sample.Sample, scores []float64, t, e float64) []float64 {
	k := s.Classes()
	s.Job.Every(len(s.Unlabeled), func(j int) {
		row := scores[j*k : (j+1)*k]
		probability(row, row, t, e)
		s.Weak.Of(j).Restrict(row)
	})
	return scores
}

// balance reweights the rows held out to the class shares; h rows of equal weight say as much.
func balance(held *crossfit.Scores, shares []float64) (h float64) {
	weight := held.Held.Weight
	totals, before, after, squares := make([]float64, len(shares)), vector.Sum(weight), 0.0, 0.0
	for i, y := range held.Class {
		totals[y] += weight[i]
	}
	for i, y := range held.Class {
		factor := shares[y] / totals[y]
		squares += factor * factor * weight[i]
		weight[i] *= factor
		after += weight[i]
	}
	vector.Scale(weight, before/after)
	return after * after / squares
}

// temperature finds T at which rows have a given mean of their largest probability.
//
//	Problem  Σ_i w_i max_y p_i(y) = right Σ_i w_i, with p_i = softmax(s_i/T) of the scores s_i [K]
//	Symbols  w_i weight of row i; right the share of these rows whose class is found
//	Stops    halving log T within reach of that of the usual temperature, to 1e-10; at an end where no T gives the share
//	Cost     38 passes over the scores
func temperature(job *work.Job, rows crossfit.Scored, classes int, right, usual float64) float64 {
	low, high, total := -reach, reach, vector.Sum(rows.Weight)
	for high-low > 1e-10 {
		middle := (low + high) / 2
		if confidence(job, rows, classes, usual*math.Exp(middle)) > right*total {
			low = middle
		} else {
			high = middle
		}
	}
	return usual * math.Exp((low+high)/2)
}

const (
	reach     = 12.0
	extraRows = 0.2 // rows of each class that smoothing adds
)

// smoothing is e = cK / (l + cK): c = extraRows of each class are added to l rows (Platt 1999, section 2.2).
func smoothing(rows float64, classes int) float64 {
	extra := extraRows * float64(classes)
	return extra / (rows + extra)
}

// confidence is Σ w max p.
func confidence(job *work.Job, rows crossfit.Scored, classes int, t float64) float64 {
	var total [1]float64
	job.SumRows(len(rows.Weight), classes, total[:], func(i int, part, odds []float64) {
		scores := rows.Views[0][i*classes : (i+1)*classes]
		largest := vector.Max(scores)
		for y, s := range scores {
			odds[y] = (s - largest) / t
		}
		vector.Exp(odds)
		part[0] += rows.Weight[i] / vector.Sum(odds)
	})
	return total[0]
}

// probability sets p [K] to the probabilities (1 - e) softmax(s/T) + e/K of scores s [K].
func probability(p, s []float64, t, e float64) {
	for y, score := range s {
		p[y] = score / t
	}
	vector.Softmax(p, p)
	for y := range p {
		p[y] = (1-e)*p[y] + e/float64(len(p))
	}
}
