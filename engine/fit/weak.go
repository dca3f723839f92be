package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// weak fits again where rows are weakly labeled.
//
//	Problem  that of the method, with a copy of each row of enough information as a labeled row. Its class is the
//	         likeliest by the first fit and the prior costs, softmax(s_j/T) exp(-κ_j), its weight is its information, see
//	         weak.Row. The rows themselves are unlabeled, with prior costs. In the first fit copies of rows that are
//	         nearly certain count as labeled
//	Symbols  s_j class scores of a row by the first fit; T usual temperature of the loss; κ prior costs
//	Source   ours; self-training of weakly labeled rows, once. Measured in docs/notes/weak-labels.md
//	Stops    after the first fit where no row has enough information, the fit is stopped, or it is a committee without a
//	         label, whose mixture has spread what the weak labels say
//	Cost     two fits, and a copy of the rows for the second
func weak(first *fitted) (*fitted, error) {
	x := first.setting
	s := x.weak
	if s == nil || s.Job.Stopped() || s.All.Labeled == 0 && x.views > 0 {
		return first, nil
	}
	enough := 0
	for k := range s.Unlabeled {
		if s.Weak.Of(k).Information(s.Classes()) >= minInformation {
			enough++
		}
	}
	if s.All.Labeled > 0 && s.Job.Count(enough) == 0 { // the second fit would be the first
		return first, nil
	}
	found, err := decided(first.Model, s, x.problem.Rows)
	if err != nil {
		return nil, err
	}
	second, err := x.withCopies(informative(s, found, x.options.Loss.Spec().Temperature))
	if err != nil {
		return nil, err
	}
	second.before = first.Model.Iterations
	return learn(second, start{model: x.problem.Start})
}

// A weakly labeled row counts as labeled from minInformation of a label on; per class at most maxCopies times its
// labels. Every class counts in equal proportion, as rules find some classes more easily than others.
const (
	minInformation = 0.2
	maxCopies      = 4
	nearlyCertain  = 0.95 // probability of a class from which on a copy is labeled in the first fit too
)

// classed are rows with a class and a weight each.
type classed struct {
	rows    []int32
	class   []int32   // [rows]
	weights []float64 // [rows] in rows
}

func (c *classed) add(row, class int32, weight float64) {
	c.rows, c.class, c.weights = append(c.rows, row), append(c.class, class), append(c.weights, weight)
}

// certain are copies of the rows that are nearly certain; where no row has a label, copies of all weakly labeled rows
// with each of their likeliest classes.
func certain(s *sample.Sample) (c classed) {
	for k, i := range s.Unlabeled {
		row := s.Weak.Of(k)
		if s.All.Labeled == 0 {
			c.addLikeliest(i, row.Probabilities(s.Classes()), s.UnlabeledRows[k])
		} else if class, p := row.Likeliest(); row.Known() && p >= nearlyCertain {
			c.add(i, class, s.UnlabeledRows[k])
		}
	}
	return c.even(s)
}

// addLikeliest adds the classes of more than half of the largest probability, weighted by its excess over chance.
func (c *classed) addLikeliest(i int32, p []float64, rows float64) {
	k := float64(len(p))
	beyond := slices.Max(p)*k - 1
	for y, share := range p {
		if beyond > 1e-9 && share > slices.Max(p)/2 { // but for rounding
			c.add(i, int32(y), rows*beyond/(k-1)*share)
		}
	}
}

// informative are copies of rows with enough information in the likeliest class by decisions and prior costs.
func informative(s *sample.Sample, found decisions, temperature float64) (c classed) {
	classes := s.Classes()
	costs := make([]float64, classes)
	for k, i := range s.Unlabeled {
		row := s.Weak.Of(k)
		if information := row.Information(classes); information >= minInformation {
			copy(costs, found.scores(i))
			vector.Scale(costs, -1/temperature)
			row.AddTo(costs, 1)
			vector.Scale(costs, -1)
			c.add(i, int32(vector.Largest(costs)), information*s.UnlabeledRows[k])
		}
	}
	return c.even(s)
}

// even bounds the weights of copies: in every class the same part of its labeled rows, the lower quartile of all parts.
func (c classed) even(s *sample.Sample) (kept classed) {
	if s.All.Labeled == 0 {
		return c
	}
	classes := s.Classes()
	sums := append(s.ClassRows(), make([]float64, classes)...) // rows: labeled, copies
	for k, y := range c.class {
		sums[classes+int(y)] += c.weights[k]
	}
	s.Job.Reduce(sums)
	labeled, copied, parts := sums[:classes], sums[classes:], []float64(nil)
	for y, rows := range labeled {
		if rows > 0 {
			parts = append(parts, copied[y]/rows)
		}
	}
	slices.Sort(parts)
	part := min(maxCopies, parts[len(parts)/4])
	for k, y := range c.class {
		if weight := c.weights[k] * min(1, part*labeled[y]/copied[y]); weight > 0 {
			kept.add(c.rows[k], y, weight)
		}
	}
	return kept
}

// openWeak is the setting of the first fit of a sample with weakly labeled rows.
func openWeak(s *sample.Sample, p sample.Problem, options method.Options) (*setting, error) {
	if s.All.Labeled == 0 && options.ClassPrior.Shares == nil { // copies are no evidence of shares
		prior, err := shares.Find(s)
		if err != nil {
			return nil, err
		}
		options.ClassPrior.Shares = prior.Shares
	}
	const growing = 3 // numbers, classes and weights of copies while their lists grow, in labels
	if err := memory.Need(growing*s.Weak.Bytes(), "a copy of the weakly labeled rows", fewerRows); err != nil {
		return nil, err
	}
	x := &setting{problem: p, options: options, weak: s, trained: &record{}}
	first := certain(s)
	switch number := s.Job.Count(len(first.rows)); {
	case number > 0:
		return x.withCopies(first)
	case s.All.Labeled == 0:
		return nil, sample.NoLabel(true)
	}
	return x.forSample(s)
}

// forSample is the setting of a sample of the same problem.
func (x *setting) forSample(s *sample.Sample) (*setting, error) {
	y, err := newSetting(s, x.problem, x.options, x.trained)
	if err == nil {
		y.weak = x.weak
	}
	return y, err
}

const fewerRows = "give fewer rows, or use a machine with more memory"

// withCopies is the setting of the same problem with copies of rows after the others, which are not in the result.
func (x *setting) withCopies(c classed) (*setting, error) {
	p, job := x.problem, x.weak.Job
	n := p.Rows.Rows()
	bytes := p.Rows.SelectedBytes(float64(p.Rows.NonZeros() + p.Rows.Subset(c.rows).NonZeros()))
	if err := memory.Need(bytes, "a copy of the weakly labeled rows", fewerRows); err != nil {
		return nil, err
	}
	all := p.Rows.All().Rows()
	if p.Weights == nil {
		p.Weights = slices.Repeat([]float64{1}, n)
	}
	p.Copies = x.weak.Copies != nil // also with weights of parts of rows
	p.Rows, p.Prepared = p.Rows.Selected(job.Pool, slices.Concat(all, c.rows)), nil
	p.Labels, p.Weights = slices.Concat(p.Labels, c.class), slices.Concat(p.Weights, c.weights)
	p.Weak = p.Weak.Selected(slices.Concat(all, slices.Repeat([]int32{-1}, len(c.rows))))
	s, err := sample.New(p, x.options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	return x.forSample(s)
}
