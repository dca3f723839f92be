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
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/work"
)

type Result struct {
	Model      *model.Structure // with the report of the fit; Theta is orthonormal in each group
	Strengths  []float64        // [groups, h] the singular values, falling
	Objectives []float64        // [alternations] after each; none with solver None
}

// Fit finds the components. It returns fault.ErrCancelled soon after progress.Cancel is set; progress may be nil.
func Fit(p Problem, options Options, progress *work.Progress) (result *Result, err error) {
	err = work.Guard(func() error {
		f, err := newFitting(p, options, work.NewJob(options.Threads, progress))
		if err != nil {
			return err
		}
		for round := range f.Alternations {
			solve(f, round)
			if err := findTheta(f); err != nil {
				return err
			}
			f.report((round + 1) * (f.blocks() + 1))
		}
		result = resultOf(f)
		return nil
	})
	return result, err
}

// resultOf puts the components back in the caller's order of features.
func resultOf(f *fitting) *Result {
	h := f.Components
	m := &model.Structure{Features: f.features, Components: h, Groups: len(f.groups),
		Theta: make([]float64, f.features*h), GroupOf: make([]float64, f.features),
		Report: model.Report{Method: f.Solver, Iterations: f.Alternations, Objective: f.lastObjective()}}
	for j, group := range f.Groups {
		m.GroupOf[j] = float64(group)
	}
	for g, features := range f.groups {
		for place, k := range features {
			copy(m.Theta[int(f.old[k])*h:], f.thetaOf(g, place))
		}
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
		{Name: "tol", Value: &o.Tol, Exclusive: true, Meaning: "relative residual at which a problem is solved"},
		{Name: "n_iter", Value: &o.Alternations, Minimum: 1, Maximum: 1e6, Meaning: "rounds of weights and components"},
		{Name: "unit", Value: &o.Unit, Meaning: "whether every problem has the same weight in the components"},
		{Name: "threads", Value: &o.Threads, Minimum: 1, Meaning: "maximum number of threads"},
		{Name: "random_state", Value: &o.RandomState, Meaning: "seed of the computation of the components"},
	}
}

func DecodeOptions(text []byte) (Options, error) {
	o := Defaults()
	err := o.Table().Decode(text)
	return o, err
}
