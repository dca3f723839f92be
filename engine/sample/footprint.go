package sample

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Numbers that a fit keeps at a time: a bound, which a test compares with the memory of fits.
const (
	perRow         = 12 // number, weight, label, packed indices
	perClass       = 10 // of each row: scores and their changes, costs and their order, soft labels, the caller's copy
	perGathered    = 4  // of each row of all machines, and one for each class: see labeling.Cheapest
	perPoint       = 6  // vectors of the minimizer and the risk
	preconditioned = 30 // non-zeros for the cube of a preconditioner's rows, see package risk
)

// Unlabeled rows of cross-fits for class shares, which so many determine within a point.
const (
	CrossFitted     = 2500
	CrossFittedSize = 1 << 22 // bound on their non-zeros: fewer rows where they have more
)

// bytes is a bound on the memory of a fit, with the rows that it copies. A fit without it is refused: Go would end the
// caller's process.
func (s *Sample) bytes() float64 {
	n, nonZeros := float64(s.Rows.Rows()+s.Units()-len(s.Unlabeled)), float64(s.Rows.NonZeros())
	features, outputs, classes, copied := float64(s.Features), 1.0, float64(s.Classes()), 0.0
	if !s.Paired() {
		outputs = max(classes, float64(len(s.Options.Hierarchy)))
	}
	if prior := s.Options.ClassPrior; prior.Rule == "auto" && prior.Shares == nil { // labels of all machines, twice
		labels := s.Job.Count(s.Rows.Subset(s.Labeled).NonZeros())
		n += float64(len(s.Labeled)) + min(float64(len(s.Unlabeled)), CrossFitted)
		copied = 2*float64(labels) + min(nonZeros, CrossFittedSize)
	}
	gathered := 0.0
	if s.Job.Group != nil && classes > 2 {
		gathered = float64(s.All.Unlabeled) * (perGathered + classes)
	}
	few := min(float64(len(s.Labeled)), math.Cbrt(preconditioned*nonZeros)) // rows of a preconditioner:
	factors := few * few * (2 + outputs/2)                                  // two matrices, half of one a factor
	points := (perPoint + float64(s.Options.Vectors)) * min(features, nonZeros) * outputs
	return s.Rows.SelectedBytes(copied)*16/12 + s.Rows.PackedBytes() + // with packed numbers of four bytes
		8*(n*(perRow+perClass*classes)+points+2*features*(1+outputs)+48*classes*classes+factors+gathered)
}

// BytesOf is a bound on the memory of a fit of two classes, without copies of rows.
func BytesOf(p Problem, options Options) float64 {
	p.Classes = 2
	return begin(p, options, work.NewJob(1, nil)).bytes()
}

func (s *Sample) checkMemory(Problem) error {
	classes := s.Classes()
	shape := &model.Linear{Classes: classes, Features: s.Features, Outputs: model.OutputsOf(classes)}
	if err := model.CheckShape(shape); err != nil {
		return err
	}
	purpose := fmt.Sprintf("a fit of %d rows with n_features %d and %d classes", s.Rows.Rows(), s.Features, classes)
	return memory.Need(s.bytes(), purpose, "use fewer features (leave out those that hardly occur, or hash to "+
		"fewer), fewer classes, or a machine with more memory")
}
