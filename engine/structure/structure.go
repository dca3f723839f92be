// Package structure learns from unlabeled rows what the weights of good classifiers have in common: a subspace of the
// features, found from many made-up problems over the same rows ("does this word occur?", answered by the other words).
//
//	Problem  min over u_l, v_l, Θ  Σ_l  1/n Σ_i ½ (u_l . x_i + b_l - y_il)²  +  α/2 |u_l - Θᵀ v_l|²     with Θ Θᵀ = I
//	Symbols  n rows x_i of d features; m auxiliary problems with labels y_il = ±1; u_l weights [d], zero at the features
//	         hidden from problem l; b_l its intercept, which is not regularized; U [d, m] all u_l; Θ [h, d] components
//	Source   Ando & Zhang 2005, equation 6 and section 3.3: solve all u_l at a fixed Θ, with v_l = Θ u_l; then the rows
//	         of Θ are the first h left singular vectors of [√λ_l u_l]; again. Section 3.4: a Θ for each group of features
//	Differences  the loss is the squared one. The intercept is minimized out, which centers rows and labels: neither is
//	         formed. The u_l are approximate: a few steps of conjugate gradients (minimize/columns.go). With Unit every
//	         u_l gets length 1 before the SVD, as if λ_l were 1/|u_l|² there. Solver None solves nothing: U = the masked
//	         right-hand sides, which is the limit of a large α. The SVD is by subspace iteration (subspace.go)
//	Stops    MaxIter steps of conjugate gradients in each of Alternations rounds
//	Cost     None: one product with all m columns; Squared: two more for each step. The SVD: 2 products of U with h + 10
//	         columns an iteration. Memory: U in float32, and four vectors of blockColumns columns
package structure

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Problem is what the structure is learned from.
type Problem struct {
	Rows   *rows.Matrix // [n, d]
	Labels *rows.Matrix // [n, m] auxiliary labels: +1 where a value is not 0, -1 elsewhere
	Hidden *rows.Matrix // [sets, d] the features with a value other than 0 are hidden together; nil: none
	Hides  []int32      // [m] the set of Hidden that is hidden from a problem, or -1: none; nil, without Hidden: all -1
	Groups []int32      // [d] group of each feature, 0 ... groups-1; nil: one group
}

// Result is the structure.
type Result struct {
	Components []float64 // [h, d] the components of all groups side by side: those of a group are orthonormal
	Strengths  []float64 // [groups, h] the singular values, falling
	Objective  []float64 // [alternations] after each; none with solver None
}

// fitting is a fit under way, in the features that occur.
type fitting struct {
	Problem
	Options
	job      *work.Job
	features int
	old      []int32   // [used] the caller's number of each feature
	sums     []float64 // [used] Σ_i x_i
	hidden   [][]int32 // the features that occur, of each set of Hidden
	groups   [][]int32 // the features that occur, of each group

	positives [][]int32 // [m] rows with the label 1
	weights   *weights  // U
	theta     []theta   // of each group; nil in the first round
	strengths []float64
	objective []float64
}

// Fit finds the components. It returns fault.ErrCancelled soon after progress.Cancel is set; progress may be nil.
func Fit(p Problem, options Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		f, err := newFitting(p, options, work.NewJob(options.Threads, progress))
		if err != nil {
			return err
		}
		for round := range f.rounds() {
			f.solve(round)
			if err := f.findTheta(); err != nil {
				return err
			}
			f.report((round + 1) * (f.blocks() + 1))
		}
		result = f.result()
		return nil
	})
	return result, err
}

// rounds is the number of alternations; without a solver one has all there is.
func (f *fitting) rounds() int {
	if f.Solver == None {
		return 1
	}
	return f.Alternations
}

func newFitting(p Problem, options Options, job *work.Job) (*fitting, error) {
	if err := check(p); err != nil {
		return nil, err
	}
	if err := checkMemory(p, options, min(p.Rows.Cols(), p.Rows.NonZeros())); err != nil {
		return nil, err
	}
	f := &fitting{Problem: p, Options: options, job: job, features: p.Rows.Cols()}
	packed, old := p.Rows.Packed(job)
	f.Rows, f.old = packed.Scaled(1/packed.RootMeanSquare(job, nil)), old
	if err := f.group(); err != nil {
		return nil, err
	}
	f.hide()
	f.takePositives()
	f.sums = make([]float64, len(f.old))
	ones := make([]float64, f.Rows.Rows())
	for i := range ones {
		ones[i] = 1
	}
	f.Rows.TransposedTimes(job, f.sums, ones)
	f.weights = newWeights(len(f.old), f.problems())
	return f, nil
}

// problems is m.
func (f *fitting) problems() int { return f.Labels.Cols() }

// blocks is the number of blocks of problems that are solved together.
func (f *fitting) blocks() int { return (f.problems() + blockColumns - 1) / blockColumns }

