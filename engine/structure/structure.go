// Package structure learns from unlabeled rows what the weights of good classifiers have in common: a subspace of the
// features, found from many made-up problems over the same rows ("does this word occur?", answered by the other words).
//
//	Problem  min over u_l, v_l, Θ  Σ_l  1/n Σ_i ½ (u_l . x_i + b_l - y_il)²  +  α/2 |u_l - Θᵀ v_l|²     with Θ Θᵀ = I
//	Symbols  n rows x_i of d features; m auxiliary problems with labels y_il = ±1; u_l weights [d], zero at the features
//	         hidden from problem l; b_l its intercept, which is not regularized; U [d, m] all u_l; Θ [h, d] components
//	Source   Ando & Zhang 2005, equation 6 and section 3.3: solve all u_l at a fixed Θ, with v_l = Θ u_l; then the rows
//	         of Θ are the first h left singular vectors of [√λ_l u_l]; again. Section 3.4: a Θ for each group of features
//	Differences  the loss is the squared one. The intercept is minimized out, which centers rows and labels: neither is
//	         formed. The u_l are approximate: a few steps of conjugate gradients (auxiliary.go). With Unit every
//	         u_l gets length 1 before the SVD, as if λ_l were 1/|u_l|² there. Solver None solves nothing: U = the masked
//	         right-hand sides, which is the limit of a large α. The SVD is by subspace iteration (subspace.go)
//	Stops    MaxIter steps of conjugate gradients in each of Alternations rounds
//	Cost     None: one product with all m columns; Squared: two more for each step. The SVD: 2 products of U with h + 10
//	         columns an iteration. Memory: U in float32, and four vectors of blockColumns columns
package structure

