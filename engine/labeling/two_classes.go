package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Two classes need the difference g_i = c_i1 - c_i0 of the costs of a row alone: the rows with the smallest g get label
// 1, and one number ν = v_1 - v_0 takes the place of the potentials. Source: Sindhwani & Keerthi 2006, section 3.

// twoClasses reports whether there are two classes, both with a share, and some rows, as machines together have.
func twoClasses(job *work.Job, shares []float64, rows int) bool {
	return len(shares) == 2 && shares[0] > 0 && shares[1] > 0 && (rows > 0 || job.Group != nil)
}

// softTwo is Soft for two classes.
//
//	Problem  find ν with m(ν) = r
//	Symbols  g_i cost of class 1 beyond that of class 0; T temperature; r share of class 1, in (0,1); p_i1 = 1 / (1 +
//	         exp((g_i - ν) / T)); m(ν) its weighted mean
//	Source   Sindhwani & Keerthi 2006 section 3.2, equations 10-12 (there 2ν). They bisect; here Halley's method (1694)
//	         on logit m(ν) = logit r, which is linear far from the solution, inside a bracket
//	Stops    the share is met to 1e-10: by a look, or because the step was at most lastStep T. In units of T the
//	         derivatives of logit m are bounded, so that such a step leaves less than lastStep³. Or the bracket cannot
//	         shrink any more
//	Cost     one exp a row an evaluation; 2 to 5 evaluations, and one without its sums
func softTwo(job *work.Job, p, costs, weights []float64, temperature, share float64, potentials []float64) {
	low, high, bracketed := math.Inf(-1), math.Inf(1), false
	nu := finiteOr0(potentials[1]) - finiteOr0(potentials[0])
	for range 200 {
		m := momentsOfTwo(job, p, costs, weights, temperature, nu)
		if !(math.Abs(m.mean-share) > 1e-10) {
			break
		}
		if m.mean < share {
			low = nu
		} else {
			high = nu
		}
		step := temperature * m.halley(share)
		next := nu + step
		if math.Abs(step) <= lastStep*temperature && next > low && next < high {
			nu = next
			job.EachRow(len(weights), func(lo, hi int) {
				for i := lo; i < hi; i++ {
					softenTwo(p[2*i:2*i+2], costs[2*i:2*i+2], nu, temperature)
				}
			})
			break
		}
		if !(next > low && next < high) {
			if !bracketed {
				first, last := bracket(job, costs, temperature, share)
				low, high, bracketed = max(low, first), min(high, last), true
			}
			next = low + (high-low)/2
		}
		if next == nu || next == low || next == high {
			break
		}
		nu = next
	}
	potentials[0], potentials[1] = -nu/2, nu/2
}

const lastStep = 2e-4

// moments are weighted means: of p_i1, of p_i1 p_i0, which is its derivative in ν / T, and the derivative of that.
type moments struct{ mean, variance, skew float64 }

// momentsOfTwo fills p at ν.
func momentsOfTwo(job *work.Job, p, costs, weights []float64, temperature, nu float64) moments {
	var sums [4]float64 // of the weights, and of the three with them
	job.Sum(len(weights), sums[:], func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			s, q := weights[i], softenTwo(p[2*i:2*i+2], costs[2*i:2*i+2], nu, temperature)
			v := s * q * (1 - q)
			dst[0] += s
			dst[1] += s * q
			dst[2] += v
			dst[3] += v * (1 - 2*q)
		}
	})
	return moments{sums[1] / sums[0], sums[2] / sums[0], sums[3] / sums[0]}
}

// softenTwo sets the soft labels of a row and returns that of class 1.
func softenTwo(p, costs []float64, nu, temperature float64) float64 {
	q := 1 / (1 + math.Exp((costs[1]-costs[0]-nu)/temperature))
	p[0], p[1] = 1-q, q
	return q
}

// halley is the step of ν / T towards logit m = logit r: Newton's where its second derivative changes much on the way.
func (m moments) halley(share float64) float64 {
	spread := m.mean * (1 - m.mean)
	slope := m.variance / spread // of logit m
	second := m.skew/spread - slope*slope*(1-2*m.mean)
	step := (logit(share) - logit(m.mean)) / slope
	if bend := 1 + step*second/(2*slope); bend > 0.5 && bend < 2 {
		step /= bend
	}
	return step
}

