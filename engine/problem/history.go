package problem

// Column is one named column of the history, one value an outer step.
type Column struct {
	Name   string
	Values []float64
}

// History is what happened, one entry an outer step.
type History struct {
	Before                                             int // steps of the fit that this one goes on from
	level, objective, switched, share, entropy, passes []float64
}

// Columns names them; share names the column about the classes' shares.
func (h *History) Columns(method Method, share string) []Column {
	if len(h.objective) == 0 { // a constant model took no step
		return nil
	}
	level := LevelName(method)
	list := []Column{{"objective", h.objective}, {level, h.level}, {"n_switched", h.switched},
		{share, h.share}, {"n_passes", h.passes}}
	if level == "temperature" || share == "constraint_residual" {
		list = append(list, Column{"entropy", h.entropy})
	}
	return list
}

// LevelName is what the level of an outer step is.
func LevelName(method Method) string {
	if method == Annealing {
		return "temperature"
	}
	return "unlabeled_weight"
}

// Record notes an outer step and publishes it.
func (s *Sample) Record(objective, level float64, switched int, share, entropy float64) {
	h := &s.History
	h.level = append(h.level, level)
	h.objective = append(h.objective, objective)
	h.switched = append(h.switched, float64(switched))
	h.share = append(h.share, share)
	h.entropy = append(h.entropy, entropy)
	h.passes = append(h.passes, s.Passes())
	s.Job.Report(h.Before+len(h.level), objective, level, switched, s.Passes())
}

// Objective is that of the last step but so many.
func (h *History) Objective(before int) float64 { return h.objective[len(h.objective)-1-before] }

// Steps is the number of outer steps.
func (h *History) Steps() int { return len(h.objective) }
