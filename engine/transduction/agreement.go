package transduction

import (
	"errors"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// agreement is how much unlabeled rows have changed: the share of them to which the supervised model of the same labels
// gives the class that the fit has given, found [n]. NaN where there is nothing to compare.
//
//	Problem  that of the fit, with its options, for the labeled rows alone
//	Cost     a fit of the labeled rows with the features that they have, and one pass over all rows
func (s *sample) agreement(found []int32) (float64, error) {
	switch {
	case len(s.unlabeled) == 0 || s.classes() < 2:
		return math.NaN(), nil
	case !s.transductive():
		return 1, nil
	}
	given, err := s.supervisedAnswers()
	if err != nil {
		return math.NaN(), err
	}
	same := 0
	for _, i := range s.unlabeled {
		if given[i] == found[i] {
			same++
		}
	}
	return float64(same) / float64(len(s.unlabeled)), nil
}

// supervisedAnswers are the classes [n] that the supervised model gives to all rows.
func (s *sample) supervisedAnswers() ([]int32, error) {
	p := Problem{Rows: s.rows.Selected(s.labeled), Labels: s.class, Weights: s.labeledWeight}
	alone, err := newSample(p, s.options, s.job.Aside())
	if err != nil {
		return nil, err
	}
	result, err := alone.fit(p)
	if err != nil {
		return nil, err
	}
	given := make([]int32, s.rows.Rows())
	s.job.Visit(int64(s.rows.NonZeros()))
	return given, result.Model.Predict(s.job.Pool, s.rows, given)
}

// compare adds the agreement to a result. A supervised model that cannot be had leaves it unknown: the fit itself is
// good.
func (s *sample) compare(result *Result) error {
	var err error
	result.Agreement, err = s.agreement(result.Transduction)
	var known *fault.Error
	if errors.As(err, &known) && known.Kind != fault.Cancelled && known.Kind != fault.Internal {
		return nil
	}
	return err
}
