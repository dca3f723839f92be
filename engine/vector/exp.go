package vector

import "math"

// Exp replaces every entry by its exponential, 0 below -708; entries are at most 708.
//
//	Problem  e^x = 2^n e^r with n the whole number nearest to x / log 2
//	Source   Taylor's series of e^r to the term in r^13: |r| is at most log(2) / 2, where the rest is below a tenth of
//	         the rounding of one number
//	Cost     a fifth of the time of math.Exp on processors with AVX2; the loop in Go gives the same bits. With that loop
//	         a whole fit takes 1.1 to 1.3 times the processor time (20 Newsgroups, Reuters R8)
func Exp(x []float64) {
	if expLoop(x) {
		return
	}
	for k, v := range x {
		x[k] = exp(v)
	}
}

// The logarithm of 2 is split, so that n times its first part is exact.
const (
	leastExponent = -708 // the exponential of less is no normal number
	log2Of        = 1 / math.Ln2
	ln2High       = 6.93147180369123816490e-01
	ln2Low        = 1.90821492927058770002e-10
)

// taylor are 1/13!, 1/12!, ..., 1/0!.
var taylor = func() (c [14]float64) {
	factorial := 1.0
	for k := range c {
		c[len(c)-1-k] = 1 / factorial
		factorial *= float64(k + 1)
	}
	return c
}()

func exp(x float64) float64 {
	if x < leastExponent {
		return 0
	}
	n := math.RoundToEven(x * log2Of)
	r := math.FMA(-n, ln2Low, math.FMA(-n, ln2High, x))
	p := taylor[0]
	for _, c := range taylor[1:] {
		p = math.FMA(p, r, c)
	}
	return math.Float64frombits(math.Float64bits(p) + uint64(int64(n))<<52)
}
