// Package shares finds the shares of the classes among the unlabeled rows where nobody gives them.
//
//	Problem  labeled rows have the class shares π, unlabeled rows unknown shares φ; within a class both are drawn alike
//	         (label shift). People often label the same number of rows of each class, so π may say nothing of φ
//	Symbols  K classes; l total weight of the labeled rows, in rows; s_iv scores [K] of row i by a model of view v that
//	         has not seen its label; p_i = softmax(Σ_v β_v s_iv + b) calibrated probabilities; m_y their mean over
//	         labeled rows
//	Source   Saerens, Latinne & Decaestecker 2002, equation 2.9 (EM for φ); Alexandari, Kundaje & Shrikumar 2020
//	         (calibration with a bias for each class before it)
//	Method   models of two views, linear ones of the labeled rows and mixtures of all, five of each without a fifth of
//	         the labels, score the rows held out and a fifth of the unlabeled rows each (package crossfit). β and b are
//	         fitted to the rows held out (calibration.go). EM with a Dirichlet prior finds φ, which is shrunk to the
//	         label shares as far as the difference may be chance (shift.go)
//	Differences  p_iy is divided by m_y in place of π_y: the scores of a class with one label, which is never held out,
//	         are low in all rows; the Dirichlet prior keeps a class with few labels from losing all of its rows
//	Groups   every machine fits the same models to the same rows of all
//	Cost     five supervised fits of the labeled rows; five mixtures of these and at most 2,500 unlabeled rows, eight
//	         steps of two passes each
//
// Measured, with what was rejected, in docs/notes/class-shares.md.
package shares

import (
	"github.com/fewlabel/fewlabel/engine/crossfit"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Evidence is cross-fitted scores, from which shares are estimated.
type Evidence struct{ *crossfit.Scores }

func Score(s *sample.Sample, job *work.Job) *Evidence { return &Evidence{crossfit.Score(s, job)} }
