// Package sample is what a fit learns from, checked and made ready: rows by kind and weights. Start at New.
package sample

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/weak"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem has the data of a fit; each machine of a group has rows of its own, perhaps none. The caller has checked the
// lengths of Labels and Weights, and Start.
type Problem struct {
	Rows     *rows.Matrix
	Labels   []int32       // [n] class 0 ... K-1; -1: unlabeled; -2-y: the row describes class y, see Describes
	Weights  []float64     // [n] weight of each row, >= 0; nil: all 1. A row of weight 0 is ignored. See count
	Weak     weak.Labels   // [n] weak labels; nil: none
	Classes  int           // 0: as many as labels and class_prior have, and no weak labels
	Start    *model.Linear // a model to begin at; nil: from nothing
	Prepared *Prepared     // of these rows and weights, for several problems; nil: only of this one
}

type Options struct {
	UnlabeledWeight float64 // option.AutoWeight: by the numbers of rows
	ClassPrior      ClassPrior
	ClassNames      fault.Names // [classes] for messages
	ClassWeight     ClassWeight
	Hierarchy       []int // [nodes] parent of each node of the class tree, classes first, or -1; nil: no tree
	FitIntercept    bool
	ClassScores     bool // the loss is one of all class scores: two classes need a column each
	Vectors         int  // of weights that the method keeps
}

// Sample is a problem made ready: rows by kind, weights normalized. Runs share it and only read it.
type Sample struct {
	Options Options
	Job     *work.Job
	*Prepared
	Features int // of the problem

	Labeled         []int32   // rows with a label and a weight
	Class           []int32   // [Labeled]
	Describes       []bool    // [Labeled] the row says what its class is, but was not drawn: no evidence of shares
	LabeledRows     []float64 // [Labeled] numbers of rows, see count
	LabeledWeight   []float64 // [Labeled] sums to 1
	Unlabeled       []int32   // rows without a label and with a weight
	UnlabeledRows   []float64 // [Unlabeled] numbers of rows
	UnlabeledWeight []float64 // [Unlabeled] sums to 1

	Labels  []int32     // [n] of the problem, and of weakly labeled rows with one class
	Weak    weak.Labels // [Unlabeled] nil: no row of any machine is weakly labeled
	classes int         // see Problem.Classes

	All    Census    // of all machines
	Pass   int       // non-zeros of a pass over the rows of which these are selected
	Copies []float64 // [n] numbers of copies that the weights stand for; nil: weights are no such numbers
	Source []int32   // [n] of selected rows: their numbers in the sample they are from, -1 for other machines' rows
}

func (p Problem) weights() []float64 {
	if p.Weights == nil {
		return slices.Repeat([]float64{1}, p.Rows.Rows())
	}
	return p.Weights
}

func New(p Problem, options Options, job *work.Job) (*Sample, error) {
	s := begin(p, options, job)
	err := memory.Need(28*float64(len(p.Labels))+weak.RowBytes*float64(len(p.Weak)), // a copy; the fit is asked for later
		fmt.Sprintf("a copy of the labels of %d rows", len(p.Labels)),
		"give fewer rows, or use a machine with more memory")
	if err != nil {
		return nil, err
	}
	if p.Weights, err = s.count(p.weights()); err != nil {
		return nil, err
	}
	return s, s.make(p)
}

func begin(p Problem, options Options, job *work.Job) *Sample {
	return &Sample{Options: options, Job: job, Prepared: &Prepared{Rows: p.Rows}, Features: p.Rows.Cols(),
		classes: p.Classes}
}

// make makes the sample of a problem whose weights say how its rows count.
func (s *Sample) make(p Problem) error {
	for _, step := range []func(Problem) error{s.sort, s.takeCensus, s.weigh, s.checkMemory} {
		if err := step(p); err != nil {
			return err
		}
	}
	if s.Prepared = p.Prepared; s.Prepared == nil {
		s.Prepared = p.Prepare(s.Job)
	}
	s.Pass = s.Rows.NonZeros()
	return p.Rows.CheckLength(s.Length)
}

