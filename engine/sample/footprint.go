package sample

import (
	"fmt"

	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/risk"
)

// footprint is what the memory of a fit depends on. A fit that cannot have it is refused: Go ends the process, the
// caller's with it, when the system gives no more.
type footprint struct {
	rows, nonZeros, features int
	copies                   int // of unlabeled rows, beyond the rows
	used                     int // features that occur in a row, at most nonZeros; 0: not known yet
	labeled, classes         int
	columns                  int  // of the scores
	soft, goesOn             bool // soft labels; from a start
	prior, given             bool // prior costs; probabilities given these
	vectors                  int  // that the minimizer keeps in addition
}

// bytes is about the largest amount that is in use at a time, the caller's copy of the model included; the caller's
// rows are not. A test compares it with what fits really keeps.
func (f footprint) bytes() float64 {
	n, features, used, nonZeros := float64(f.rows), float64(f.features), float64(f.used), float64(f.nonZeros)
	index := 4.0
	if f.used <= 1<<16 {
		index = 2
	}
	shared := index*nonZeros + 40*n + 12*features // the last to sort the features: garbage, but perhaps still there
	classes, stride := float64(f.classes), float64(panel.Shape{Classes: f.columns}.Stride())
	costs := 3.0 // the costs, and what the labeling makes of them to bring rows into an order
	if f.soft {
		costs++ // soft labels
	}
	if f.prior {
		costs++
	}
	if f.prior && f.given {
		costs += 4
	}
	width := float64(panel.Shape{Features: 1, Classes: f.columns}.Len())
	vectors := 6 * used * width // of the minimizer and the risk
	if f.vectors > 0 {
		vectors += float64(f.vectors) * used * width
	} else if n < used && !f.goesOn && f.columns > 1 {
		vectors = 7*n*stride + used*width // weights held as sums of rows
	}
	solving := n*(6+4*stride+costs*classes) + 3*float64(f.copies)*classes + vectors + f.factors()
	outputs := float64(model.OutputsOf(f.classes))
	if f.columns > 1 {
		outputs = classes
	}
	ending := n*(3*classes+outputs) + used*outputs               // costs, scores, distributions and the caller's copy
	borders := 48*classes*classes + 16*classes*min(n, 8*classes) // of the class graph, with rows at every border
	return shared + borders + 8*(max(solving, ending)+2*features*outputs)
}

// factors is the length of the preconditioner where the labeled rows are few: a matrix of them, another one while a
// factor is made, and for every column a half.
func (f footprint) factors() float64 {
	if !risk.Preconditions(f.labeled, f.nonZeros) {
		return 0
	}
	return float64(f.labeled) * float64(f.labeled) * (2 + float64(f.columns)/2)
}

// need is replaced in tests.
var need = memory.Need

// checkMemory refuses a fit that needs more memory than there is; used is 0 while it is not known.
func (s *Sample) checkMemory(used int, goesOn bool) error {
	classes := s.Classes()
	columns := max(classes, len(s.Options.Hierarchy))
	if s.Paired() {
		columns = 1
	}
	keeps := s.Options.Keeps
	f := footprint{
		rows: s.Rows.Rows(), features: s.Features, nonZeros: s.Rows.NonZeros(), used: used, labeled: len(s.Labeled),
		classes: classes, columns: columns, copies: max(0, s.Units()-len(s.Unlabeled)),
		soft: keeps.Soft || keeps.SoftFrom && goesOn, vectors: keeps.Vectors, goesOn: goesOn,
		prior: s.PriorCosts != nil, given: keeps.Given,
	}
	shape := &model.Linear{Classes: classes, Features: f.features, Outputs: model.OutputsOf(classes)}
	if err := model.CheckShape(shape); err != nil {
		return err
	}
	return need(f.bytes(), f.purpose(), "use fewer features (leave out those that hardly occur, or hash to fewer), fewer "+
		"classes, or a machine with more memory")
}

func (f footprint) purpose() string {
	return fmt.Sprintf("a fit of %d rows with n_features %d and %d classes", f.rows, f.features, f.classes)
}