// check refuses shapes that do not go together.
func check(p Problem) error {
	m := p.Labels.Cols()
	switch {
	case p.Labels.Rows() != p.Rows.Rows():
		return fault.Argument("labels has %d rows, rows has %d", p.Labels.Rows(), p.Rows.Rows())
	case p.Hidden != nil && p.Hidden.Cols() != p.Rows.Cols():
		return fault.Argument("hidden has %d features, rows has %d", p.Hidden.Cols(), p.Rows.Cols())
	case p.Hidden != nil && p.Hides == nil:
		return fault.Argument("hidden is given without hides, which assigns a set of hidden features to each problem")
	case p.Hides != nil && len(p.Hides) != m:
		return fault.Argument("hides has %d entries for %d problems", len(p.Hides), m)
	case p.Groups != nil && len(p.Groups) != p.Rows.Cols():
		return fault.Argument("groups has %d entries for %d features", len(p.Groups), p.Rows.Cols())
	}
	sets := 0
	if p.Hidden != nil {
		sets = p.Hidden.Rows()
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

// group lists the features of each group and refuses more components than a group can have.
func (f *fitting) group() error {
	f.groups = make([][]int32, 1)
	for k, j := range f.old {
		group := int32(0)
		if f.Groups != nil {
			group = f.Groups[j]
		}
		for len(f.groups) <= int(group) {
			f.groups = append(f.groups, nil)
		}
		f.groups[group] = append(f.groups[group], int32(k))
	}
	for _, group := range f.Groups { // one whose features do not occur
		for len(f.groups) <= int(group) {
			f.groups = append(f.groups, nil)
		}
	}
	if f.Components < 1 {
		return fault.Argument("n_components is %d: use 1 or more", f.Components)
	}
	if f.Components > f.problems() {
		return fault.Argument("n_components is %d, but there are %d auxiliary problems: use at most as many components",
			f.Components, f.problems())
	}
	for g, features := range f.groups {
		if f.Components > len(features) {
			return fault.Argument("n_components is %d, but group %d has %d features that occur: use fewer components or "+
				"larger groups", f.Components, g, len(features))
		}
	}
	return nil
}

// hide lists the hidden features by their new numbers.
func (f *fitting) hide() {
	if f.Hidden == nil {
		return
	}
	number := make([]int32, f.Hidden.Cols())
	for j := range number {
		number[j] = -1
	}
	for k, j := range f.old {
		number[j] = int32(k)
	}
	f.hidden = make([][]int32, f.Hidden.Rows())
	for s := range f.hidden {
		f.Hidden.Row(s, func(col int, value float64) {
			if value != 0 && number[col] >= 0 {
				f.hidden[s] = append(f.hidden[s], number[col])
			}
		})
	}
}

// hiddenFrom are the features that problem l does not see.
func (f *fitting) hiddenFrom(l int) []int32 {
	if f.Hides == nil || f.Hides[l] < 0 {
		return nil
	}
	return f.hidden[f.Hides[l]]
}

// takePositives lists the rows of label 1 of every problem.
func (f *fitting) takePositives() {
	f.positives = make([][]int32, f.problems())
	for i := range f.Labels.Rows() {
		f.Labels.Row(i, func(l int, value float64) {
			if p := f.positives[l]; value != 0 && (len(p) == 0 || p[len(p)-1] != int32(i)) {
				f.positives[l] = append(p, int32(i))
			}
		})
	}
}

// report tells of progress: a step is a block of problems that is solved, or the components at the end of a round.
func (f *fitting) report(step int) {
	objective := math.NaN()
	if len(f.objective) > 0 {
		objective = f.objective[len(f.objective)-1]
	}
	passes := float64(f.job.Visited()) / math.Max(1, float64(f.Rows.NonZeros()))
	f.job.Report(step, objective, 0, 0, passes)
}

// result puts the components back in the caller's order of features.
func (f *fitting) result() *Result {
	h, d := f.Components, f.features
	out := &Result{Components: make([]float64, h*d), Strengths: f.strengths, Objective: f.objective}
	for g, features := range f.groups {
		for place, k := range features {
			for c := range h {
				out.Components[c*d+int(f.old[k])] = f.theta[g].at(place, c)
			}
		}
	}
	return out
}

var need = memory.Need // replaced in tests

// checkMemory refuses a fit that needs more memory than there is; used is the number of features that occur.
func checkMemory(p Problem, options Options, used int) error {
	n, m, features := float64(p.Rows.Rows()), float64(p.Labels.Cols()), float64(used)
	block := panel.Shape{Features: used, Classes: min(blockColumns, p.Labels.Cols())}
	probes := float64(options.Components + extraProbes)
	solving := 8 * (4*float64(block.Len()) + 2*n*float64(block.Stride()))
	projecting := 8 * 4 * features * probes // the probes, and what their QR takes
	bytes := 4*features*m + math.Max(solving, projecting) + 6*float64(p.Rows.NonZeros()) +
		float64(rows.ColumnBytes(p.Rows.NonZeros(), block)) + 8*float64(options.Components)*float64(p.Rows.Cols())
	return need(bytes, "learning the structure", "use fewer auxiliary problems, fewer features (leave out those that "+
		"hardly occur), or a machine with more memory")
}
