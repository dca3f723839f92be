package fit

import (
	"cmp"
	"math"

	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// committee is the mean of three classifiers that err on different rows: method auto where the class shares are
// estimated. Where no row has a label, as with keyword rules alone, it is the mean of two.
//
//	Problem  few labels leave the shares open, and a transductive classifier with wrong shares is wrong and sure of it.
//	         Without labels the shares are those of the weak labels, which say more of some classes than of others
//	Symbols  S the supervised classifier; M the mixture of all rows and labels (crossfit/mixture.go); T a transductive
//	         classifier; φ estimated shares; v = c / (c + labels a class), the weight of S and M beside T,
//	         or half of it where φ is near the shares of the labels; without labels S takes no part, as it learns the
//	         words of the rules
//	Method   1. where φ is not near these shares, T of a third of the unlabeled rows moves it to
//	            (1-v) φ + v times the shares of the classes that T + v (S + M) predicts; again, where it moved far
//	         2. T of all rows, with these shares; it begins at T of a third where there are many rows and labels
//	         3. the classifier is T + v (S + M)
//	         Each is divided by its spread, the root mean square of its centered class scores; 3. is in units of T
//	Source   ours; means of models are those of Breiman 1996 (bagging), labels from several views those of Blum &
//	         Mitchell 1998. Measured, with what was rejected, in docs/notes/committee.md
//	Stops    as the fits do; T of a third, and where φ moves T, at a tolerance of 1e-3 in place of 1e-5. T of a third
//	         ends with soft labels
//	Cost     a fit of a third of the rows, or of the eighth where many rows begin (coarse.go); 5 to 17 passes for M, up
//	         to six for spreads and predictions; S of the labeled rows
type committee struct {
	*setting
	views *model.Linear // v (S + M), as all models here of the packed rows
	v     float64
	part  *sample.Part // a part of the rows; nil: there is none yet
	third *fitted      // T of it
}

const (
	viewLabels = 4.0     // c
	sharp      = 1. / 16 // temperature, in units of the spread, of probabilities that are counted
	supported  = 0.5     // part of v where φ stays: the labels support it
	sameShares = 0.1     // total variation distance from the label shares up to which φ stays
	smallMove  = 0.05    // total variation distance of two shares
	mostMoves  = 8       // two or three with 2 labels a class, one from 5 on
	looseness  = 100     // factor on the tolerance of T up to calibratedTol, at doubtful shares
	fewLabels  = 20.0    // labeled rows; with fewer, or
	fewOfClass = 2.0     // fewer of a class in the mean, T of a third is no start
)

// warmRows is the number of unlabeled rows from which on T of a third is a good start; replaced in tests. Macro F of
// the default was .003 higher from there on (20 Newsgroups words and vectors, R8, AG News, MNIST), in .6 to .7 of the
// time, and .010 lower with fewer rows (fbis, re0). With 8 labels in all it kept one wrong start of the third in 10.
var warmRows = 1 << 12

// learn is the fit of one sample, by a committee where the shares are estimated.
func learn(x *setting, begin start) (*fitted, error) {
	if !x.averages() {
		return search(x, begin)
	}
	evidence, part := x.prior.Evidence, 1.0
	moves := evidence == nil || evidence.FromLabels(x.prior.Shares) > sameShares
	if !moves {
		part = supported
	}
	c, err := newCommittee(x, part)
	if err != nil {
		return nil, err
	}
	if begin, err = c.prepare(moves, begin); err != nil {
		return nil, err
	}
	result, err := search(c.setting, begin)
	if err != nil {
		return nil, err
	}
	c.join(result)
	result.setting.views, result.setting.options.Tol = part, x.options.Tol
	return result, nil
}

// prepare moves the shares where they may, and lets T of many rows begin at T of a part of them, which is freed then.
func (c *committee) prepare(moves bool, begin start) (start, error) {
	x := c.setting
	l := x.labelsOfClass()
	warm := begin.model == nil && x.unlabeled() >= warmRows && l >= max(fewOfClass, fewLabels/float64(x.sample.Classes()))
	var err error
	if moves {
		loose := *x
		loose.options = x.loose(looseness)
		c.setting = &loose
		err = c.settleShares()
	} else if warm {
		err = c.fitPart(x.loose(looseness))
	}
	if err == nil && warm && c.third != nil && c.third.reason.Natural() {
		begin = x.startAt(c.third, c.part)
		begin.steps = c.third.Model.Iterations
	}
	c.part, c.third = nil, nil
	return begin, err
}

// averages reports whether the result is that of a committee.
func (x *setting) averages() bool {
	return (x.prior.Evidence != nil || x.guesses()) && x.named.Compares != "" && !x.options.Loss.Spec().Free &&
		x.sample.Transductive() && !x.sample.Constant()
}

// guesses reports whether no row has a label, and the shares are those of the weak labels.
func (x *setting) guesses() bool {
	return x.weak != nil && x.weak.All.Labeled == 0 && x.options.ClassPrior.Rule == "auto"
}

// newCommittee has the views, with a part of the weight v.
func newCommittee(x *setting, part float64) (*committee, error) {
	s, job := x.sample, x.sample.Job.Silent()
	c := &committee{setting: x, v: part * viewLabels / (viewLabels + x.labelsOfClass())}
	if !x.guesses() {
		r := x.newRun(job, x.named.First(), start{}, 0)
		supervised := s.Packed(modelOf(x, r, method.FitSupervised(r), 0))
		if err := c.add("supervised", supervised, job.Visited()); err != nil {
			return nil, err
		}
	}
	before := job.Visited()
	mixture := crossfit.MixtureModel(s, job)
	if err := c.add("mixture", mixture, job.Visited()-before); err != nil {
		return nil, err
	}
	return c, nil
}

// loose are options that let T end early.
func (x *setting) loose(factor float64) method.Options {
	loose := x.options
	loose.Tol = max(loose.Tol, min(factor*loose.Tol, calibratedTol))
	return loose
}

// add adds a view.
func (c *committee) add(name string, view *model.Linear, visited int64) error {
	x, s := c.setting, c.sample
	x.trained.add(name, 1, visited, s.Pass)
	s.Job.CountAndCheck(visited)
	if err := s.CheckFinite(0, view.Coef, view.Intercept); err != nil {
		return err
	}
	if c.views == nil {
		c.views = multiple(view, 0)
	}
	if spread := x.spread(x.decisions(view)); spread > 0 {
		add(c.views, c.v/spread, view)
	}
	return nil
}

// settleShares moves the shares as long as they move far; once where no label holds them back.
func (c *committee) settleShares() error {
	for range mostMoves {
		before := c.prior.Shares
		if err := c.moveShares(); err != nil {
			return err
		}
		if c.prior.Evidence == nil || shares.Distance(c.prior.Shares, before) < smallMove {
			break
		}
	}
	return nil
}

// moveShares moves the shares to those of the classes that the views and a classifier of a part of the rows predict.
func (c *committee) moveShares() error {
	err := c.fitPart(c.options)
	if err != nil || c.third == nil || vector.Dot(c.third.Model.Coef, c.third.Model.Coef) == 0 {
		return err
	}
	x := c.setting
	predicted := x.predicted(c.with(c.third.Model))
	prior, settled := *x.prior, *x
	prior.Shares = make([]float64, len(predicted))
	for y, share := range x.prior.Shares {
		prior.Shares[y] = (1-c.v)*share + c.v*predicted[y]
	}
	settled.prior = &prior
	c.setting = &settled
	return nil
}

// fitPart fits T of a third of the rows, or of fewer if there are so many that these are enough.
func (c *committee) fitPart(options method.Options) error {
	x, job := c.setting, c.sample.Job.Silent()
	c.part, c.third = nil, nil
	draw := x.sample.Third
	if startsCoarsely(x) {
		draw = x.sample.Coarse
	}
	part, err := draw(job, x.prior.Shares, x.prior.ChosenLabels, maxGathered)
	if err != nil || part == nil || !part.Sample.Transductive() {
		return err
	}
	problem := x.problem
	problem.Start = nil // it has features that the part has not
	small, err := newSetting(part.Sample, problem, options, x.trained)
	if err != nil {
		return err
	}
	small.weak, small.soft, c.part = x.weak, true, part
	c.third, err = run(small, small.sample.Job, start{}, 0)
	x.sample.Job.CountAndCheck(small.sample.Job.Visited())
	return err
}

// with is the mean of the views and a transductive classifier, in units of this one.
func (c *committee) with(transductive *model.Linear) *model.Linear {
	mean := multiple(transductive, 1)
	add(mean, c.spread(c.decisions(transductive)), c.views)
	return mean
}

// join makes the result that of the committee.
func (c *committee) join(result *fitted) {
	s, mean := c.sample, c.with(c.sample.Packed(result.Model))
	s.Unpack(mean, result.Model.Coef)
	result.Model.Intercept = mean.Intercept
	all := c.decisions(mean)
	result.Transduction = transduced(s, func(dst []float64, i int32) { copy(dst, all.scores(i)) })
	if result.Distributions != nil {
		harden(s, result.Distributions, result.Transduction)
	}
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

// decisions are those of a classifier for all rows.
type decisions struct {
	values  []float64 // [n, outputs]
	outputs int
}

func (x *setting) decisions(m *model.Linear) decisions {
	s := x.sample
	out := decisions{make([]float64, s.Rows.Rows()*m.Outputs), m.Outputs}
	s.Rows.Decisions(s.Job.Pool, rows.Weights{Coef: m.Coef, Intercept: m.Intercept, ByFeature: true}, out.values)
	s.Job.CountAndCheck(int64(s.Rows.NonZeros()))
	return out
}

// decided are those of a classifier of the problem's rows.
func decided(m *model.Linear, s *sample.Sample, rows *rows.Matrix) (decisions, error) {
	out := decisions{make([]float64, rows.Rows()*m.Outputs), m.Outputs}
	return out, m.Decisions(s.Job.Pool, rows, out.values)
}

// scores are the class scores of a row.
func (d decisions) scores(row int32) []float64 {
	i := int(row)
	if d.outputs == 1 {
		return []float64{-d.values[i] / 2, d.values[i] / 2}
	}
	return d.values[i*d.outputs : (i+1)*d.outputs]
}

// spread is the root mean square of the centered class scores of the unlabeled rows.
func (x *setting) spread(d decisions) float64 {
	return math.Sqrt(x.mean(d, 1, func(sum []float64, weight float64, _ int, scores []float64) {
		center := vector.Sum(scores) / float64(len(scores))
		for _, score := range scores {
			sum[0] += weight * (score - center) * (score - center)
		}
	})[0])
}

// predicted are the shares of the classes that a model predicts for the unlabeled rows: mean probabilities, as counts
// of classes would jump where scores change in their last digits.
func (x *setting) predicted(m *model.Linear) []float64 {
	d := x.decisions(m)
	spread := x.spread(d)
	if spread == 0 { // it tells no class from another
		return x.prior.Shares
	}
	return x.mean(d, x.sample.Classes(), func(sum []float64, weight float64, k int, scores []float64) {
		p := make([]float64, len(scores))
		vector.Add(p, -1/(sharp*spread), scores)
		x.sample.Weak.Of(k).AddTo(p, 1)
		vector.Scale(p, -1)
		vector.Softmax(p, p)
		vector.Add(sum, weight, p)
	})
}

// mean is the mean [n] over the unlabeled rows of what add adds for the class scores of row k.
func (x *setting) mean(
	d decisions, n int, add func(sum []float64, weight float64, k int, scores []float64),
) []float64 {
	s, sum := x.sample, make([]float64, n)
	s.Job.Sum(len(s.Unlabeled), sum, func(lo, hi int, part []float64) {
		for k := lo; k < hi; k++ {
			add(part, s.UnlabeledWeight[k], k, d.scores(s.Unlabeled[k]))
		}
	})
	return sum
}

// labelsOfClass is the mean number of labels of a class; copies of weakly labeled rows are no labels.
func (x *setting) labelsOfClass() float64 {
	s := cmp.Or(x.weak, x.sample)
	return labeled(s) / float64(s.Classes())
}

// labeled is the number of labeled rows of all machines, or of the copies that their weights stand for.
func labeled(s *sample.Sample) float64 {
	if s.Copies != nil {
		return float64(s.Job.Count(int(vector.Sum(s.LabeledRows))))
	}
	return float64(s.All.Labeled)
}
