package fit

import (
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/work"
)

// mixed is the fit that begins at a mixture of the labeled and the unlabeled rows, of many: the second start of method
// auto.
//
//	Problem  that of the method. Where most features say nothing of the classes and labels are few, the supervised
//	         solution points the wrong way, and so does every path that begins there. A component of the mixture counts
//	         all rows from the first step on
//	Source   Nigam, McCallum, Thrun & Mitchell 2000 (EM of multinomials, see crossfit/mixture.go); the solution at the
//	         mixture's labels as a start is ours. Measured with 60 labels on 100,000 planted rows of 40 words, of which
//	         one in ten depends on the class: the mixture has 5 % errors; annealing ends at 41.8 % and, from the mixture,
//	         at 1.0 %, at objectives of .2201 and .1836 (alpha = 1e-4)
//	Rejected singular vectors of the rows, scaled as in correspondence analysis, with a fit in 20 coordinates: on the same
//	         rows 46 % errors after seven iterations, which take four times the mixture. Fewer rows than coarseRows: no
//	         set with fewer rows of those in crossfit/mixture.go ended lower from the mixture
//	Stops    after a first step that is not below better times the objective of the fit before
//	Cost     eight steps of EM, a solution at fixed labels and a step of annealing: half of the passes of annealing; at
//	         most mixtureRows rows take part, those of a part of the rows where there are more
func mixed(x *setting, job *work.Job, bound float64) (*fitted, error) {
	s := x.sample
	scores := s.ForShares(s.Classes()).Mixture(job)
	if scores == nil {
		return nil, nil
	}
	r := x.newRun(job, x.named.First(), from{}, 0)
	start := modelOf(x, r, method.FitScores(r, scores), 0)
	return run(x, job, from{model: start}, bound)
}

// Replaced in tests.
var mixtureRows = 1 << 17

// mixes reports whether a fit is compared with one that begins at a mixture: that of the largest part of the rows with
// few enough.
func mixes(x *setting) bool {
	n := x.unlabeled()
	return n >= coarseFrom && n <= mixtureRows && (x.whole == 0 || x.whole > mixtureRows)
}
