package fit

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// learnTwice fits, and again where rows are weakly labeled.
//
//	Problem  that of the method, with a copy of each row of enough information as a labeled row. Its class is the
//	         likeliest by the first fit and the prior costs, softmax(s_j/T) exp(-κ_j), its weight its information, see
//	         weak.Row. The rows themselves are unlabeled, with prior costs. The first fit has copies of rows that are
//	         nearly certain. Each fit estimates the shares from its labels and copies
//	Symbols  s_j class scores of a row by the first fit; T usual temperature of the loss; κ prior costs
//	Source   ours; self-training of weakly labeled rows, once. Measured in docs/notes/weak-labels.md
//	Stops    after the first fit where no row has enough information, the fit is stopped, or it is a committee without a
//	         label, whose mixture has spread what the weak labels say
//	Cost     two fits, and a copy of the rows for the second
func (d *Data) learnTwice() (*fitted, error) {
	data, err := d.certain()
	if err != nil {
		return nil, err
	}
	s := d.sample
	first, err := learn(data)
	if err != nil || !d.weaklyLabeled() || s.Job.Stopped() || s.All.Labeled == 0 && data.averages() {
		return first, err
	}
	prior, copies := d.asked.ClassPrior, informative(s, d.decisions(first.Model), d.options.Loss.Spec().Temperature)
	if s.All.Labeled == 0 {
		prior = first.data.options.ClassPrior
	} else if s.Job.Count(len(copies.Rows)) == 0 {
		return first, nil
	}
	second, err := d.withCopies(copies, prior)
	if err != nil {
		return nil, err
	}
	second.before = first.Model.Iterations
	return learn(second)
}

const (
	minInformation = 0.2  // part of a label from which on a weakly labeled row counts as labeled
	maxCopies      = 4    // of a class, times its labels
	nearlyCertain  = 0.95 // probability of a class from which on a copy is labeled in the first fit too
)

// certain are copies of the rows that are nearly certain; where no row has a label, of all in their likeliest classes.
func certain(s *sample.Sample) (c sample.Selection) {
	for k, i := range s.Unlabeled {
		row := s.Weak.Of(k)
		if s.All.Labeled == 0 {
			addLikeliest(&c, i, row.Probabilities(s.Classes()), s.UnlabeledRows[k])
		} else if class, p := row.Likeliest(); row.Known() && p >= nearlyCertain {
			c.Add(i, class, s.UnlabeledRows[k])
		}
	}
	return c
}

// addLikeliest adds the classes of more than half of the largest probability, weighted by its excess over chance.
func addLikeliest(c *sample.Selection, i int32, p []float64, rows float64) {
	k := float64(len(p))
	beyond := slices.Max(p)*k - 1
	for y, share := range p {
		if beyond > 1e-9 && share > slices.Max(p)/2 { // but for rounding
			c.Add(i, int32(y), rows*beyond/(k-1)*share)
		}
	}
}

// informative are copies of rows with enough information in the likeliest class by decisions and prior costs.
func informative(s *sample.Sample, found decisions, temperature float64) (c sample.Selection) {
	classes := s.Classes()
	costs := make([]float64, classes)
	for k, i := range s.Unlabeled {
		row := s.Weak.Of(k)
		if information := row.Information(classes); information >= minInformation {
			copy(costs, found.scores(i))
			vector.Scale(costs, -1/temperature)
			row.AddTo(costs, 1)
			vector.Scale(costs, -1)
			c.Add(i, int32(vector.Largest(costs)), information*s.UnlabeledRows[k])
		}
	}
	return c
}

// even bounds the weights of copies: in every class the same part of its labeled rows, the lower quartile of all parts,
// as rules find some classes more easily than others.
func even(c sample.Selection, s *sample.Sample) (kept sample.Selection) {
	if s.All.Labeled == 0 {
		return c
	}
	labeled, copied, parts := s.All.ClassRows, make([]float64, s.Classes()), []float64(nil)
	for k, y := range c.Class {
		copied[y] += c.Weights[k]
	}
	s.Job.Reduce(copied)
	for y, rows := range labeled {
		if rows > 0 {
			parts = append(parts, copied[y]/rows)
		}
	}
	slices.Sort(parts)
	part := min(maxCopies, parts[len(parts)/4])
	for k, y := range c.Class {
		if weight := c.Weights[k] * min(1, part*labeled[y]/copied[y]); weight > 0 {
			kept.Add(c.Rows[k], y, weight)
		}
	}
	return kept
}

// weaklyLabeled reports whether sets or probabilities of classes say something of a row.
func (d *Data) weaklyLabeled() bool { return d.sample.All.Weak && d.sample.Transductive() }

// certain is the data of the first fit: with copies of rows that are nearly certain, where rows are weakly labeled.
func (d *Data) certain() (*Data, error) {
	s := d.sample
	if !d.weaklyLabeled() {
		return d.withShares()
	}
	copies, prior := certain(s), d.asked.ClassPrior
	switch {
	case s.All.Labeled > 0:
	case s.Job.Count(len(copies.Rows)) == 0:
		return nil, sample.NoLabel(true)
	default:
		alone, err := d.withShares() // copies of rows say nothing more of the shares than the rows
		if err != nil {
			return nil, err
		}
		prior = sample.ClassPrior{Shares: alone.prior.Shares, Rule: "auto"}
	}
	return d.withCopies(copies, prior)
}

// withCopies is the data with copies of rows after the others, which are not in the result.
func (d *Data) withCopies(copies sample.Selection, prior sample.ClassPrior) (*Data, error) {
	s := d.sample
	options := d.options
	options.UnlabeledWeight, options.ClassPrior = d.asked.UnlabeledWeight, prior
	out, err := d.of(s.Every(even(copies, s)), options, s.Job)
	if err != nil {
		return nil, err
	}
	if d.start != nil {
		out.start = s.Packed(d.start)
	}
	return out.withShares()
}
