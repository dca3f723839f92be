package sequence

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	drawing "github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// planted is sequences of up to six tokens whose features depend on the tag, which depends on the one before; missing
// is the share of tokens without a label.
func planted(tags, sequences int, missing float64) Problem {
	random := rand.New(rand.NewPCG(uint64(tags), uint64(sequences)))
	const features = 30
	indptr, p := []int64{0}, Problem{}
	var indices []int32
	var values []float64
	for i := range sequences {
		length, tag := 1+random.IntN(6), i%tags
		p.Lengths = append(p.Lengths, int64(length))
		for range length {
			for range 3 {
				indices = append(indices, int32((tag*3+random.IntN(9))%features))
				values = append(values, 0.5+random.Float64())
			}
			indptr = append(indptr, int64(len(indices)))
			label := int32(tag)
			if random.Float64() < missing {
				label = -1
			}
			p.Labels = append(p.Labels, label)
			if random.IntN(3) == 0 {
				tag = (tag + 1) % tags
			}
		}
	}
	for y := range tags { // each has a label
		p.Labels[y] = int32(y)
	}
	p.Rows, _ = rows.New(features, indptr, indices, values)
	return p
}

func mustFit(t *testing.T, p Problem, change func(o *Options)) *Result {
	t.Helper()
	o := Defaults()
	if change != nil {
		change(&o)
	}
	result, err := Fit(p, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// gradientOf is the gradient of F at the weights of d, summed over the sequences.
func gradientOf(d *stochastic) []float64 {
	d.setChain(d.chain, d.w.chain)
	g, p := newWeights(d.shape), place{counts: newEdges(d.tags)}
	for _, i := range d.order {
		d.evaluate(&p, i)
		rows.AddSpans(d.Pool, d.Rows, []rows.Span{d.span(i)}, g.coef, [][]float64{p.scores}, d.shape)
		vector.Add(g.chain.all, 1, p.counts.all)
	}
	vector.Scale(g.all, 1/d.labeled)
	vector.Add(g.all, d.options.Alpha, d.w.all)
	return g.all
}

func mustSample(t *testing.T, p Problem, o Options) *sample {
	t.Helper()
	s, err := newSample(p, o, work.NewJob(2, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheGradientOfTheObjectiveIsItsDifferences(t *testing.T) {
	for _, missing := range []float64{0, 0.5} {
		for _, tags := range []int{1, 3, 9} {
			o := Defaults()
			o.Alpha, o.Forbidden = 0.1, []int{0, 0}
			p := planted(tags, 20, missing)
			if tags == 1 {
				o.Forbidden = nil
			}
			for t := 1; t < len(p.Labels); t++ {
				if p.Labels[t] == 0 && p.Labels[t-1] == 0 && tags > 1 {
					p.Labels[t] = -1 // forbidden
				}
			}
			s, random := mustSample(t, p, o), rand.New(rand.NewPCG(7, 8))
			d := newStochastic(s, newWeights(s.shape))
			w := d.w.all
			for k := range s.Rows.Cols() {
				for y := range tags {
					w[s.shape.At(k, y)] = random.NormFloat64()
				}
			}
			for k, slope := range gradientOf(d) {
				if slope == 0 && w[k] == 0 {
					continue // what fills up a panel, and what is forbidden
				}
				const step = 1e-5
				at := w[k]
				w[k] = at + step
				above := d.objectiveNow(0)
				w[k] = at - step
				below := d.objectiveNow(0)
				w[k] = at
				if difference := (above - below) / (2 * step); math.Abs(difference-slope) > 1e-8 {
					t.Fatalf("%d tags, weight %d: gradient %v, difference %v", tags, k, slope, difference)
				}
			}
		}
	}
}

// F(w) - F(w*) <= |g|²/2α, as F is strongly convex where every token has a label.
func TestEpochsComeNearTheOptimum(t *testing.T) {
	p := planted(5, 200, 0)
	for _, loss := range []string{"softmax_margin", "crf", "soft_hinge"} {
		o := Defaults()
		o.Alpha, o.Loss, o.Rho, o.MaxIter = 0.1, loss, 3, 300
		found := mustFit(t, p, func(changed *Options) { *changed = o })
		s := mustSample(t, p, o)
		w := newWeights(s.shape)
		if err := warmStart(s, w, found.Model); err != nil {
			t.Fatal(err)
		}
		g := gradientOf(newStochastic(s, w))
		if gap := vector.Dot(g, g) / (2 * o.Alpha); gap > 0.05*found.Model.Objective {
			t.Errorf("%s: %v after epochs, the optimum may be lower by %v", loss, found.Model.Objective, gap)
		}
	}
}

// By every method, of sequences with some labels missing and of some without any; rows times a power of two have the
// same paths.
func TestFitsHaveTheSameBitsOnAnyNumberOfThreadsAndInAnyUnit(t *testing.T) {
	worktest.Processors(t, 8)
	for method := range methods {
		for _, tags := range []int{1, 3, 9} {
			p := planted(tags, 1500, 0.1)
			if method != supervised {
				p = fewLabels(planted(tags, 600, 0), 100)
			}
			of := func(p Problem, threads int) *model.Chain {
				return mustFit(t, p, func(o *Options) { o.Method, o.Threads, o.MaxIter = method, threads, 3 }).Model
			}
			want := of(p, 1)
			for _, threads := range []int{2, 5} {
				if got := of(p, threads); !slices.Equal(got.Coef, want.Coef) || got.Objective != want.Objective ||
					!slices.Equal(got.Transitions, want.Transitions) {
					t.Errorf("%s, %d tags: other bits on %d threads", method, tags, threads)
				}
			}
			q := p
			q.Rows = drawing.Resized(p.Rows, 0, func(_, _ int) float64 { return 1024 })
			if got := of(q, 2); got.Objective != want.Objective || !slices.Equal(decoded(t, got, q), decoded(t, want, p)) {
				t.Errorf("%s, %d tags: objectives %v and %v", method, tags, got.Objective, want.Objective)
			}
		}
	}
}

// modelOfChain is a model without features.
func modelOfChain(c *chain) *model.Chain {
	return &model.Chain{Tags: c.tags, Transitions: c.pair, Start: c.start, End: c.end}
}

func decoded(t *testing.T, m *model.Chain, p Problem) []int32 {
	t.Helper()
	tags := make([]int32, p.Rows.Rows())
	if err := Decode(work.NewPool(2), m, p.Rows, p.Lengths, Decoded{Tags: tags}); err != nil {
		t.Fatal(err)
	}
	return tags
}

func TestAForbiddenTransitionIsNeverTaken(t *testing.T) {
	p := planted(3, 100, 0)
	first := 0
	for _, length := range p.Lengths {
		labels := p.Labels[first : first+int(length)]
		for k, label := range labels {
			if k == 0 && label == 2 || k > 0 && label >= 0 && labels[k-1]+label == 1 {
				labels[k] = -1
			}
		}
		first += int(length)
	}
	m := mustFit(t, p, func(o *Options) { o.Forbidden = []int{0, 1, 1, 0, -1, 2} }).Model
	tags, at := decoded(t, m, p), 0
	for _, length := range p.Lengths {
		for k, tag := range tags[at : at+int(length)] {
			if k == 0 && tag == 2 || k > 0 && tags[at+k-1]+tag == 1 {
				t.Fatalf("tags %v", tags[at:at+int(length)])
			}
		}
		at += int(length)
	}
}

func TestAFitGoesOnFromAModel(t *testing.T) {
	p := planted(3, 100, 0)
	first := mustFit(t, p, nil)
	p.Start = first.Model
	again := mustFit(t, p, func(o *Options) { o.MaxIter = 1 })
	if again.Objectives[0] > 0.8*first.Objectives[0] {
		t.Errorf("the mean loss of the first epoch is %v, and was %v", again.Objectives[0], first.Objectives[0])
	}
}

func TestMarginsAndMarginalsAreThoseOfTheChain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	c, unary := drawn(random, 3, 12, 1, 0, false)
	bounds := []int{0, 1, 6, 12}
	d := Decoded{make([]int32, 12), make([]float64, 3), make([]float64, 3), make([]float64, 36)}
	m := modelOfChain(c)
	m.Features, m.Coef = 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	x, err := rows.NewDense(12, 3, 3, unary)
	if err != nil {
		t.Fatal(err)
	}
	if err := Decode(work.NewPool(2), m, x, []int64{1, 5, 6}, d); err != nil {
		t.Fatal(err)
	}
	for i := range d.Scores {
		part := unary[bounds[i]*3 : bounds[i+1]*3]
		var scores []float64
		eachPath(3, len(part)/3, func(path []int32) { scores = append(scores, c.score(part, path)) })
		slices.Sort(scores)
		last := len(scores) - 1
		if !near(d.Scores[i], scores[last]) || !near(d.Margins[i], scores[last]-scores[last-1]) {
			t.Errorf("sequence %d: %v and %v, should be %v and %v", i, d.Scores[i], d.Margins[i], scores[last],
				scores[last]-scores[last-1])
		}
		if !near(c.score(part, d.Tags[bounds[i]:bounds[i+1]]), d.Scores[i]) {
			t.Errorf("sequence %d: tags of another score", i)
		}
		if sum := vector.Sum(d.Marginals[bounds[i]*3 : bounds[i+1]*3]); !near(sum, float64(bounds[i+1]-bounds[i])) {
			t.Errorf("sequence %d: marginals sum to %v", i, sum)
		}
	}
}

func TestBadInputIsNamed(t *testing.T) {
	for name, test := range map[string]struct {
		says   string
		change func(p *Problem, o *Options)
	}{
		"lengths too short":   {"lengths sum to", func(p *Problem, _ *Options) { p.Lengths = p.Lengths[1:] }},
		"lengths too long":    {"lengths sum to", func(p *Problem, _ *Options) { p.Lengths = append(p.Lengths, 5) }},
		"length of zero":      {"lengths of sequence 4 is 0", func(p *Problem, _ *Options) { p.Lengths[4] = 0 }},
		"overflow":            {"lengths of sequence 2 is 9223372036854775807", func(p *Problem, _ *Options) { p.Lengths[2] = math.MaxInt64 }},
		"a tag never labeled": {"no token has tag 3", func(p *Problem, _ *Options) { p.Labels[0] = 5 }},
		"a label of no tag":   {"labels of row 3 is -2", func(p *Problem, _ *Options) { p.Labels[3] = -2 }},
		"no label":            {"no token has a label", func(p *Problem, _ *Options) { *p = fewLabels(*p, 0) }},
		"a pair out of range": {"the pair 0, 3", func(_ *Problem, o *Options) { o.Forbidden = []int{0, 3} }},
		"a pair of none":      {"the pair -1, -1", func(_ *Problem, o *Options) { o.Forbidden = []int{-1, -1} }},
		"no path": {"no path for sequence 0", func(_ *Problem, o *Options) {
			o.Forbidden = []int{-1, 0, -1, 1, -1, 2}
		}},
		"forbidden labels": {"labels of sequence 0, tokens 0 and 1 (row 1): tag 1 after tag 0", func(p *Problem, o *Options) {
			p.Lengths, o.Forbidden = []int64{2, int64(len(p.Labels)) - 2}, []int{0, 1}
		}},
		"a set of none": {"allowed of row 9 has no tag", func(p *Problem, _ *Options) {
			p.Labels[9], p.Allowed = -1, slices.Repeat([]uint8{1}, 3*len(p.Labels))
			clear(p.Allowed[27:30])
		}},
		"values too large": {"rows of X are too short or too long", func(p *Problem, _ *Options) { p.Rows = p.Rows.Scaled(1e307) }},
		"values too small": {"rows of X are too short or too long", func(p *Problem, _ *Options) { p.Rows = p.Rows.Scaled(1e-309) }},
		"large weights":    {"the fit overflowed", func(p *Problem, _ *Options) { p.Rows = p.Rows.Scaled(2e-308) }},
		"few shares": {"class_prior has 1 shares, but there are 3 tags", func(_ *Problem, o *Options) {
			o.ClassPrior = []float64{1}
		}},
		"a sum of shares": {"class_prior sums to 3", func(_ *Problem, o *Options) { o.ClassPrior = []float64{1, 1, 1} }},
	} {
		p, o := planted(3, 40, 0), Defaults()
		test.change(&p, &o)
		if _, err := Fit(p, o, nil); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ones are so many tokens of one feature.
func ones(n int) *rows.Matrix {
	return drawing.Sparse(n, 1, func(_ int, add func(int, float64)) { add(0, 1) })
}

func TestAHundredThousandTagsAreRefused(t *testing.T) {
	const n = 100_000
	p := Problem{Lengths: []int64{n}, Labels: make([]int32, n), Rows: ones(n)}
	for i := range p.Labels {
		p.Labels[i] = int32(i)
	}
	_, err := Fit(p, Defaults(), nil)
	var found *fault.Error
	if !errors.As(err, &found) || found.Kind != fault.NoMemory {
		t.Errorf("got %v", err)
	}
}

// What a long sequence takes is asked for first, in a fit by any method and in decoding. A thread decodes one sequence
// at a time: as many threads as sequences have all of their memory at once.
func TestLongSequencesAreAskedFor(t *testing.T) {
	worktest.Processors(t, 2)
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	const n, tags = 8_000, 30
	p := Problem{Lengths: []int64{n / 2, n / 2}, Labels: slices.Repeat([]int32{-1}, n), Rows: ones(n)}
	for i := range n / 2 {
		p.Labels[i] = int32(i % tags)
	}
	asked := 0.0
	memory.Need = func(bytes float64, _, _ string) error { asked = bytes; return nil }
	var result *Result
	check := func(name string, call func() error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := call()
		runtime.ReadMemStats(&after)
		if taken := float64(after.TotalAlloc - before.TotalAlloc); err != nil || taken > asked || taken < asked/8 {
			t.Errorf("%s: %v; asked for %.0f bytes, took %.0f", name, err, asked, taken)
		}
	}
	for method := range methods {
		for _, loss := range []string{"crf", "soft_hinge"} {
			o := Defaults()
			o.Method, o.MaxIter, o.Loss = method, 1, loss
			check(method+" "+loss, func() (err error) { result, err = Fit(p, o, nil); return err })
		}
	}
	for threads := 1; threads <= 2; threads++ {
		tokens, lengths := threads*n/2, p.Lengths[:threads]
		to := Decoded{Tags: make([]int32, tokens), Margins: make([]float64, threads), Marginals: make([]float64, tokens*tags)}
		check(fmt.Sprintf("decode on %d threads", threads), func() error {
			return Decode(work.NewPool(threads), result.Model, ones(tokens), lengths, to)
		})
	}
}

func TestCancelEndsAFit(t *testing.T) {
	if _, err := Fit(planted(3, 40, 0), Defaults(), &work.Progress{Cancel: 1}); !errors.Is(err, fault.ErrCancelled) {
		t.Error(err)
	}
	stopped, err := Fit(planted(3, 40, 0), Defaults(), &work.Progress{Cancel: work.Stop})
	if err != nil || stopped.Model.Termination != "stopped" || stopped.Model.Iterations != 1 {
		t.Errorf("%+v, %v", stopped, err)
	}
}

// withUnlabeled appends a sequence of one token without a label, which has the last of the features alone.
func withUnlabeled(p Problem, value float64) Problem {
	before := p.Rows
	p.Rows = drawing.Sparse(before.Rows()+1, before.Cols()+1, func(i int, add func(int, float64)) {
		if i < before.Rows() {
			before.Row(i, add)
		} else {
			add(before.Cols(), value)
		}
	})
	p.Lengths, p.Labels = append(slices.Clone(p.Lengths), 1), append(slices.Clone(p.Labels), -1)
	return p
}

func TestASequenceWithoutLabelsHasNoEffect(t *testing.T) {
	p := planted(3, 100, 0)
	length := p.Rows.RootMeanSquare(work.NewJob(1, nil), slices.Repeat([]float64{1}, p.Rows.Rows())) // so that the rows keep their unit
	change := func(o *Options) { o.Alpha = 1e-2 }
	without, with := mustFit(t, p, change).Model, mustFit(t, withUnlabeled(p, length), change).Model
	for k, weight := range without.Coef {
		if math.Abs(with.Coef[k]-weight) > 1e-9 {
			t.Fatalf("weight %d is %v, without the sequence %v", k, with.Coef[k], weight)
		}
	}
}

func TestAFeatureThatNoStepMovesIsRegularized(t *testing.T) {
	p := planted(3, 40, 0)
	tokens, epochs := float64(len(p.Labels)), 2.0
	p = withUnlabeled(p, 1)
	p.Start = modelOfChain(newChain(3, nil))
	p.Start.Features, p.Start.Coef = 31, make([]float64, 93)
	p.Start.Coef[91] = 2
	m := mustFit(t, p, func(o *Options) { o.Alpha, o.MaxIter = 0.1, int(epochs) }).Model
	want := 2 / (1 + rate/math.Sqrt(offset)*0.1*epochs*tokens)
	if got := m.Coef[91]; !near(got, want) {
		t.Errorf("weight %v, should be %v", got, want)
	}
}

func TestTheObjectiveIsThatOfTheLossInTheOptions(t *testing.T) {
	const alpha = 1e-2
	p := planted(3, 40, 0.2)
	bounds, _, err := boundsOf(p.Lengths, p.Rows.Rows())
	if err != nil {
		t.Fatal(err)
	}
	length := p.Rows.RootMeanSquare(work.NewJob(1, nil), slices.Repeat([]float64{1}, p.Rows.Rows()))
	for _, c := range []struct {
		name string
		loss SoftmaxMargin
	}{{"crf", SoftmaxMargin{1, 0}}, {"softmax_margin", SoftmaxMargin{1, 1}}, {"soft_hinge", SoftmaxMargin{3, 1}}} {
		found := mustFit(t, p, func(o *Options) { o.Alpha, o.Loss, o.Rho, o.MaxIter = alpha, c.name, 3, 2 })
		m, losses := found.Model, 0.0
		for i, first := range bounds[:len(bounds)-1] {
			unary := make([]float64, (bounds[i+1]-first)*3)
			for k := range unary {
				p.Rows.Row(first+k/3, func(j int, v float64) { unary[k] += v * m.Coef[j*3+k%3] })
			}
			losses += byEnumeration(c.loss, chainOf(m), unary, p.Labels[first:bounds[i+1]])
		}
		labeled := 0.0
		for _, label := range p.Labels {
			if label >= 0 {
				labeled++
			}
		}
		chain := vector.Dot(m.Transitions, m.Transitions) + vector.Dot(m.Start, m.Start) +
			vector.Dot(m.End, m.End)
		want := alpha/2*(length*length*vector.Dot(m.Coef, m.Coef)+chain) + losses/labeled
		if math.Abs(found.Model.Objective-want) > 1e-9*want {
			t.Errorf("%s: objective %v, should be %v", c.name, found.Model.Objective, want)
		}
	}
}

// Sets of one tag are labels and sets of all none, bit for bit; others lower the error of the tokens.
func TestSetsOfTags(t *testing.T) {
	p := planted(4, 300, 0)
	truth := slices.Clone(p.Labels)
	hidden := slices.Clone(truth)
	for i := range hidden {
		if i > 8 && i%10 > 0 {
			hidden[i] = -1
		}
	}
	sets := func(of func(i int, tag, truth int32) bool) (allowed []uint8) {
		for i, y := range truth {
			for tag := range int32(4) {
				allowed = append(allowed, 0)
				if of(i, tag, y) {
					allowed[len(allowed)-1] = 1
				}
			}
		}
		return allowed
	}
	for _, loss := range []string{"softmax_margin", "crf", "soft_hinge"} {
		fit := func(labels []int32, allowed []uint8) *Result {
			q := p
			q.Labels, q.Allowed = labels, allowed
			return mustFit(t, q, func(o *Options) { o.Loss = loss })
		}
		one := fit(hidden, sets(func(_ int, tag, y int32) bool { return tag == y }))
		if want := fit(truth, nil); !slices.Equal(one.Model.Coef, want.Model.Coef) {
			t.Errorf("%s: sets of one tag are no labels", loss)
		}
		none := fit(hidden, nil)
		if all := fit(hidden, sets(func(int, int32, int32) bool { return true })); !slices.Equal(all.Model.Coef, none.Model.Coef) {
			t.Errorf("%s: sets of all tags are not as none", loss)
		}
		two := fit(hidden, sets(func(i int, tag, y int32) bool { return tag == y || tag == (y+1+int32(i%3))%4 }))
		wrong := func(r *Result) (n int) {
			for i, tag := range decoded(t, r.Model, p) {
				n += min(1, int(tag^truth[i]))
			}
			return n
		}
		if before, after := wrong(none), wrong(two); after >= before {
			t.Errorf("%s: %d tags wrong, without sets %d", loss, after, before)
		}
	}
}
