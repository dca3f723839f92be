package fit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// average learns the mean of three classifiers that err on different rows: method auto where the class shares are
// estimated. Where no row has a label, as with keyword rules or descriptions alone, it is the mean of two.
//
//	Problem  few labels leave the shares open, and a transductive classifier with wrong shares is wrong and sure of it.
//	         Without labels the shares are those of the weak labels, which say more of some classes than of others; with
//	         descriptions alone they are those that M predicts, and stay
//	Symbols  S the supervised classifier; M the mixture of all rows and labels (method/mixture.go); T a transductive
//	         classifier; φ estimated shares; v = c / (c + labels a class), half of it where φ is near the shares of the
//	         labels; u = min(1, unlabeled rows / c' labels): few rows tell more of chance than of classes
//	Method   1. where φ is not near these shares, T of a third of the unlabeled rows moves it to
//	            (1-uv) φ + uv times the shares of the classes that T + v (S + u M) predicts; again, where it moved far
//	         2. T of all rows, with these shares; it begins at T of a third where there are many rows and labels
//	         3. the classifier is T + v (S + u M)
//	         Each is divided by its spread, the root mean square of its centered class scores; 3. is in units of T.
//	         Without labels there is no S, which would learn the words of the rules. Where all classes have descriptions
//	         M takes its place, with 2 v, never halved, and has the shares φ from 2. on; S joins in 3. with v/2: it gives
//	         classes with labels the rows that no description reaches
//	Source   ours; means of models are those of Breiman 1996 (bagging), labels from several views those of Blum &
//	         Mitchell 1998. Measured, with what was rejected, in docs/notes/committee.md
//	Stops    as the fits do; T of a third, which keeps soft labels, and where φ moves T of all rows, at tolerance 1e-3
//	Cost     a fit of a third of the rows, or of the eighth where many rows begin (coarse.go); 5 to 17 passes for M;
//	         up to six for spreads and predictions; S of the labeled rows
func average(d *Data) (*fitted, error) {
	v, tol, evidence := viewLabels/(viewLabels+d.labels), d.options.Tol, d.prior.Evidence
	moves := !d.onlyDescribed() && (evidence == nil || evidence.FromLabels(d.prior.Shares) > sameShares)
	if !moves && evidence != nil && !d.sample.All.AllDescribed {
		v *= supported
	}
	views, err := d.views(v, tol, !moves)
	if err != nil {
		return nil, err
	}
	var part *fitted
	if moves {
		tol = d.loose(looseness)
		if d, part, err = d.settleShares(views, v*d.tells); err == nil && d.sample.All.AllDescribed {
			views, err = d.views(v, d.options.Tol, true)
		}
	} else if d.start == nil {
		part, err = coarse(d, d.parts(), Member{tol: d.loose(looseness)})
	}
	if err != nil {
		return nil, err
	}
	result, err := search(d, Member{begin: d.startAt(part), tol: tol})
	if err != nil {
		return nil, err
	}
	return result, result.join(views, v, d.options.Tol)
}

const (
	viewLabels = 4.0     // c
	sharp      = 1. / 16 // temperature, in units of the spread, of probabilities that are counted
	supported  = 0.5     // part of v where φ stays: the labels support it; of S beside descriptions
	sameShares = 0.1     // total variation distance from the label shares up to which φ stays
	smallMove  = 0.05    // total variation distance of two shares
	tellRows   = 20.0    // c': comp., 5 labels, 10 rows: worst of four draws -.042; 10, 5: -.074 -.059; u = 1: -.268
	mostMoves  = 8       // two or three with 2 labels a class, one from 5 on
	looseness  = 100     // factor on the tolerance of T up to calibratedTol, at doubtful shares
)

// averages reports whether the result is that of a committee.
func (d *Data) averages() bool {
	return d.guessed() && d.named.Compares != "" && !d.options.Loss.Spec().Free && d.sample.Transductive() &&
		!d.sample.Constant()
}

// aside reports whether models are of a part of the rows of a committee: their labels stay soft.
func (d *Data) aside() bool { return d.averages() && d.whole > 0 }

// guessed reports whether the shares are not given: annealing then ends sooner.
func (d *Data) guessed() bool { return d.prior.Evidence != nil || d.guesses() }

// guesses reports whether no row has a label, or descriptions alone, and the shares are those of weak labels or M.
func (d *Data) guesses() bool {
	return d.labels == 0 && d.asked.ClassPrior.Rule == "auto" || d.onlyDescribed()
}

// views are v (S + u M), v u M or 2 v u M, for packed rows. With descriptions M has the shares once they are settled.
func (d *Data) views(v, tol float64, settled bool) (*model.Linear, error) {
	described := d.sample.All.AllDescribed
	mixture := Member{method: method.Mixture, weight: v * d.tells, settled: settled && described}
	if described {
		mixture.weight *= 2
	} else if !d.guesses() {
		return d.sum(tol, Member{method: method.Supervised, weight: v}, mixture)
	}
	return d.sum(tol, mixture)
}

