package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

func twoClasses(job *work.Job, shares []float64, rows int) bool {
	return len(shares) == 2 && shares[0] > 0 && shares[1] > 0 && (rows > 0 || job.Group != nil)
}

// softTwo is SoftLabels for two classes.
//
//	Problem  find ν = v_1 - v_0 with m(ν) = r
//	Symbols  g_i = c_i1 - c_i0; T temperature; r share of class 1; p_i1 = 1 / (1 + exp((g_i - ν) / T)); m(ν) its mean
//	Source   Sindhwani & Keerthi 2006 section 3.2, equations 10-12 (there 2ν). They bisect; here Halley's method (1694)
//	         on logit m(ν) = logit r, which is linear far from the solution, inside a bracket
//	Stops    the share is met to 1e-10, or the step was at most lastStep T: the derivatives of logit m in ν / T are
//	         bounded, so that it leaves less than lastStep³. Or the bracket cannot shrink any more
//	Cost     one exp a row an evaluation; 2 to 5 evaluations, and one without its sums
func softTwo(job *work.Job, p, costs, weights, potentials []float64, temperature, share float64) {
	low, high := math.Inf(-1), math.Inf(1)
	nu := finiteOr0(potentials[1]) - finiteOr0(potentials[0])
	for range 200 {
		mean, variance, skew := momentsOfTwo(job, p, costs, weights, temperature, nu)
		if !(math.Abs(mean-share) > 1e-10) {
			break
		}
		if mean < share {
			low = nu
		} else {
			high = nu
		}
		step := temperature * halley(share, mean, variance, skew)
		next := nu + step
		inside := next > low && next < high
		if inside && math.Abs(step) <= lastStep*temperature {
			nu = next
			job.Stripes(len(weights), func(lo, hi int) {
				softenTwo(p[2*lo:2*hi], costs[2*lo:2*hi], nu, temperature)
			})
			break
		}
		if !inside {
			first, last := bracket(job, costs, temperature, share)
			low, high = max(low, first), min(high, last)
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

// momentsOfTwo fills p at ν and returns the means of p_i1, of its derivative p_i1 p_i0 in ν / T, and of the next one.
func momentsOfTwo(job *work.Job, p, costs, weights []float64, temperature, nu float64) (mean, variance, skew float64) {
	var sums [4]float64 // the weights, and the three times the weights
	job.Sum(len(weights), sums[:], func(lo, hi int, dst []float64) {
		softenTwo(p[2*lo:2*hi], costs[2*lo:2*hi], nu, temperature)
		var total, mean, variance, skew float64
		for i, s := range weights[lo:hi] {
			q := p[2*(lo+i)+1]
			v := s * q * (1 - q)
			total += s
			mean += s * q
			variance += v
			skew += v * (1 - 2*q)
		}
		dst[0], dst[1], dst[2], dst[3] = total, mean, variance, skew
	})
	return sums[1] / sums[0], sums[2] / sums[0], sums[3] / sums[0]
}

// softenTwo sets soft labels: 1 / (1 + e) for the cheaper class, e times as much for the other.
func softenTwo(p, costs []float64, nu, temperature float64) {
	var room [softAtOnce]float64
	inverse := min(1/temperature, math.MaxFloat64)
	for len(p) > 0 {
		z := room[:min(len(room), len(p)/2)]
		for k := range z {
			z[k] = -math.Abs((costs[2*k+1] - costs[2*k] - nu) * inverse)
		}
		vector.Exp(z)
		for k, e := range z {
			cheaper := 1
			if costs[2*k+1]-costs[2*k] > nu {
				cheaper = 0
			}
			q := 1 / (1 + e)
			p[2*k+cheaper], p[2*k+1-cheaper] = q, e*q
		}
		p, costs = p[2*len(z):], costs[2*len(z):]
	}
}

// halley is the step of ν / T towards logit m = logit r: Newton's step where the slope changes much on the way.
func halley(share, mean, variance, skew float64) float64 {
	spread := mean * (1 - mean)
	slope := variance / spread // of logit m
	second := skew/spread - slope*slope*(1-2*mean)
	step := (logit(share) - logit(mean)) / slope
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
	low, high = rangeOf(job, len(costs)/2, func(i int) float64 { return difference(costs, i) })
	odds := temperature * logit(share)
	return low + odds - 1e-9, high + odds + 1e-9
}

// difference is g_i = c_i1 - c_i0.
func difference(costs []float64, i int) float64 { return costs[2*i+1] - costs[2*i] }

// rangeOf is the smallest and the largest of n values, and of those of all machines.
func rangeOf(job *work.Job, n int, value func(i int) float64) (smallest, largest float64) {
	smallest, largest = math.Inf(1), math.Inf(-1)
	for i := range n {
		v := value(i)
		smallest, largest = min(smallest, v), max(largest, v)
	}
	return job.Range(smallest, largest)
}

// cheapestTwo is Cheapest for two classes: rows with g < ν get label 1.
//
//	Problem  the cut between two different numbers g of all machines at which the weight, or with equal weights the
//	         number, of the rows below is nearest to the share r; of equally near cuts, with fewer rows below. Rows with
//	         equal g go together, as copies of a row do. Each label gets at least one row
//	Symbols  g_i = c_i1 - c_i0, the key of row i; ν the middle between the keys on both sides of the cut
//	Source   ours: radix selection, digit bits of the keys at a time, on histograms of all machines
//	Cost     n for each of the first three histograms, and for eight more of the few keys that are left by then
//
// Where all g are equal the first rows get label 1, by the share, and ν puts all rows at margin 1 of the larger class.
func cheapestTwo(job *work.Job, labels []int32, costs, weights []float64, share float64) (nu float64) {
	sums := []float64{float64(len(weights)), vector.Sum(weights)}
	job.ReduceDeferred(sums)
	smallest, largest := rangeOf(job, len(weights), func(i int) float64 { return weights[i] })
	n, due := sums[0], share*sums[1]
	count := math.Min(n-1, math.Max(1, math.Round(share*n))) // of rows with label 1
	target, equal := due, smallest >= largest
	if equal { // they count as 1
		due, target = share*n, math.Max(1, count)
	}
	keys := make([]weighed, len(weights))
	job.Every(len(keys), func(i int) {
		if keys[i] = (weighed{inOrder(difference(costs, i)), weights[i]}); equal {
			keys[i].weight = 1
		}
	})
	key, below, to := reach(job, keys, target)
	before, behind := neighbors(job, costs, key)
	lower, upper := key, behind // of the cut
	switch first, last := math.IsInf(before, 0), math.IsInf(behind, 0); {
	case first && last:
		_, place := job.Gather(weights)
		labelOne(job, labels, func(i int) bool { return place+i < int(count) })
		if share < 0.5 {
			return key - 2
		}
		return key + 2
	case first || equal && to == count:
	case last || math.Abs(below-due) <= math.Abs(to-due):
		lower, upper = before, key
	}
	labelOne(job, labels, func(i int) bool { return difference(costs, i) < upper })
	if middle := upper - (upper-lower)/2; middle > lower {
		return middle
	}
	return upper // there is no number between the two
}

// neighbors are the keys of all machines next to a key, infinite where there are none.
func neighbors(job *work.Job, costs []float64, key float64) (before, behind float64) {
	before, behind = math.Inf(-1), math.Inf(1)
	for i := range len(costs) / 2 {
		if g := difference(costs, i); g < key {
			before = max(before, g)
		} else if g > key {
			behind = min(behind, g)
		}
	}
	behind, before = job.Range(behind, before)
	return before, behind
}

// labelOne sets the labels of the chosen rows to 1, and the others to 0.
func labelOne(job *work.Job, labels []int32, chosen func(i int) bool) {
	job.Every(len(labels), func(i int) {
		if labels[i] = 0; chosen(i) {
			labels[i] = 1
		}
	})
}

const digit = 6 // bits of a histogram: it travels in a frame of a work.Group

// weighed is the key of a row, see inOrder, with its weight.
type weighed struct {
	bits   uint64
	weight float64
}

// reach finds the first key of all machines up to which the keys have the target weight, or the last one, and that
// weight without its own and with it.
func reach(job *work.Job, keys []weighed, target float64) (key, below, to float64) {
	found := uint64(0) // first bits of the key
	for known := 0; known < 64; known += digit {
		width, place, sums := min(digit, 64-known), uint64(0), make([]float64, 1<<digit)
		for _, k := range keys {
			sums[k.bits<<known>>(64-width)] += k.weight
		}
		job.Reduce(sums)
		to = below
		for k, weight := range sums {
			if weight > 0 {
				place, below, to = uint64(k), to, to+weight
			}
			if to >= target {
				break
			}
		}
		keys = slices.DeleteFunc(keys, func(k weighed) bool { return k.bits<<known>>(64-width) != place })
		found = found<<width | place
	}
	return ofOrder(found), below, to
}

// inOrder maps numbers to whole numbers in the same order; 0 and -0 to the same.
func inOrder(v float64) uint64 {
	bits := math.Float64bits(v + 0)
	return bits ^ (uint64(int64(bits)>>63) | 1<<63) // without a branch: signs cannot be foreseen
}

func ofOrder(bits uint64) float64 { return math.Float64frombits(bits ^ (bits>>63 - 1 | 1<<63)) }
