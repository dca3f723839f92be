package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// average learns the mean of three classifiers that err on different rows: method auto where the class shares are
// estimated. Where no row has a label, as with keyword rules or descriptions alone, it is the mean of two.
//
//	Problem  few labels leave the shares open, and a transductive classifier with wrong shares is wrong and sure of it.
//	         Without labels the shares are those of the weak labels, which say more of some classes than of others,
//	         or those that M predicts where there are descriptions alone: these stay
//	Symbols  S the supervised classifier; M the mixture of all rows and labels (method/mixture.go); T a transductive
//	         classifier; φ estimated shares; v = c / (c + labels a class), the weight of S and M beside T,
//	         or half of it where φ is near the shares of the labels. S takes no part without labels, as it learns the
//	         words of the rules. Where all classes have descriptions M stands for S as well, with 2 v, and v is not
//	         halved: S gives classes with labels the rows that no description reaches, and joins in 3. alone, with v/2.
//	         From 2. on the shares of M are then φ; u = min(1, unlabeled rows / c' labels), what M and the predicted
//	         shares count: few rows tell more of chance than of classes
//	Method   1. where φ is not near these shares, T of a third of the unlabeled rows moves it to
//	            (1-uv) φ + uv times the shares of the classes that T + v (S + u M) predicts; again, where it moved far
//	         2. T of all rows, with these shares; it begins at T of a third where there are many rows and labels
//	         3. the classifier is T + v (S + u M)
//	         Each is divided by its spread, the root mean square of its centered class scores; 3. is in units of T
//	Source   ours; means of models are those of Breiman 1996 (bagging), labels from several views those of Blum &
//	         Mitchell 1998. Measured, with what was rejected, in docs/notes/committee.md
//	Stops    as the fits do; T of a third, and where φ moves T, at a tolerance of 1e-3 in place of 1e-5. T of a third
//	         ends with soft labels
//	Cost     a fit of a third of the rows, or of the eighth where many rows begin (coarse.go); 5 to 17 passes for M;
//	         up to six for spreads and predictions; S of the labeled rows
func average(d *Data) (*fitted, error) {
	v, tol, begin := viewLabels/(viewLabels+d.labels), d.options.Tol, start{model: d.start}
	evidence := d.prior.Evidence
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
	} else {
		part, err = coarse(d, d.parts(), Member{tol: d.loose(looseness), soft: true, silent: true})
	}
	if err != nil {
		return nil, err
	}
	if begin.model == nil && len(d.parts()) > 0 {
		begin = d.startAt(part)
	}
	result, err := search(d, Member{begin: begin, tol: tol})
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
	return (d.prior.Evidence != nil || d.guesses()) && d.named.Compares != "" && !d.options.Loss.Spec().Free &&
		d.sample.Transductive() && !d.sample.Constant()
}

// guesses reports whether no row has a label, or descriptions alone, and the shares are those of weak labels or M.
func (d *Data) guesses() bool {
	return d.labels == 0 && d.asked.ClassPrior.Rule == "auto" || d.onlyDescribed()
}

// views are v (S + u M), v u M or 2 v u M, as a model of the packed rows. With descriptions M has the shares once they
// are settled.
func (d *Data) views(v, tol float64, settled bool) (*model.Linear, error) {
	mixture := Member{method: method.Mixture, weight: v * d.tells, settled: settled && d.sample.All.AllDescribed}
	switch {
	case d.sample.All.AllDescribed:
		mixture.weight *= 2
		return d.sum(tol, mixture)
	case d.guesses():
		return d.sum(tol, mixture)
	}
	return d.sum(tol, Member{method: method.Supervised, weight: v}, mixture)
}

// sum is that of members, each divided by its spread and times its weight.
func (d *Data) sum(tol float64, members ...Member) (sum *model.Linear, err error) {
	for _, m := range members {
		view := d.mixture
		if m.method != method.Mixture || view == nil {
			m.tol, m.silent = tol, true
			if view, err = d.Train(m); err != nil {
				return nil, err
			}
		}
		packed := d.sample.Packed(view.Model)
		if sum == nil {
			sum = multiple(packed, 0)
		}
		if spread := d.spread(d.decisions(packed)); spread > 0 {
			add(sum, m.weight/spread, packed)
		}
	}
	return sum, nil
}

// loose is a tolerance at which a fit ends early.
func (d *Data) loose(factor float64) float64 {
	return max(d.options.Tol, min(factor*d.options.Tol, calibratedTol))
}

