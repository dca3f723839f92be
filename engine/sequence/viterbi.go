package sequence

import "math"

// Best puts the tags of the best path into path [T] and returns its score, -Inf where every path is forbidden. Of equal
// paths it takes the one with the lowest last tag, and so on towards the front.
func (c *Chain) Best(l *Lattice, unary []float64, path []int32) float64 {
	k, from := c.Tags, room(&l.from, len(unary))
	score, next := room(&l.row, k), room(&l.other, k)
	c.open(score, unary)
	for at := k; at < len(unary); at += k {
		pointers := from[at : at+k]
		for j := range next {
			next[j] = math.Inf(-1)
			pointers[j] = 0
		}
		for i, before := range score {
			for j, pair := range c.Pair[i*k : i*k+k] {
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
		if s += c.End[j]; s > best {
			best, last = s, j
		}
	}
	follow(path, from, k, last)
	return best
}

// open sets the scores of the first token's tags.
func (c *Chain) open(score, unary []float64) {
	for j := range score {
		score[j] = unary[j] + c.Start[j]
	}
}

// follow goes back from the last state: from[t*states+y] is the state before y.
func follow(path []int32, from []int32, states, last int) {
	for t := len(path) - 1; t >= 0; t-- {
		path[t] = int32(last)
		if t > 0 {
			last = int(from[t*states+last])
		}
	}
}

// TwoBest puts the best path and another one that is not worse than any third into best and second [T] and returns
// their scores; the second is -Inf where there is no second path. A state is a tag and the rank, 0 or 1, of a path that
// ends there.
func (c *Chain) TwoBest(l *Lattice, unary []float64, best, second []int32) (first, runnerUp float64) {
	k, tokens := c.Tags, len(unary)/c.Tags
	from := room(&l.from, 2*len(unary))
	score, next := room(&l.forward, 4*k)[:2*k], l.forward[2*k:4*k]
	for j := range k {
		score[2*j], score[2*j+1] = unary[j]+c.Start[j], math.Inf(-1)
	}
	for t := 1; t < tokens; t++ {
		for j := range k {
			top := two{a: math.Inf(-1), b: math.Inf(-1)}
			for state, before := range score {
				top.add(before+c.Pair[state/2*k+j], int32(state))
			}
			u, pointers := unary[t*k+j], from[(t*k+j)*2:]
			next[2*j], next[2*j+1], pointers[0], pointers[1] = top.a+u, top.b+u, top.atA, top.atB
		}
		score, next = next, score
	}
	top := two{a: math.Inf(-1), b: math.Inf(-1)}
	for state, s := range score {
		top.add(s+c.End[state/2], int32(state))
	}
	for _, way := range []struct {
		path []int32
		last int32
	}{{best, top.atA}, {second, top.atB}} {
		follow(way.path, from, 2*k, int(way.last))
		for t := range way.path {
			way.path[t] /= 2
		}
	}
	return top.a, top.b
}

// two keeps the two largest of the scores that it is given, the first of equals first.
type two struct {
	a, b     float64
	atA, atB int32
}

func (w *two) add(score float64, at int32) {
	switch {
	case score > w.a:
		w.a, w.b, w.atA, w.atB = score, w.a, at, w.atA
	case score > w.b:
		w.b, w.atB = score, at
	}
}

// Violator puts the best path that misses at least one of the labels [T] (-1: none) into path and returns its score;
// -Inf where there is no such path. A state is a tag and whether the path has missed a label so far; with all tokens
// labeled the path is the best one of those that are not right.
func (c *Chain) Violator(l *Lattice, unary []float64, labels, path []int32) float64 {
	k, tokens := c.Tags, len(labels)
	from := room(&l.from, 2*len(unary))
	score, next := room(&l.forward, 4*k)[:2*k], l.forward[2*k:4*k]
	for j := range k {
		at := 2*j + miss(labels[0], j)
		score[2*j], score[2*j+1] = math.Inf(-1), math.Inf(-1)
		score[at] = unary[j] + c.Start[j]
	}
	for t := 1; t < tokens; t++ {
		for j := range k {
			var top [2]float64
			var at [2]int32
			top[0], top[1] = math.Inf(-1), math.Inf(-1)
			missed := miss(labels[t], j)
			for state, before := range score {
				missing := state&1 | missed
				if s := before + c.Pair[state/2*k+j]; s > top[missing] {
					top[missing], at[missing] = s, int32(state)
				}
			}
			u, place := unary[t*k+j], (t*k+j)*2
			next[2*j], next[2*j+1], from[place], from[place+1] = top[0]+u, top[1]+u, at[0], at[1]
		}
		score, next = next, score
	}
	best, last := math.Inf(-1), 1
	for j := range k {
		if s := score[2*j+1] + c.End[j]; s > best {
			best, last = s, 2*j+1
		}
	}
	follow(path, from, 2*k, last)
	for t := range path {
		path[t] /= 2
	}
	return best
}

// miss is 1 if a tag is not the label of its token.
func miss(label int32, tag int) int {
	if label >= 0 && int(label) != tag {
		return 1
	}
	return 0
}

// Constrain gives the unary scores with -Inf for every tag but the label of a labeled token; labels [T], -1: none. They
// hold until the lattice's next use of this kind.
func (l *Lattice) Constrain(unary []float64, labels []int32, tags int) []float64 {
	masked := room(&l.masked, len(unary))
	copy(masked, unary)
	for t, label := range labels {
		if label < 0 {
			continue
		}
		for j := range tags {
			if j != int(label) {
				masked[t*tags+j] = math.Inf(-1)
			}
		}
	}
	return masked
}
