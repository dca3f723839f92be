package transduction

// Column is one named column of the history, one value an outer step.
type Column struct {
	Name   string
	Values []float64
}

// history is what happened, one entry an outer step.
type history struct {
	level, objective, switched, share, entropy, passes []float64
}

// columns names them; share is what the shares of the classes are told by.
func (h *history) columns(method, share string) []Column {
	if len(h.objective) == 0 { // a constant model took no step
		return nil
	}
	level := levelName(method)
	list := []Column{{"objective", h.objective}, {level, h.level}, {"n_switched", h.switched},
		{share, h.share}, {"n_passes", h.passes}}
	if level == "temperature" || share == "constraint_residual" {
		list = append(list, Column{"entropy", h.entropy})
	}
	return list
}

// levelName is what the level of an outer step is.
func levelName(method string) string {
	if method == "annealing" {
		return "temperature"
	}
	return "unlabeled_weight"
}

// record notes an outer step and publishes it.
func (s *sample) record(objective, level float64, switched int, share, entropy float64) {
	h := &s.history
	h.level = append(h.level, level)
	h.objective = append(h.objective, objective)
	h.switched = append(h.switched, float64(switched))
	h.share = append(h.share, share)
	h.entropy = append(h.entropy, entropy)
	h.passes = append(h.passes, s.passes())
	s.job.Report(len(h.level), objective, level, switched, s.passes())
}
