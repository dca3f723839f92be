package path

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/minimize"
)

type Step struct {
	Switched int     // labels changed
	Entropy  float64 // mean entropy of the labels, in bits
	Solve    minimize.Outcome
}

// A Schedule gives the level of each step.
type Schedule interface {
	// Level is the current level, and its entry in the history.
	Level() (value, historyLevel float64)
	// Next moves to the next level after a step, and returns the reason to end, or None.
	Next(step Step) Reason
}

// Rising is a weight that rises by parts.
type Rising struct {
	Parts []float64 // of the weight, at least one
	Full  float64   // weight
	Stays bool      // at a part as long as labels change
	End   Reason
}

// Parts are first, first * factor and so on below 1.
func Parts(first, factor float64) (parts []float64) {
	for part := first; part < 1; part *= factor {
		parts = append(parts, part)
	}
	return parts
}

// EqualFactors are n parts that rise from first to 1 by equal factors; a single one is 1.
func EqualFactors(first float64, n int) []float64 {
	parts := make([]float64, n)
	for k := range parts {
		parts[k] = 1
		if n > 1 {
			parts[k] = math.Pow(first, 1-float64(k)/float64(n-1))
		}
	}
	return parts
}

func (r *Rising) Level() (value, historyLevel float64) { return r.Parts[0], r.Parts[0] * r.Full }

func (r *Rising) Next(step Step) Reason {
	switch {
	case r.Stays && step.Switched > 0:
		return None
	case len(r.Parts) == 1:
		return r.End
	}
	r.Parts = r.Parts[1:]
	return None
}

// Cooling is a temperature that falls by a factor, or by its square from where no step was needed.
type Cooling struct {
	Temperature, Factor float64
	SlowAbove, Slow     float64 // above SlowAbove the factor is Slow
	Coldest             float64 // the last temperature
	SmallEntropy        float64 // mean entropy of the labels below which it ends
}

func (c *Cooling) Level() (value, historyLevel float64) { return c.Temperature, c.Temperature }

func (c *Cooling) Next(step Step) Reason {
	switch {
	case step.Entropy < c.SmallEntropy:
		return Entropy
	case c.Temperature <= c.Coldest:
		return Temperature
	case c.Temperature > c.SlowAbove:
		c.Temperature /= c.Slow
	case step.Solve.Steps == 0: // the solution before is good enough here, and so at temperatures in between
		c.Temperature /= c.Factor * c.Factor
	default:
		c.Temperature /= c.Factor
	}
	c.Temperature = max(c.Temperature, c.Coldest)
	return None
}
