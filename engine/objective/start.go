package objective

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/risk"
	"github.com/fewlabel/fewlabel/engine/sample"
)

// Start is a model from which a run goes on.
type Start struct {
	Sample *sample.Sample
	Model  *model.Linear
}

// CheckStart refuses a start with other features or classes, or too large weights.
func CheckStart(s *sample.Sample, start *model.Linear) error {
	features, classes := s.Features, s.Classes()
	switch {
	case start.Features != features:
		return fault.Argument("start has %d features, but the rows have %d", start.Features, features)
	case start.Classes != classes:
		return fault.Argument("start has %d classes, but the labels and class_prior have %d", start.Classes, classes)
	}
	if err := model.Check(start); err != nil {
		return fault.Argument("start: %v", err)
	}
	unit := s.Length
	for _, list := range [][]float64{start.Coef, start.Intercept} {
		for _, v := range list {
			if math.Abs(v)*unit >= sample.HugeValue {
				return fault.Argument("start has the weight %v, which is too large", v)
			}
		}
		unit = 1
	}
	return nil
}

// move moves a risk with this number of outputs to the start.
func (s *Start) move(r *risk.Risk, outputs int) {
	coef, intercept := s.Sample.Packed(s.Model).Coef, s.Model.Intercept
	if s.Model.Outputs < outputs {
		coef, intercept = bothSides(coef), bothSides(intercept)
	}
	r.MoveTo(coef, intercept)
}

// bothSides are the weights of two classes with this difference.
func bothSides(difference []float64) []float64 {
	sides := make([]float64, 0, 2*len(difference))
	for _, v := range difference {
		sides = append(sides, -v/2, v/2)
	}
	return sides
}
