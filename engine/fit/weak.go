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
//	Problem  that of the method, in which a copy of each row with enough information counts as a labeled row. Its class
//	         is the likeliest by what the first fit says of the row and by what is known of it, softmax(s_j/T)
//	         exp(-κ_j); its weight is its information, see weak.Row. In the first fit, opened, copies of rows that are
//	         nearly certain count as labeled. The rows themselves are unlabeled ones with prior costs in both
//	Symbols  s_j class scores of a row by the first fit; T usual temperature of the loss; κ prior costs
//	Source   ours; self-training, of weakly labeled rows, once. Measured in docs/notes/weak-labels.md
//	Stops    where no row has enough information, and after the first fit where the fit is stopped
//	Cost     two fits, and a copy of the rows for the second
func weak(first *fitted) (*fitted, error) {
	x := first.setting
	s := x.weak
	if s == nil || s.Job.Stopped() {
		return first, nil
	}
	enough := 0
	for k := range s.Unlabeled {
		if s.Weak.Of(k).Information(s.Classes()) >= leastInformation {
			enough++
		}
	}
	if s.All.Labeled > 0 && s.Job.Count(enough) == 0 { // the second fit would be the first
		return first, nil
	}
	model := first.Model
	decisions := make([]float64, s.Rows.Rows()*model.Outputs)
	if err := model.Decisions(s.Job.Pool, x.problem.Rows, decisions); err != nil {
		return nil, err
	}
	temperature := x.options.Loss.Spec().Temperature
	copies := informative(s, byClass(decisions, model.Outputs), temperature)
	again, err := x.with(copies)
	if err != nil {
		return nil, err
	}
	again.before = model.Iterations
	return search(again, from{model: x.problem.Start})
}

// leastInformation is that of a row whose copy is labeled, in parts of a label; mostCopies are the copies of a class, in
// parts of its labeled rows. Numbers of copies are no evidence of shares, as rules find rows of some classes more easily
// than of others: of each class as many count, in these parts. Measured in docs/notes/weak-labels.md.
const (
	leastInformation = 0.2
	mostCopies       = 4
	nearlyCertain    = 0.95 // probability of a class from which on a copy is labeled in the first fit too
)

// copies are copies of rows that count as labeled ones.
type copies struct {
	rows    []int32
	class   []int32   // [rows]
	weights []float64 // [rows] in rows
}

func (c *copies) add(row, class int32, weight float64) {
	c.rows, c.class, c.weights = append(c.rows, row), append(c.class, class), append(c.weights, weight)
}

// certain are copies of the rows that are nearly certain; where no row has a label, of all of which something is known,
// with each of their likeliest classes.
func certain(s *sample.Sample) (c copies) {
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

// addLikeliest adds the classes of more than half of the largest probability, by what that has beyond chance.
func (c *copies) addLikeliest(i int32, p []float64, rows float64) {
	k := float64(len(p))
	beyond := slices.Max(p)*k - 1
	for y, share := range p {
		if beyond > 1e-9 && share > slices.Max(p)/2 { // but for rounding
			c.add(i, int32(y), rows*beyond/(k-1)*share)
		}
	}
}

// informative are copies of the rows with enough information, with their likeliest classes by class scores [n, K] at a
// temperature and by what is known.
func informative(s *sample.Sample, scores []float64, temperature float64) (c copies) {
	classes := s.Classes()
	costs := make([]float64, classes)
	for k, i := range s.Unlabeled {
		row := s.Weak.Of(k)
		if information := row.Information(classes); information >= leastInformation {
			copy(costs, scores[int(i)*classes:])
			vector.Scale(costs, -1/temperature)
			row.AddTo(costs, 1)
			vector.Scale(costs, -1)
			c.add(i, int32(vector.Largest(costs)), information*s.UnlabeledRows[k])
		}
	}
	return c.even(s)
}

// even bounds the weights of copies: of each class as many, in parts of its labeled rows, as the lower quartile over the
// classes has.
func (c copies) even(s *sample.Sample) (kept copies) {
	if s.All.Labeled == 0 {
		return c
	}
	classes := s.Classes()
	sums := make([]float64, 2*classes) // rows: labeled, copies
	for k, y := range s.Class {
		sums[y] += s.LabeledRows[k]
	}
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
	part := min(mostCopies, parts[len(parts)/4])
	for k, y := range c.class {
		if weight := c.weights[k] * min(1, part*labeled[y]/copied[y]); weight > 0 {
			kept.add(c.rows[k], y, weight)
		}
	}
	return kept
}

// openWeak is the setting of the first fit of a sample with weakly labeled rows.
func openWeak(s *sample.Sample, p sample.Problem, options method.Options) (*setting, error) {
	if s.All.Labeled == 0 && options.ClassPrior.Shares == nil { // copies are no evidence
		prior, err := shares.Find(s)
		if err != nil {
			return nil, err
		}
		options.ClassPrior = sample.ClassPrior{Shares: prior.Shares, Rule: "auto"}
	}
	x := &setting{problem: p, options: options, weak: s, trained: &record{}}
	first := certain(s)
	switch number := s.Job.Count(len(first.rows)); {
	case number > 0:
		return x.with(first)
	case s.All.Labeled == 0:
		return nil, sample.NoLabel(true)
	}
	y, err := newSetting(s, p, options, x.trained)
	if err == nil {
		y.weak = s
	}
	return y, err
}

var need = memory.Need // replaced in tests

// with is the setting of the same problem with copies of rows behind the others, of which the result says nothing.
func (x *setting) with(c copies) (*setting, error) {
	p, job := x.problem, x.weak.Job
	n := p.Rows.Rows()
	nonZeros := p.Rows.NonZeros() + p.Rows.Subset(c.rows).NonZeros()
	if err := need(12*float64(nonZeros), "a copy of the weakly labeled rows", "give fewer rows, or use a machine with "+
		"more memory"); err != nil {
		return nil, err
	}
	numbers, places := make([]int32, n, n+len(c.rows)), make([]int32, n, n+len(c.rows))
	for i := range numbers {
		numbers[i], places[i] = int32(i), int32(i)
	}
	if p.Weights == nil {
		p.Weights = slices.Repeat([]float64{1}, n)
	}
	p.Copies = x.weak.Copies != nil // weights of parts of rows do not change that
	p.Rows, p.Prepared = p.Rows.Selected(job.Pool, append(numbers, c.rows...)), nil
	p.Labels, p.Weights = slices.Concat(p.Labels, c.class), slices.Concat(p.Weights, c.weights)
	p.Weak = p.Weak.Selected(append(places, slices.Repeat([]int32{-1}, len(c.rows))...))
	s, err := sample.New(p, x.options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	y, err := newSetting(s, x.problem, x.options, x.trained)
	if err == nil {
		y.weak = x.weak
	}
	return y, err
}