// Weights of rows; sums and quotients of others overflow.
const (
	minWeight = 1e-300
	maxWeight = 1e300
)

// sort finds the labeled and the unlabeled rows, with checked labels and weights.
func (s *Sample) sort(p Problem) error {
	n, maxClasses := p.Rows.Rows(), math.MaxInt32/2
	if s.Job.Group == nil {
		maxClasses = n
	}
	s.Labels = slices.Clone(p.Labels)
	s.Unlabeled, s.UnlabeledRows = make([]int32, 0, n), make([]float64, 0, n)
	for i, label := range p.Labels {
		weight, describes := p.Weights[i], label < -1
		if describes {
			label = descriptionOf(label)
			if weight > 0 && !hasFeature(p.Rows, i) {
				s.All.Empty++
				label, describes = -1, false
			}
		}
		switch {
		case int(label) >= maxClasses:
			return fault.Data("labels of row %d is %d: it must be -1 (unlabeled), a class number from 0 on, of fewer "+
				"classes than the %d rows, or -2 minus the number of the class that it describes", i, p.Labels[i], n)
		case p.Classes > 0 && int(label) >= p.Classes:
			return fault.Data("labels of row %d is %d, but there are %d classes", i, p.Labels[i], p.Classes)
		case weight > 0:
			if row := p.Weak.Of(i); label < 0 && len(row.Class) == 1 { // a weak label of one class is a label
				label = row.Class[0]
			}
			s.add(i, label, weight, describes)
		}
	}
	s.Weak = p.Weak.Selected(s.Unlabeled)
	return nil
}

func hasFeature(x *rows.Matrix, i int) (has bool) {
	x.Row(i, func(_ int, value float64) { has = has || value != 0 })
	return has
}

// Occurring is the number of features that have a value in a row that counts, on all machines, or at least enough.
func (s *Sample) Occurring(enough int) (found int) {
	seen := make([]float64, s.Rows.Cols())
	for _, i := range slices.Concat(s.Labeled, s.Unlabeled) {
		s.Rows.Row(int(i), func(col int, value float64) {
			if value != 0 && seen[col] == 0 {
				seen[col], found = 1, found+1
			}
		})
		if found >= enough {
			break
		}
	}
	s.Job.Reduce(seen)
	return floats.Count(func(v float64) bool { return v > 0 }, seen)
}

// descriptionOf is the class of a label below -1, and that label of a class.
func descriptionOf(label int32) int32 { return -2 - label }

// add adds a row with a weight; class -1 is none.
func (s *Sample) add(i int, class int32, weight float64, describes bool) {
	if class < 0 {
		s.Unlabeled, s.UnlabeledRows = append(s.Unlabeled, int32(i)), append(s.UnlabeledRows, weight)
		return
	}
	s.Labeled, s.LabeledRows = append(s.Labeled, int32(i)), append(s.LabeledRows, weight)
	s.Class, s.Describes = append(s.Class, class), append(s.Describes, describes)
	s.Labels[i] = class
}

// Classes is the number of classes: as given, or else of the labels or class_prior; at least two.
func (s *Sample) Classes() int {
	if s.classes > 0 {
		return s.classes
	}
	return max(2, len(s.Options.ClassPrior.Shares), s.All.LastClass+1)
}

// Paired reports whether one column of scores is enough: two classes, a loss of margins and no tree, or one class.
func (s *Sample) Paired() bool {
	return s.Classes() == 2 && (s.Constant() || s.Options.Hierarchy == nil && !s.Options.ClassScores)
}

// Constant reports whether there is nothing to learn: labels have one of two classes, and nothing speaks of the other.
func (s *Sample) Constant() bool {
	return s.Classes() == 2 && s.OneClass() && !((s.Options.ClassPrior.Shares != nil || s.All.Weak) && s.Transductive())
}

func (s *Sample) OneClass() bool { return s.All.FirstClass == s.All.LastClass }

