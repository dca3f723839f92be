package problem

import "math"

// Few draws one of FewOf unlabeled rows.
const (
	FewOf     = 1 << fewBits
	fewBits   = 3
	nearShare = 0.1 // how far the rows drawn may be from 1/FewOf of all, in parts of that,
	chance    = 3.0 // and in its roots
)

// Few is the same problem with these class shares and a part of the unlabeled rows, drawn by their keys: the same ones in
// any order, on any number of machines. rows are their numbers here; the features and the unit of length are those of
// s.Rows. It is nil if so many rows are equal that the part has not its share of the rows.
func (s *Sample) Few(shares []float64) (few *Sample, p Problem, rows []int32, err error) {
	take := func(row, class int32, weight float64) {
		rows, p.Labels, p.Weights = append(rows, row), append(p.Labels, class), append(p.Weights, weight)
	}
	for k, i := range s.Labeled {
		take(i, s.Class[k], s.LabeledRows[k])
	}
	if s.keys == nil {
		s.keys = s.Rows.Keys(s.Job, s.Feature)
	}
	taken := 0.0
	for k, i := range s.Unlabeled {
		if s.keys[i]>>(fewBits*s.fewer)%(1<<fewBits) == 0 {
			take(i, -1, s.UnlabeledRows[k])
			taken += s.count(k)
		}
	}
	counts := []float64{taken, float64(s.units())}
	s.Job.Reduce(counts)
	if expected := counts[1] / FewOf; math.Abs(counts[0]-expected) > nearShare*expected+chance*math.Sqrt(expected) {
		return nil, p, nil, nil
	}
	p.Rows = s.Rows.Selected(rows)
	options := s.Options
	options.ClassPrior = ClassPrior{Shares: shares, Rule: "auto"}
	few, err = New(p, options, s.Job)
	if err != nil {
		return nil, p, nil, err
	}
	few.Picked, few.visits, few.fewer = s.Picked, s.visits, s.fewer+1
	for _, i := range rows {
		few.keys = append(few.keys, s.keys[i])
	}
	return few, p, rows, nil
}

// count is the number of rows that an unlabeled one stands for.
func (s *Sample) count(k int) float64 {
	if s.Copies == nil {
		return 1
	}
	return s.UnlabeledRows[k]
}
