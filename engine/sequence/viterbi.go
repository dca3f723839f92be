package sequence

import "math"

// best puts the tags of the best path into path [T] and returns its score, -Inf where every path is forbidden. Of equal
// paths it takes the one with the lowest last tag, and so on towards the front.
func (c *chain) best(l *lattice, unary []float64, path []int32) float64 {
	k, from := c.tags, room(&l.from, len(unary))
	score, next := room(&l.row, k), room(&l.next, k)
	c.startScores(score, unary)
	for at := k; at < len(unary); at += k {
		pointers := from[at : at+k]
		for j := range next {
			next[j] = math.Inf(-1)
			pointers[j] = 0
		}
		for i, before := range score {
			for j, pair := range c.pair[i*k : i*k+k] {
				if s := before + pair; s > next[j] {
					next[j], pointers[j] = s, int32(i)
				}
			}
		}
		for j := range next {
			next[j] += unary[at+j]
		}
		score, next = next, score
	}
	best, last := math.Inf(-1), 0
	for j, s := range score {
		if s += c.end[j]; s > best {
			best, last = s, j
		}
	}
	goBack(path, from, k, 1, last)
	return best
}

func (c *chain) startScores(score, unary []float64) {
	for j := range score {
		score[j] = unary[j] + c.start[j]
	}
}

// goBack fills a path from its last state: from[t*states+s] is the state before s, and perTag states are of one tag.
func goBack(path, from []int32, states, perTag, last int) {
	for t := len(path) - 1; t >= 0; t-- {
		path[t] = int32(last / perTag)
		if t > 0 {
			last = int(from[t*states+last])
		}
	}
}

// two are the scores of a tag's two states at a token, and the states before them.
type two struct {
	a, b         float64
	fromA, fromB int32
}

// rank keeps the two largest of the scores that it is given, the first of equals first.
func (w *two) rank(score float64, from int32) {
	switch {
	case score > w.a:
		w.a, w.b, w.fromA, w.fromB = score, w.a, from, w.fromA
	case score > w.b:
		w.b, w.fromB = score, from
	}
}

// twoBest puts the best path and a second one into best and second [T] and returns their scores, -Inf for none:
// Viterbi's algorithm with two states a tag, 2*tag and 2*tag+1, the best and the second-best path that end there.
func (c *chain) twoBest(l *lattice, unary []float64, best, second []int32) (first, runnerUp float64) {
	k, from := c.tags, room(&l.from, 2*len(unary))
	score, after := room(&l.forward, 4*k)[:2*k], l.forward[2*k:4*k]
	for j := range k {
		score[2*j], score[2*j+1] = unary[j]+c.start[j], math.Inf(-1)
	}
	none := two{a: math.Inf(-1), b: math.Inf(-1)}
	for at := k; at < len(unary); at += k {
		for j := range k {
			top := none
			for state, s := range score {
				top.rank(s+c.pair[state/2*k+j], int32(state))
			}
			u, place := unary[at+j], 2*(at+j)
			after[2*j], after[2*j+1], from[place], from[place+1] = top.a+u, top.b+u, top.fromA, top.fromB
		}
		score, after = after, score
	}
	top := none
	for state, s := range score {
		top.rank(s+c.end[state/2], int32(state))
	}
	goBack(best, from, 2*k, 2, int(top.fromA))
	goBack(second, from, 2*k, 2, int(top.fromB))
	return top.a, top.b
}
