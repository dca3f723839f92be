package method

// regularizeEntropy is regularize with the entropy of the unlabeled rows, whose weight is λ'.
func regularizeEntropy(r *Run) *Solution { return regularizeWith(r, r.Objective.Weight) }
