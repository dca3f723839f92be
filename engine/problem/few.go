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
	place := s.rowsBefore()
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
		few.Picked, few.visits, few.History.Before = s.Picked, s.visits, s.History.Before
	}
	return few, p, rows, err
}

// rowsBefore is the number of unlabeled rows of the machines before this one.
func (s *Sample) rowsBefore() (rows int) {
	for rank, unlabeled := range s.Job.Each(float64(len(s.Unlabeled))) {
		if s.Job.Group == nil || rank == s.Job.Group.Rank {
			break
		}
		rows += int(unlabeled[0])
	}
	return rows
}
