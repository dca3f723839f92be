package labeling

import (
	"cmp"
	"slices"
)

// candidate is a row with the key that it is ranked by: smaller is better, equals go by row number.
type candidate struct {
	key float64
	row int32
}

func (c candidate) compare(d candidate) int {
	if c.key != d.key {
		return cmp.Compare(c.key, d.key)
	}
	return cmp.Compare(c.row, d.row)
}

// ranking is a list of candidates, the best first.
type ranking []candidate

func (r ranking) order() { slices.SortFunc(r, candidate.compare) }

func (r *ranking) push(c candidate) {
	at, _ := slices.BinarySearchFunc(*r, c, candidate.compare)
	*r = slices.Insert(*r, at, c)
}