// settleShares moves the shares to those of the classes that the views and T of a part of the rows predict, as long as
// they move far; once where no label holds them back. v is the weight of the latter. It returns the data with these
// shares, and the last such T.
func (d *Data) settleShares(views *model.Linear, v float64) (settled *Data, part *fitted, err error) {
	fractions := d.parts()
	if len(fractions) == 0 {
		fractions = []uint64{third}
	}
	for range mostMoves {
		part, err = coarse(d, fractions, Member{tol: d.loose(looseness), soft: true, silent: true})
		if err != nil || part == nil || vector.Dot(part.Model.Coef, part.Model.Coef) == 0 {
			return d, part, err
		}
		mean, moved := d.mean(part.Model, d.decisions(part.Model), views), make([]float64, len(d.prior.Shares))
		predicted := d.predicted(mean)
		for y, share := range d.prior.Shares {
			moved[y] = (1-v)*share + v*predicted[y]
		}
		near := shares.Distance(moved, d.prior.Shares) < smallMove
		other := *d
		other.prior = d.prior.With(moved)
		if d = &other; near || d.prior.Evidence == nil {
			break
		}
	}
	return d, part, nil
}

// mean is that of a transductive classifier, with these scores, and the views, in its units.
func (d *Data) mean(transductive *model.Linear, scores decisions, views *model.Linear) *model.Linear {
	mean := multiple(transductive, 1)
	add(mean, d.spread(scores), views)
	return mean
}

// join makes the result that of the committee.
func (f *fitted) join(views *model.Linear, v, tol float64) error {
	d, s := f.data, f.data.sample
	if s.All.AllDescribed && !d.onlyDescribed() {
		supervised, err := d.sum(tol, Member{method: method.Supervised, weight: supported * v})
		if err != nil {
			return err
		}
		add(views, 1, supervised)
	}
	transductive := s.Packed(f.Model)
	scores := d.decisions(transductive)
	f.own = f.ownParts(scores)
	mean := d.mean(transductive, scores, views)
	s.Unpack(mean, f.Model.Coef)
	f.Model.Intercept, f.CommitteeWeight = mean.Intercept, v
	f.relabel(d.decisions(mean))
	if f.Distributions != nil {
		harden(s, f.Distributions, f.Transduction)
	}
	return nil
}

// multiple is a model times a factor.
func multiple(m *model.Linear, factor float64) *model.Linear {
	out := *m
	out.Coef, out.Intercept = make([]float64, len(m.Coef)), make([]float64, len(m.Intercept))
	add(&out, factor, m)
	return &out
}

// add adds a model times a factor.
func add(dst *model.Linear, factor float64, m *model.Linear) {
	vector.Add(dst.Coef, factor, m.Coef)
	vector.Add(dst.Intercept, factor, m.Intercept)
}

// spread is the root mean square of the centered class scores of the unlabeled rows.
func (d *Data) spread(of decisions) float64 {
	return math.Sqrt(d.meanOf(of, 1, func(sum []float64, weight float64, _ int, scores []float64) {
		center := vector.Sum(scores) / float64(len(scores))
		for _, score := range scores {
			sum[0] += weight * (score - center) * (score - center)
		}
	})[0])
}

// predicted are the shares of the classes that a model predicts for the unlabeled rows: mean probabilities, as counts
// of classes would jump where scores change in their last digits.
func (d *Data) predicted(m *model.Linear) []float64 {
	of := d.decisions(m)
	spread := d.spread(of)
	if spread == 0 { // it tells no class from another
		return d.prior.Shares
	}
	return d.meanOf(of, d.sample.Classes(), func(sum []float64, weight float64, k int, scores []float64) {
		p := make([]float64, len(scores))
		vector.Add(p, -1/(sharp*spread), scores)
		d.sample.Weak.Of(k).AddTo(p, 1)
		vector.Scale(p, -1)
		vector.Softmax(p, p)
		vector.Add(sum, weight, p)
	})
}

// meanOf is the mean [n] over the unlabeled rows of what add adds for the class scores of row k.
func (d *Data) meanOf(
	of decisions, n int, add func(sum []float64, weight float64, k int, scores []float64),
) []float64 {
	s, sum := d.sample, make([]float64, n)
	s.Job.Sum(len(s.Unlabeled), sum, func(lo, hi int, part []float64) {
		for k := lo; k < hi; k++ {
			add(part, s.UnlabeledWeight[k], k, of.scores(s.Unlabeled[k]))
		}
	})
	return sum
}
