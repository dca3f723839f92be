package problem

import "math/rand/v2"

// Few is the same problem with these class shares and one of every so many neighboring unlabeled rows, drawn by a
// generator of its own: the same ones however the rows, in their order, are divided among machines. rows are their
// numbers here; the features and the unit of length are those of s.Rows.
func (s *Sample) Few(of int, shares []float64) (few *Sample, p Problem, rows []int32, err error) {
	take := func(row, class int32, weight float64) {
		rows, p.Labels, p.Weights = append(rows, row), append(p.Labels, class), append(p.Weights, weight)
	}
	for k, i := range s.Labeled {
		take(i, s.Class[k], s.LabeledRows[k])
	}
	place, _ := s.Job.Before(len(s.Unlabeled))
	for k, i := range s.Unlabeled {
		if group := (place + k) / of; rand.New(rand.NewPCG(uint64(group), 0)).IntN(of) == (place+k)%of {
			take(i, -1, s.UnlabeledRows[k])
		}
	}
	p.Rows = s.Rows.Selected(rows)
	options := s.Options
	options.ClassPrior = ClassPrior{Shares: shares, Rule: "auto"}
	few, err = New(p, options, s.Job)
	if err == nil {
		few.Picked, few.visits = s.Picked, s.visits
	}
	return few, p, rows, err
}
