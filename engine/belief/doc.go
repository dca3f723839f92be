// Package belief has the labels of the unlabeled rows on the way of a method: hard, soft, none, or probabilities that
// keep the class shares. A belief enters an objective at a level of a schedule (Enter) and is renewed at the scores of
// a solve (Relabel). Start at Hard.
package belief
