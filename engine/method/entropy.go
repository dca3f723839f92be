package method

// regularizeEntropy is expectation regularization with the entropy of the unlabeled rows, whose weight is λ': see
// regularize.
func regularizeEntropy(r *Run) *Solution { return regularizeWith(r, r.Objective.Weight) }
