// Package labeling turns costs of labels into labels, hard or soft, that keep the class counts.
package labeling

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// Soft finds the soft labels of deterministic annealing.
//
//	Problem  min over p in [0,1]^u  Σ s_j [ p_j g_j + T (p_j log p_j + (1-p_j) log(1-p_j)) ]  subject to Σ s_j p_j =
//	         r Σ s_j
//	Symbols  g_j cost of row j as positive minus its cost as negative [u]; s_j weight of the row [u]; T temperature; r
//	         share of positives in (0,1); ν multiplier of the constraint: p_j = 1 / (1 + exp((g_j - ν) / T)); m(ν)
//	         the share
//	Source   Sindhwani & Keerthi 2006 section 3.2, equations 10-12 (there 2ν). They bisect; here Newton's method on
//	         logit m(ν) = logit r, which is linear far from the solution, kept inside a bracket
//	Stops    the share is met to 1e-10, or the bracket cannot shrink any more
//	Cost     one exp a row an evaluation; 3 to 8 evaluations
//
// It fills p and returns ν. start is a first guess, for example the ν of the last call.
func Soft(job *work.Job, p, g, s []float64, temperature, share, start float64) float64 {
	low, high := bracket(g, temperature, share)
	nu := math.Min(math.Max(start, low), high)
	var sums [3]float64 // Σ s, Σ s p, Σ s p (1-p)
	for range 200 {
		job.Sum(len(g), sums[:], func(lo, hi int, dst []float64) {
			for j := lo; j < hi; j++ {
				q := 1 / (1 + math.Exp((g[j]-nu)/temperature))
				p[j] = q
				dst[0] += s[j]
				dst[1] += s[j] * q
				dst[2] += s[j] * q * (1 - q)
			}
		})
		m := sums[1] / sums[0]
		if math.Abs(m-share) <= 1e-10 {
			break
		}
		if m < share {
			low = nu
		} else {
			high = nu
		}
		steepness := sums[2] / sums[0] / (m * (1 - m)) / temperature // of logit m
		next := nu + (logit(share)-logit(m))/steepness
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if next == nu || next == low || next == high {
			break
		}
		nu = next
	}
	return nu
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// bracket encloses ν: at its ends every p_j lies below, above the share.
func bracket(g []float64, temperature, share float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range g {
		low, high = math.Min(low, v), math.Max(high, v)
	}
	odds := temperature * logit(share)
	return low + odds - 1e-9, high + odds + 1e-9
}

// Entropy is the weighted mean of -p log₂ p - (1-p) log₂ (1-p), in bits a row.
func Entropy(job *work.Job, p, s []float64) float64 {
	var sums [2]float64
	job.Sum(len(p), sums[:], func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			dst[0] += s[j]
			dst[1] -= s[j] * (xlog2(p[j]) + xlog2(1-p[j]))
		}
	})
	return sums[1] / sums[0]
}

func xlog2(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log2(x)
}
