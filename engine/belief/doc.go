// Package belief is what methods think of the unlabeled rows: hard labels, soft labels, no labels, or probabilities
// that keep the class shares. Each belief is put into an objective at a level of a schedule (Enter) and renewed at the
// scores of a solve (Relabel). Start at Hard.
package belief
