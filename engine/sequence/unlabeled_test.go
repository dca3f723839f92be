package sequence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// probabilities of all paths, in the order of eachPath, at scores times a factor.
func probabilities(c *chain, unary []float64, factor float64) (p []float64) {
	eachPath(c.tags, len(unary)/c.tags, func(path []int32) { p = append(p, factor*c.score(unary, path)) })
	total := floats.LogSumExp(p)
	for k := range p {
		p[k] = math.Exp(p[k] - total)
	}
	return p
}

// kl is KL(q | p).
func kl(q, p []float64) (sum float64) {
	for k := range q {
		if q[k] > 1e-200 { // of less p may round to 0
			sum += q[k] * math.Log(q[k]/p[k])
		}
	}
	return sum
}

func TestLossesOfUnlabeledSequencesAreThoseOfEnumeration(t *testing.T) {
	const rho = 2.5
	eachChain(t, func(t *testing.T, random *rand.Rand, c *chain, unary []float64, _ bool) {
		labels := slices.Repeat([]int32{-1}, len(unary)/c.tags)
		var scores []float64
		eachPath(c.tags, len(labels), func(path []int32) { scores = append(scores, c.score(unary, path)) })
		slices.Sort(scores)
		want, last := 0.0, len(scores)-1
		if last > 0 && !math.IsInf(scores[last-1], -1) {
			want, _ = loss.Plateau(scores[last] - scores[last-1])
		}
		if got, _, _ := at(rho, &ambiguity{rho: rho, weight: 0.7}, c, unary, labels); math.Abs(got-0.7*want) > 1e-9 {
			t.Fatalf("ambiguity %v, should be %v", got, 0.7*want)
		}
		if math.IsInf(scores[last], -1) || scores[last]-scores[0] > 100 && !math.IsInf(scores[0], -1) {
			return // no path; q and p without a common one
		}
		other, shifted := sharper(c, rho), slices.Clone(unary)
		for k := range shifted {
			shifted[k] = rho*unary[k] + random.NormFloat64()
		}
		for k := range other.all {
			other.all[k] += random.NormFloat64()
		}
		other.refresh()
		want = 0.3 / rho * kl(probabilities(other, shifted, 1), probabilities(c, unary, rho))
		if got, _, _ := at(rho, divergence{0.3, shifted, other}, c, unary, labels); math.Abs(got-want) > 1e-9 {
			t.Fatalf("divergence %v, should be %v", got, want)
		}
	})
}

// sharper is a chain with its scores times a factor.
func sharper(c *chain, factor float64) *chain {
	s := newChain(c.tags, c.allowed)
	floats.ScaleTo(s.all, factor, c.all)
	s.refresh()
	return s
}

func TestGradientsOfUnlabeledSequencesAreDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	moved := 0
	for range 60 {
		c, unary := drawn(random, 3, 5, 0.3, 0, false)
		other, shifted := drawn(random, 3, 5, 1, 0, false)
		for _, l := range []Loss{&ambiguity{rho: 2, weight: 0.7}, divergence{0.3, shifted, other}} {
			moved += differences(t, 2, l, c, unary, slices.Repeat([]int32{-1}, 5))
		}
	}
	if moved < 1000 {
		t.Errorf("%d slopes are not 0", moved)
	}
}

// differences compares a gradient with differences and returns how many of its entries are not 0.
func differences(t *testing.T, rho float64, l Loss, c *chain, unary []float64, labels []int32) (moved int) {
	const step = 1e-6
	_, into, counts := at(rho, l, c, unary, labels)
	for _, pair := range [][2][]float64{{unary, into}, {c.all, counts.all}} {
		for k, slope := range pair[1] {
			value := func(shift float64) float64 {
				pair[0][k] += shift
				defer func() { pair[0][k] -= shift }()
				found, _, _ := at(rho, l, c, unary, labels)
				return found
			}
			if slope != 0 {
				moved++
			}
			if difference := (value(step) - value(-step)) / (2 * step); math.Abs(difference-slope) > 1e-6 {
				t.Fatalf("%T: gradient %v, difference %v", l, slope, difference)
			}
		}
	}
	return moved
}

// fewLabels takes the labels of all sequences but the first.
func fewLabels(p Problem, labeled int) Problem {
	p.Labels = slices.Clone(p.Labels)
	first := 0
	for i, length := range p.Lengths {
		for t := first; i >= labeled && t < first+int(length); t++ {
			p.Labels[t] = -1
		}
		first += int(length)
	}
	return p
}

// The primal value is that of the dual and μ/2 |φ - m - v/μ|², which is near 0 at the best q.
func TestTheDualOfTheClassPriorIsSolved(t *testing.T) {
	for _, penalty := range []float64{1, 1e4} {
		for _, forbidden := range [][]int{nil, {0, 1}} {
			o := Defaults()
			o.Method, o.Loss, o.Rho, o.PenaltyWeight = "posterior", "soft_hinge", 3, penalty
			o.ClassPrior = []float64{0.6, 0.3, 0.1}
			p := fewLabels(planted(3, 60, 0), 8)
			for t := range p.Labels {
				if t > 0 && p.Labels[t-1] == 0 && p.Labels[t] == 1 && forbidden != nil {
					p.Labels[t] = -1
				}
			}
			o.Forbidden = forbidden
			s := mustSample(t, p, o)
			d := newStochastic(s, newWeights(s.shape))
			d.epoch()
			about, _, _ := newBelief(s)
			b := about.(*posterior)
			b.enter(d.w, 1)
			checkDual(t, b, d, penalty)
		}
	}
}

