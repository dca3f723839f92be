package fit

// Stage is a stage of a fit and the models it has trained.
type Stage struct {
	Name   string  `json:"stage"` // "class_prior", a method, "supervised", "mixture" or "calibrate"
	Models int     `json:"n_models"`
	Passes float64 `json:"n_passes"` // of all these models over the non-zeros of all rows
}

// record has the stages of a fit.
type record struct{ stages []Stage }

// add counts models of a stage and the non-zeros they visited; pass is the number of non-zeros of a pass.
func (r *record) add(name string, models int, visited int64, pass int) {
	passes := float64(visited) / float64(max(1, pass))
	if last := len(r.stages) - 1; last >= 0 && r.stages[last].Name == name {
		r.stages[last].Models += models
		r.stages[last].Passes += passes
	} else if models > 0 {
		r.stages = append(r.stages, Stage{name, models, passes})
	}
}