import (
	"cmp"
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

type Result struct {
	Model      *model.Structure // with the report of the fit; Theta is orthonormal in each group
	Strengths  []float64        // [groups, h] the singular values, falling
	Objectives []float64        // [alternations] after each; none with solver None
}

// Fit finds the components. It returns fault.ErrCancelled soon after progress.Cancel is set; progress may be nil.
func Fit(p Problem, options Options, progress *work.Progress) (*Result, error) {
	return work.Guard(func() (*Result, error) {
		f, err := newFitting(p, options, work.NewJob(options.Threads, progress))
		if err != nil {
			return nil, err
		}
		for round := range f.Alternations {
			solve(f, round)
			if err := findTheta(f, round); err != nil {
				return nil, err
			}
			f.report((round + 1) * (f.blocks() + 1))
		}
		return resultOf(f), nil
	})
}

// resultOf puts the components back in the caller's order of features.
func resultOf(f *fitting) *Result {
	h, features := f.Components, len(f.Groups)
	m := &model.Structure{Features: features, Components: h, Groups: len(f.groups),
		Theta: make([]float64, features*h), GroupOf: make([]float64, features),
		Report: model.Report{Method: f.Solver, Iterations: f.Alternations, Objective: f.lastObjective()}}
	for j, group := range f.Groups {
		m.GroupOf[j] = float64(group)
	}
	for k, j := range f.old {
		copy(m.Theta[int(j)*h:], f.thetaOf(k))
	}
	return &Result{m, f.strengths, f.objective}
}

const (
	None    = "none"
	Squared = "squared"
)

// Options are the settings of Fit. Defaults and legal ranges are written here and nowhere else.
type Options struct {
	Components   int // an argument of its own: arrays have its length
	Solver       string
	Alpha        float64
	MaxIter      int
	Tol          float64
	Alternations int
	Unit         bool
	Threads      int
	RandomState  int
}

func Defaults() Options {
	return Options{Components: 50, Solver: None, Alpha: 1e-3, MaxIter: 4, Tol: 1e-3, Alternations: 1, Unit: true,
		Threads: 1}
}

func (o *Options) Table() option.Table {
	return option.Table{
		{Name: "solver", Value: &o.Solver, Choices: []string{None, Squared},
			Meaning: "how the auxiliary problems are solved"},
		{Name: "alpha", Value: &o.Alpha, Exclusive: true,
			Meaning: "strength of the regularization of the auxiliary problems"},
		{Name: "max_iter", Value: &o.MaxIter, Minimum: 1, Meaning: "maximum number of conjugate gradient steps"},
		{Name: "tol", Value: &o.Tol, Exclusive: true, Meaning: "relative residual at which problems are solved"},
		{Name: "n_iter", Value: &o.Alternations, Minimum: 1, Maximum: 1e6, Meaning: "rounds of weights and components"},
		{Name: "unit", Value: &o.Unit, Meaning: "whether every problem has the same weight in the components"},
		{Name: "threads", Value: &o.Threads, Minimum: 1, Meaning: "maximum number of threads"},
		{Name: "random_state", Value: &o.RandomState, Meaning: "seed of the computation of the components"},
	}
}

// Problem is what the structure is learned from. The caller has checked the lengths of Hides and Groups.
type Problem struct {
	Rows   *rows.Matrix // [n, d]
	Labels *rows.Matrix // [n, m] auxiliary labels: +1 where a value is not 0, -1 elsewhere
	Hidden *rows.Matrix // [sets, d] the features with a value other than 0 are hidden together; nil: none
	Hides  []int32      // [m] the set of Hidden that is hidden from a problem, or -1: none; nil, without Hidden: all -1
	Groups []int32      // [d] group of each feature, 0 ... groups-1; nil: one group
}

// fitting is a fit under way, in the features that occur.
type fitting struct {
	Problem
	Options
	job    *work.Job
	old    []int32   // [used] the caller's number of each feature
	sums   []float64 // [used] Σ_i x_i
	hidden [][]int32 // [sets] the features that occur and are hidden together
	groups [][]int32 // the features that occur, of each group

	positives [][]int32 // [m] rows with the label 1
	weights   []float32 // [used, m] U
	theta     []float64 // [used, h] Θ of the last round, orthonormal columns in each group
	strengths []float64
	objective []float64
}

func newFitting(p Problem, options Options, job *work.Job) (*fitting, error) {
	if p.Hidden == nil {
		p.Hidden, _ = rows.Empty(p.Rows.Cols(), false)
	}
	if p.Groups == nil {
		p.Groups = make([]int32, p.Rows.Cols())
	}
	if err := cmp.Or(check(p, options.Components), checkMemory(p, options)); err != nil {
		return nil, err
	}
	if p.Hides == nil {
		p.Hides = slices.Repeat([]int32{-1}, p.Labels.Cols())
	}
	if options.Solver == None {
		options.Alternations = 1 // more change nothing
	}
	f := &fitting{Problem: p, Options: options, job: job}
	packed, old := p.Rows.Packed(job)
	ones := slices.Repeat([]float64{1}, p.Rows.Rows())
	length := packed.RootMeanSquare(job, ones)
	f.Rows, f.old = packed.Scaled(1/length), old
	if err := cmp.Or(p.Rows.CheckLength(length), f.group()); err != nil {
		return nil, err
	}
	f.hide()
	f.positives = make([][]int32, f.problems())
	for i := range f.Labels.Rows() {
		f.Labels.Row(i, func(l int, value float64) {
			if p := f.positives[l]; value != 0 && (len(p) == 0 || p[len(p)-1] != int32(i)) {
				f.positives[l] = append(p, int32(i))
			}
		})
	}
	f.sums = make([]float64, len(f.old))
	f.Rows.AddTransposedOn(job, f.Rows.All(), f.sums, ones)
	f.weights, f.theta = make([]float32, len(f.old)*f.problems()), make([]float64, len(f.old)*f.Components)
	return f, nil
}

// blockColumns problems are solved together: a panel. More take more memory and save no time.
const blockColumns = panel.Width

func (f *fitting) problems() int { return f.Labels.Cols() }

func (f *fitting) blocks() int { return (f.problems() + blockColumns - 1) / blockColumns }

func check(p Problem, components int) error {
	m, sets := p.Labels.Cols(), p.Hidden.Rows()
	switch {
	case p.Labels.Rows() != p.Rows.Rows():
		return fault.Argument("labels has %d rows, rows has %d", p.Labels.Rows(), p.Rows.Rows())
	case p.Hidden.Cols() != p.Rows.Cols():
		return fault.Argument("hidden has %d features, rows has %d", p.Hidden.Cols(), p.Rows.Cols())
	case sets > 0 && p.Hides == nil:
		return fault.Argument("hidden is given without hides, which assigns a set of hidden features to each problem")
	case components < 1:
		return fault.Argument("n_components is %d: use 1 or more", components)
	case components > m:
		return fault.Argument("n_components is %d, but there are %d auxiliary problems: use at most as many components",
			components, m)
	}
	for l, set := range p.Hides {
		if set < -1 || int(set) >= sets {
			return fault.Argument("hides[%d] is %d, but hidden has %d sets", l, set, sets)
		}
	}
	for j, group := range p.Groups {
		if group < 0 || int(group) >= len(p.Groups) {
			return fault.Argument("groups[%d] is %d: number the groups from 0 on", j, group)
		}
	}
	return nil
}

// thetaOf is the components [h] at a feature, those of its group.
func (f *fitting) thetaOf(feature int) []float64 {
	return f.theta[feature*f.Components : (feature+1)*f.Components]
}

// report publishes progress: a step is a block of problems that is solved, or the components at the end of a round.
func (f *fitting) report(step int) {
	steps := path.Trace{Job: f.job, Unit: f.Rows.NonZeros()}
	f.job.Report(step, f.lastObjective(), 0, 0, steps.Passes())
}

func (f *fitting) lastObjective() float64 {
	return append([]float64{math.NaN()}, f.objective...)[len(f.objective)] // NaN: there is none yet
}

// group lists the features of each group and refuses more components than a group can have.
func (f *fitting) group() error {
	f.groups = make([][]int32, slices.Max(f.Groups)+1)
	for k, j := range f.old {
		f.groups[f.Groups[j]] = append(f.groups[f.Groups[j]], int32(k))
	}
	for g, features := range f.groups {
		if f.Components > len(features) {
			return fault.Argument("n_components is %d, but group %d has %d features that occur: use fewer components or "+
				"larger groups", f.Components, g, len(features))
		}
	}
	return nil
}

func (f *fitting) hide() {
	number := make([]int32, f.Hidden.Cols()) // from 1 on; 0: does not occur
	for k, j := range f.old {
		number[j] = int32(k + 1)
	}
	f.hidden = make([][]int32, f.Hidden.Rows())
	for set := range f.hidden {
		f.Hidden.Row(set, func(col int, value float64) {
			if value != 0 && number[col] > 0 {
				f.hidden[set] = append(f.hidden[set], number[col]-1)
			}
		})
	}
}

// checkMemory refuses a fit that needs too much memory.
func checkMemory(p Problem, options Options) error {
	used := min(p.Rows.Cols(), p.Rows.NonZeros()) // features that occur, at most
	n, m, columns, features := float64(p.Rows.Rows()), float64(p.Labels.Cols()), float64(p.Rows.Cols()), float64(used)
	block := panel.Shape{Features: used, Classes: min(blockColumns, p.Labels.Cols())}
	probes := float64(options.Components + extraProbes)
	solving := 8 * (4*float64(block.Len()) + 2*n*float64(block.Stride()))
	projecting := 8 * 4 * features * probes // the probes, and what their QR takes
	// Of the rows of every problem, as they grow, and of what is hidden.
	lists := 24*(m+float64(p.Hidden.Rows())) + 8*float64(p.Labels.NonZeros()+p.Hidden.NonZeros())
	bytes := 4*features*m + math.Max(solving, projecting) + 6*float64(p.Rows.NonZeros()) + lists + 12*n +
		columns*(8*float64(options.Components)+52)
	return memory.Need(bytes, "learning the structure", "use fewer auxiliary problems, fewer features (leave out those "+
		"that hardly occur), or a machine with more memory")
}