// sum is that of members, each divided by its spread and times its weight.
func (d *Data) sum(tol float64, members ...Member) (sum *model.Linear, err error) {
	for _, m := range members {
		view := d.mixture
		if m.method != method.Mixture || view == nil {
			m.tol = tol
			if view, err = d.Train(m); err != nil {
				return nil, err
			}
		}
		packed := d.sample.Packed(view.Model)
		if sum == nil {
			sum = plus(packed, -1, packed)
		}
		if spread := d.spread(d.decisions(packed)); spread > 0 {
			sum = plus(sum, m.weight/spread, packed)
		}
	}
	return sum, nil
}

// loose is a tolerance at which a fit ends early.
func (d *Data) loose(factor float64) float64 {
	return max(d.options.Tol, min(factor*d.options.Tol, calibratedTol))
}

// settleShares moves the shares by v to those that the views and T of a part of the rows predict, as long as they move
// far; once where no label holds them back. It returns the data with these shares, and the last such T.
func (d *Data) settleShares(views *model.Linear, v float64) (settled *Data, part *fitted, err error) {
	fractions := d.parts()
	if len(fractions) == 0 {
		fractions = []uint64{third}
	}
	for range mostMoves {
		part, err = coarse(d, fractions, Member{tol: d.loose(looseness)})
		if err != nil || part == nil || vector.Dot(part.Model.Coef, part.Model.Coef) == 0 {
			return d, part, err
		}
		mean := plus(part.Model, d.spread(d.decisions(part.Model)), views) // in the units of T
		moved := d.prior.With(blend(1-v, d.prior.Shares, v, d.predicted(mean)))
		near := shares.Distance(moved.Shares, d.prior.Shares) < smallMove
		other := *d
		other.prior = moved
		if d = &other; near || d.prior.Evidence == nil {
			break
		}
	}
	return d, part, nil
}

// blend is a part of these shares and a part of others.
func blend(part float64, shares []float64, otherPart float64, others []float64) []float64 {
	sum := floats.ScaleTo(make([]float64, len(shares)), part, shares)
	vector.Add(sum, otherPart, others)
	return sum
}

// join makes the result that of the committee.
func (f *fitted) join(views *model.Linear, v, tol float64) error {
	d, s := f.data, f.data.sample
	if s.All.AllDescribed && !d.onlyDescribed() {
		supervised, err := d.sum(tol, Member{method: method.Supervised, weight: supported * v})
		if err != nil {
			return err
		}
		views = plus(views, 1, supervised)
	}
	transductive := s.Packed(f.Model)
	scores := d.decisions(transductive)
	f.own = f.ownParts(scores)
	mean := plus(transductive, d.spread(scores), views)
	s.Unpack(mean, f.Model.Coef)
	f.Model.Intercept, f.CommitteeWeight = mean.Intercept, v
	f.relabel(d.decisions(mean))
	f.harden()
	return nil
}

// plus is a model plus another one times a factor.
func plus(m *model.Linear, factor float64, other *model.Linear) *model.Linear {
	out := *m
	out.Coef = floats.AddScaledTo(make([]float64, len(m.Coef)), m.Coef, factor, other.Coef)
	out.Intercept = floats.AddScaledTo(make([]float64, len(m.Intercept)), m.Intercept, factor, other.Intercept)
	return &out
}

// spread is the root mean square of the centered class scores of the unlabeled rows.
func (d *Data) spread(of decisions) float64 {
	return math.Sqrt(d.meanOf(of, 1, func(sum []float64, weight float64, _ int, scores, _ []float64) {
		center := vector.Sum(scores) / float64(len(scores))
		for _, score := range scores {
			sum[0] += weight * (score - center) * (score - center)
		}
	})[0])
}

// predicted are the class shares of the unlabeled rows by a model: mean probabilities, as counts jump with last digits.
func (d *Data) predicted(m *model.Linear) []float64 {
	of := d.decisions(m)
	spread := d.spread(of)
	if spread == 0 { // it tells no class from another
		return d.prior.Shares
	}
	return d.meanOf(of, d.sample.Classes(), func(sum []float64, weight float64, k int, scores, p []float64) {
		floats.ScaleTo(p, -1/(sharp*spread), scores)
		d.sample.Weak.Of(k).AddTo(p, 1)
		vector.Scale(p, -1)
		vector.Softmax(p, p)
		vector.Add(sum, weight, p)
	})
}

// meanOf is the mean [n] over the unlabeled rows of what add adds for the class scores of row k; scratch [K] is room.
func (d *Data) meanOf(
	of decisions, n int, add func(sum []float64, weight float64, k int, scores, scratch []float64),
) []float64 {
	s, sum := d.sample, make([]float64, n)
	s.Job.SumRows(len(s.Unlabeled), s.Classes(), sum, func(k int, part, scratch []float64) {
		add(part, s.UnlabeledWeight[k], k, of.scores(s.Unlabeled[k]), scratch)
	})
	return sum
}
