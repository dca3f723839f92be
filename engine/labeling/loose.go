package labeling

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// LooseClasses finds soft labels whose means may leave the class prior at a cost, and returns these means.
//
//	Problem  min over p >= 0  Σ s_i [ Σ_y p_iy c_iy + T Σ_y p_iy log(p_iy / e_y) ] / Σ s_i + S Σ_y r_y log(r_y / q_y)
//	         subject to Σ_y p_iy = 1; q_y weighted mean of p_iy
//	Symbols  as in SoftClasses; S > 0 strength of the prior, in the unit of costs; e reference: the prior r itself
//	         (fromPrior), so that warm labels are those of the prior and not all equal, or 1. v_y multiplier of q_y:
//	         p_iy is proportional to e_y exp(-(c_iy - v_y) / T), and q_y = r_y / (1 + v_y / S): the dual has the
//	         gradient r / (1 + v/S) - q and the Hessian -H / T - diag(q / (S + v)). S → ∞ is SoftClasses
//	Source   the penalty of Mann & McCallum 2007 on the means of labels. A class without any row would cost infinitely
//	         much: the labels cannot run away from a class
//	Stops    as SoftClasses
//	Cost     as SoftClasses
//
// It fills p and the potentials v, which are a first guess on entry: those of the last call, or zeros.
func LooseClasses(
	job *work.Job, p, costs, weights, prior []float64, strength, temperature float64, fromPrior bool, potentials []float64,
) (means []float64) {
	reference := make([]float64, len(prior))
	if fromPrior {
		for y, share := range prior {
			reference[y] = temperature * math.Log(share)
		}
	}
	whole := make([]float64, len(prior)) // v + T log e
	d := newDual(job, p, costs, weights, prior, whole)
	copy(whole, potentials)
	vector.Add(whole, 1, reference)
	d.loose = &loose{strength: strength, fromPrior: fromPrior}
	d.aim = make([]float64, len(prior))
	d.soften(temperature)
	copy(potentials, whole)
	vector.Add(potentials, -1, reference)
	return d.q
}

// loose says how the aim of the means yields to the potentials.
type loose struct {
	strength  float64
	fromPrior bool
}

// leastGiven bounds the share that a class is offered to a multiple of its prior: far from the solution only.
const leastGiven = 1e-3

// given is 1 + v/S of a class at potentials.
func (d *dual) given(potentials []float64, y int) float64 {
	v := potentials[y]
	if d.loose.fromPrior {
		v -= d.temperature * math.Log(d.shares[y])
	}
	return math.Max(leastGiven, 1+v/d.loose.strength)
}

// target sets the aim at these potentials.
func (d *dual) target(potentials []float64) {
	for _, y := range d.live {
		d.aim[y] = d.shares[y] / d.given(potentials, y)
	}
}

// yield is minus the derivative of a class's aim.
func (d *dual) yield(y int) float64 {
	if d.loose == nil {
		return 0
	}
	given := d.given(d.v, y)
	return d.shares[y] / (given * given * d.loose.strength)
}

// give is how far a potential goes until the logarithms of mean and aim have met, a unit apart, if the others stay.
func (d *dual) give(y int) float64 {
	if d.loose == nil {
		return d.temperature
	}
	return 1 / (1/d.temperature + 1/(d.loose.strength*d.given(d.v, y)))
}

// middle shifts potentials that come from hard labels to where the aims sum to about 1.
func (d *dual) middle(potentials []float64) {
	if d.loose == nil {
		return
	}
	mean := 0.0
	for _, y := range d.live {
		mean += d.shares[y] * potentials[y]
	}
	for _, y := range d.live {
		potentials[y] -= mean
	}
}

// LooseSoft is LooseClasses for two classes, from the prior, as Soft is SoftClasses: it fills p and returns ν, the
// difference of the two potentials, and the mean of p. start is a guess of ν.
func LooseSoft(
	job *work.Job, p, g, s []float64, temperature, prior, strength, start float64,
) (nu, mean float64) {
	reference := temperature * logit(prior)
	aim := func(nu float64) (share, steepness float64) {
		share = looseShare(prior, strength, nu-reference)
		rest := 1 - share
		return share, -share * rest / (strength * (prior*rest*rest + (1-prior)*share*share))
	}
	low, high := bracket(g, temperature, prior)
	low, high = math.Min(low, reference), math.Max(high, reference)
	nu, mean = solveSoft(job, p, g, s, temperature, aim, low, high, start+reference)
	return nu - reference, mean
}

// looseShare is the share m of positives at which v_1 - v_0 = S (r/m - (1-r)/(1-m)) is a given difference.
func looseShare(prior, strength, difference float64) float64 {
	x := difference / strength // x m² - (1 + x) m + r = 0
	share := 2 * prior / (1 + x + math.Sqrt(math.Max(0, (1+x)*(1+x)-4*x*prior)))
	return math.Min(math.Max(share, 1e-12), 1-1e-12)
}