// checkDual gives the primal value, a token.
func checkDual(t *testing.T, b *posterior, d *stochastic, penalty float64) (primal float64) {
	t.Helper()
	d.setChain(d.chain, d.w.chain)
	shares, sum, length := make([]float64, 3), 0.0, d.shape.Stride()
	var v []float64
	for _, i := range b.sequences {
		wide := make([]float64, d.span(i).Len()*length)
		d.span(i).TimesPanels(d.Rows, wide, d.w.coef, d.shape)
		unary := make([]float64, d.span(i).Len()*3)
		d.sharpen(unary, wide)
		p, q := probabilities(d.chain, unary, 1), probabilities(b.chain, b.scoresOf(i), 1)
		sum += kl(q, p)
		k := 0
		eachPath(3, d.span(i).Len(), func(path []int32) {
			for _, y := range path {
				shares[y] += q[k] / b.tokens
			}
			k++
		})
		v = slices.Clone(b.scoresOf(i)[:3])
		vector.Add(v, -1, unary[:3])
	}
	primal = sum / b.tokens
	gap, most, at := 0.0, 0.0, make([]float64, 3)
	for y, m := range shares {
		miss := b.prior[y] - m
		primal += penalty / 2 * miss * miss
		gap += penalty / 2 * (miss - v[y]/penalty) * (miss - v[y]/penalty)
		most = max(most, math.Abs(miss-v[y]/penalty)/math.Sqrt(b.prior[y]))
		at[y] = v[y] * math.Sqrt(b.prior[y])
	}
	value := -b.before(v).At(at, make([]float64, 3))
	if most > dualTolerance || math.Abs(primal-value-gap) > 1e-9*(1+primal) {
		t.Errorf("penalty %v: primal %v, dual %v, shares %v, (φ - m - v/μ) / √φ up to %v", penalty, primal, value, shares, most)
	}
	return primal
}

// The objective of a fit is that of the labeled sequences and the weighted primal value, at its weights.
func TestTheObjectiveHasThePrimalValue(t *testing.T) {
	o := Defaults()
	o.Method, o.Loss, o.Rho, o.PenaltyWeight = "posterior", "soft_hinge", 3, 1
	p := fewLabels(planted(3, 60, 0), 8)
	fitted := mustFit(t, p, func(changed *Options) { *changed = o })
	s := mustSample(t, p, o)
	w := newWeights(s.shape)
	if err := warmStart(s, w, fitted.Model); err != nil {
		t.Fatal(err)
	}
	d := newStochastic(s, w)
	want, weight := d.objectiveNow(0), (float64(len(s.labels))-s.labeled)/(20*s.labeled)
	about, _, _ := newBelief(s)
	b := about.(*posterior)
	b.enter(d.w, 1)
	want += weight / o.Rho * checkDual(t, b, d, o.PenaltyWeight)
	if weight >= 1 || math.Abs(fitted.Model.Objective/want-1) > 1e-5 {
		t.Errorf("weight %v: objective %v, should be %v", weight, fitted.Model.Objective, want)
	}
}

// noted is a belief that keeps the parts of the weight that a fit gives it.
type noted struct {
	belief
	parts *[]float64
}

func (n noted) enter(w weights, part float64) (rest float64) {
	*n.parts = append(*n.parts, part)
	return n.belief.enter(w, part)
}

func TestTheWeightOfUnlabeledSequencesRisesByEqualFactors(t *testing.T) {
	var parts []float64
	whole := methods["gradient"]
	t.Cleanup(func() { methods["gradient"] = whole })
	changed := whole
	changed.begin = func(s *sample, unlabeled []int, tokens, factor float64) belief {
		return noted{whole.begin(s, unlabeled, tokens, factor), &parts}
	}
	methods["gradient"] = changed
	mustFit(t, fewLabels(planted(3, 60, 0), 20), func(o *Options) { o.Method, o.MaxIter = "gradient", 10 })
	for k, part := range parts[:10] {
		if want := firstPart * math.Pow(1/firstPart, float64(k)/9); math.Abs(part/want-1) > 1e-12 {
			t.Errorf("epoch %d: %v, should be %v", k, part, want)
		}
	}
	if len(parts) != 11 || parts[10] != 1 { // for the objective
		t.Errorf("parts %v", parts)
	}
	if parts := path.EqualFactors(firstPart, 1); len(parts) != 1 || parts[0] != 1 {
		t.Errorf("a single epoch: %v", parts)
	}
}

// before takes the dual variables out of the scores again.
func (p *posterior) before(v []float64) *posterior {
	p.addToScores(floats.ScaleTo(make([]float64, len(v)), -1, v))
	return p
}

func TestUnlabeledSequencesOfNoWeightAndOneBesideManyHaveNoEffect(t *testing.T) {
	for labeled, weight := range map[int]float64{20: 0, 99: Defaults().UnlabeledWeight} {
		p := fewLabels(planted(3, 100, 0), labeled)
		plain := mustFit(t, p, nil)
		for _, method := range []string{"gradient", "posterior"} {
			without := mustFit(t, p, func(o *Options) { o.Method, o.UnlabeledWeight = method, weight })
			if !slices.Equal(without.Model.Coef, plain.Model.Coef) || without.Model.Iterations != plain.Model.Iterations {
				t.Errorf("%s beside %d: other weights", method, labeled)
			}
		}
	}
}
