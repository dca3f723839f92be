package labeling

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// twoClasses reports whether there are two classes, both with a share, and rows.
func twoClasses(job *work.Job, shares []float64, rows int) bool {
	return len(shares) == 2 && shares[0] > 0 && shares[1] > 0 && (rows > 0 || job.Group != nil)
}

// softTwo is SoftLabels for two classes.
//
//	Problem  find ν = v_1 - v_0 with m(ν) = r
//	Symbols  g_i = c_i1 - c_i0; T temperature; r share of class 1, in (0,1); p_i1 = 1 / (1 + exp((g_i - ν) / T)); m(ν)
//	         its weighted mean
//	Source   Sindhwani & Keerthi 2006 section 3.2, equations 10-12 (there 2ν). They bisect; here Halley's method (1694)
//	         on logit m(ν) = logit r, which is linear far from the solution, inside a bracket
//	Stops    the share is met to 1e-10, or the step was at most lastStep T: the derivatives of logit m in ν / T are
//	         bounded, so that it leaves less than lastStep³. Or the bracket cannot shrink any more
//	Cost     one exp a row an evaluation; 2 to 5 evaluations, and one without its sums
func softTwo(job *work.Job, p, costs, weights []float64, temperature, share float64, potentials []float64) {
	low, high, bracketed := math.Inf(-1), math.Inf(1), false
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
	low, high = math.Inf(1), math.Inf(-1)
	for i := 0; i < len(costs); i += 2 {
		g := costs[i+1] - costs[i]
		low, high = min(low, g), max(high, g)
	}
	low, high = job.Range(low, high)
	odds := temperature * logit(share)
	return low + odds - 1e-9, high + odds + 1e-9
}

// between is the middle of two different numbers, or the upper one where no number lies between them.
func between(lower, upper float64) float64 {
	if middle := upper - (upper-lower)/2; middle > lower {
		return middle
	}
	return upper
}