func finiteOr0(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// bracket encloses ν: at its ends every p_i1 lies below, above the share.
func bracket(job *work.Job, costs []float64, temperature, share float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := 0; i < len(costs); i += 2 {
		g := costs[i+1] - costs[i]
		low, high = min(low, g), max(high, g)
	}
	low, high = job.Range(low, high)
	odds := temperature * logit(share)
	return low + odds - 1e-9, high + odds + 1e-9
}

// cheapestTwo is Cheapest for two classes: rows with g < ν get label 1. Rows with equal g go together: a row of weight
// 2 is the same as two copies of it. At least one row gets either label.
//
// Where all g are equal the first rows get label 1, as many as the share says, for a learner that must begin with some
// labels, and ν puts all rows at margin 1 of the larger class. A single row gets label 0.
func cheapestTwo(job *work.Job, labels []int32, costs, weights []float64, share float64) (nu float64) {
	if job.Group != nil {
		return cheapestTwoTogether(job, labels, costs, weights, share)
	}
	order := make([]candidate, len(labels))
	for i := range order {
		order[i] = candidate{costs[2*i+1] - costs[2*i], int32(i)}
	}
	count := cut(order, weights, share)
	clear(labels)
	for _, c := range order[:count] {
		labels[c.row] = 1
	}
	next := order[count].key
	switch lower := largestKey(order[:count]); {
	case count > 0 && lower < next:
		return between(lower, next)
	case share < 0.5:
		return next - 2
	}
	return next + 2
}

// cut puts the smallest keys first, as many as bring their weight nearest to share of the whole by a cut between
// different keys, and the next one behind them. It returns their number.
func cut(order []candidate, weights []float64, share float64) (count int) {
	if equal(weights) {
		count = min(len(order)-1, max(1, int(math.Round(share*float64(len(order))))))
		smallestFirst(order, count)
		if count == 0 || largestKey(order[:count]) < order[count].key {
			return count
		}
		weights = slices.Repeat([]float64{1}, len(order)) // so that rounding decides nothing between equal distances
	}
	slices.SortFunc(order, candidate.compare)
	return nearestCut(order, weights, share)
}

// nearestCut is the number of rows of such a cut in order; where all keys are equal any cut will do.
func nearestCut(order []candidate, weights []float64, share float64) (count int) {
	last, total, weight, least := len(order)-1, 0.0, 0.0, math.Inf(1)
	for _, s := range weights {
		total += s
	}
	distinct := order[0].key < order[last].key
	for k, c := range order[:last] {
		weight += weights[c.row]
		if distance := math.Abs(weight - share*total); distance < least && (!distinct || c.key < order[k+1].key) {
			count, least = k+1, distance
		}
	}
	return count
}

func equal(weights []float64) bool {
	for _, s := range weights {
		if s != weights[0] {
			return false
		}
	}
	return true
}

// between is the middle of two different numbers, or the upper one where no number lies between them.
func between(lower, upper float64) float64 {
	if middle := upper - (upper-lower)/2; middle > lower {
		return middle
	}
	return upper
}

// switchTwo is Switch for two classes: the best candidate of one class with the best one of the other, then the second
// best of each, while a pair helps. Without a limit the result is the best labeling with these counts.
func switchTwo(labels []int32, costs []float64, most int) (pairs int) {
	candidates := exchangeable(labels, costs)
	limit := min(len(candidates[0]), len(candidates[1]))
	if most > 0 {
		limit = min(limit, most)
	}
	for _, list := range candidates {
		smallestFirst(list, limit)
		slices.SortFunc(list[:limit], candidate.compare)
	}
	for ; pairs < limit; pairs++ {
		zero, one := candidates[0][pairs], candidates[1][pairs]
		if !(zero.key < -one.key) {
			break
		}
		labels[zero.row], labels[one.row] = 1, 0
	}
	return pairs
}

// exchangeable lists the rows of each class that can be in a helpful pair, with the change of cost by the other label.
func exchangeable(labels []int32, costs []float64) (candidates [2][]candidate) {
	change := func(i int, y int32) float64 { return costs[2*i+1-int(y)] - costs[2*i+int(y)] }
	least := [2]float64{math.Inf(1), math.Inf(1)}
	for i, y := range labels {
		least[y] = min(least[y], change(i, y))
	}
	for i, y := range labels {
		if key := change(i, y); key < -least[1-y] {
			candidates[y] = append(candidates[y], candidate{key, int32(i)})
		}
	}
	return candidates
}
