// Package shares finds the shares of the classes among the unlabeled rows where nobody gives them.
//
//	Problem  labeled rows have the class shares π, unlabeled rows unknown shares φ; within a class both are drawn alike
//	         (label shift). People often label the same number of rows of each class, so π may say nothing of φ
//	Symbols  K classes; l total weight of the labeled rows, in rows; s_iv scores [K] of row i by a model of view v that
//	         has not seen its label; p_i = softmax(Σ_v β_v s_iv + b) calibrated probabilities; m_y their mean over
//	         labeled rows
//	Source   Saerens, Latinne & Decaestecker 2002, equation 2.9 (EM for φ); Alexandari, Kundaje & Shrikumar 2020
//	         (calibration with a bias for each class before it)
//	Method   models of two views, a linear one of the labeled rows and a mixture of labeled and unlabeled rows, five
//	         of each, without a fifth of the labels, score the labeled rows that they leave out and a fifth of the
//	         unlabeled rows each (package crossfit). β and b are fitted to the labeled ones (calibration.go): a view
//	         weighs as much as its scores of held-out rows deserve. EM with a Dirichlet prior finds φ, which is
//	         shrunk to the shares of the labels as far as the difference may be chance (shift.go)
//	Differences  p_iy is divided by m_y in place of π_y: a class with one label is never held out, its scores are low in
//	         all rows, and the shares must not follow from that; the Dirichlet prior, which keeps a class with few
//	         labels from losing all of its rows
//	Together     every machine fits the same models to the same rows of all
//	Cost     five supervised fits of the labeled rows; five mixtures of these and at most 5,000 unlabeled rows, eight
//	         steps of two passes each
//	Ablation total variation distance of φ before it is shrunk, mean over 2, 5, 20 equal and 5,
//	         20 random labels a class. Linear view only: .128 on the sets that chose the constants
//	         (crossfit/mixture.go), .116 on 17 others; with multinomials .117 and .103; with spheres .125 and .110,
//	         with both .117 and .103. No better: one row a class in the Dirichlet prior (.118, .110), u = .1 or .3
//	         (.117, .106; .119, .103), 4 steps of EM (.117, .105). Candidate shares, of which a transductive fit each
//	         chooses by its objective - .35 entropy of the shares, reach less of the gain that true shares give:
//	         these shares alone .36 with 5 equal labels and .44 with 2, beside those of the linear view .37 and .21,
//	         with those of the mixture .16 and .34, and of the labels -.12 and .35. A third view of five transductive
//	         fits with these shares: with 5, 2 and 20 equal labels .135 → .104, .178 → .184 and .042 → .049 on the
//	         choosing sets, .117 → .108 and .205 → .204 with 5 and 2 on 16 others; of spheres around 20 coordinates
//	         of correspondence analysis, or labels spread on a graph of ten neighbours: .121 → .123, .118 and .112 →
//	         .112, .109 over all. Steps φ + 4 (q - φ) cut to the intervals, q the shares by a mixture of the
//	         transductive classes: .138 → .158 with 5. Agreement of transductive fits without a fourth of the labels
//	         each, at 15 candidate shares of two classes, which finds the share of a class that alone has labels: on
//	         eight sets flat with 2 labels, and with 5 highest up to .3 beside the true share
package shares

import (
	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Evidence is what cross-fitted scores say of the classes.
type Evidence struct{ *crossfit.Scores }

// Gather scores the rows of a sample.
func Gather(s *sample.Sample, job *work.Job) *Evidence {
	return &Evidence{crossfit.Score(s, job)}
}