// Transductive reports whether unlabeled rows take part.
func (s *Sample) Transductive() bool { return s.All.Unlabeled > 1 && s.Options.UnlabeledWeight > 0 }

// label is that of a labeled row as in a Problem.
func (s *Sample) label(k int) int32 {
	if s.Describes[k] {
		return descriptionOf(s.Class[k])
	}
	return s.Class[k]
}

// OnlyDescribed reports whether there are descriptions, and labels of at most one class, which show no shares.
func (s *Sample) OnlyDescribed() bool {
	drawn := floats.Count(func(weight float64) bool { return weight > 0 }, s.All.DrawnRows)
	return s.All.Described > 0 && drawn < 2
}

// Center is the mean [d] of the unlabeled rows, or of the labeled rows where no other takes part.
func (s *Sample) Center(job *work.Job) []float64 {
	rows, weights := s.Labeled, s.LabeledWeight
	if s.Transductive() {
		rows, weights = s.Unlabeled, s.UnlabeledWeight
	}
	weight := make([]float64, s.Rows.Rows())
	for k, i := range rows {
		weight[i] = weights[k]
	}
	mean := make([]float64, s.Rows.Cols())
	subset := s.Rows.Subset(rows)
	job.CountAndCheck(int64(subset.NonZeros()))
	s.Rows.AddTransposedOn(job, subset, mean, weight)
	return mean
}

func (s *Sample) normalize(weights []float64) {
	total := s.Total(weights)
	for k := range weights {
		weights[k] /= total
	}
}

// Total is the sum of these numbers over all machines.
func (s *Sample) Total(values []float64) float64 {
	total := []float64{vector.Sum(values)}
	s.Job.Reduce(total)
	return total[0]
}

// HugeValue is a weight whose products overflow, or are so large that no solve converges.
const HugeValue = 1e50

func (s *Sample) CheckFinite(objective float64, results ...[]float64) error {
	if vector.Finite(append(results, []float64{objective})...) {
		return nil
	}
	return s.OutOfRange()
}

func (s *Sample) OutOfRange() error {
	value, row, feature := s.Rows.Largest()
	return rows.Overflowed(value*s.Length, row, int(s.Feature[feature]))
}

// Packed is a model of the problem's rows as a model of the packed rows.
func (s *Sample) Packed(m *model.Linear) *model.Linear {
	packed := *m
	packed.Features, packed.Coef = len(s.Feature), make([]float64, len(s.Feature)*m.Outputs)
	for k, old := range s.Feature {
		floats.ScaleTo(packed.Coef[k*m.Outputs:][:m.Outputs], s.Length, m.Coef[int(old)*m.Outputs:][:m.Outputs])
	}
	for _, k := range s.Rows.Absent() {
		clear(packed.Coef[int(k)*m.Outputs : (int(k)+1)*m.Outputs])
	}
	return &packed
}

// Unpacked is a model of the packed rows as a model of the problem's.
func (s *Sample) Unpacked(m *model.Linear) *model.Linear {
	whole := *m
	whole.Features, whole.Coef = s.Features, make([]float64, s.Features*m.Outputs)
	s.Unpack(m, whole.Coef)
	return &whole
}

// Unpack sets the weights [Features, outputs] of the features that the packed rows have.
func (s *Sample) Unpack(m *model.Linear, coef []float64) {
	for k, old := range s.Feature {
		floats.ScaleTo(coef[int(old)*m.Outputs:][:m.Outputs], 1/s.Length, m.Coef[k*m.Outputs:][:m.Outputs])
	}
}

// ClassPrior is the option of the class shares among the unlabeled rows: Shares [classes], or if they are nil the rule
// to find them. Shares with a rule are its result, shares without one are given by the caller.
type ClassPrior struct {
	Shares []float64
	Rule   string
}

// PriorRules are "auto", the shares that package shares finds, and "labels", the shares of the labeled rows.
var PriorRules = []string{"auto", "labels"}
