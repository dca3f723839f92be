package method

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/path"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// mixture has a component for each class, and is fitted to labeled and unlabeled rows together.
//
//	Problem  max over θ, φ  Σ_labeled w_i log p(x_i|θ_y(i)) + Σ_unlabeled w_i log Σ_y φ_y p(x_i|θ_y) + Σ_y log φ_y
//	         + u λ Σ_jy log θ_jy (multinomials only)
//	Symbols  multinomials, for rows without negative values: log p(x_i|θ_y) = u Σ_j x_ij / x̄ log θ_jy, x̄ the mean of
//	         the values that are not 0; spheres: κ x_i . θ_y / |x_i|, |θ_y| = 1 (von Mises-Fisher distributions)
//	Source   Nigam, McCallum, Thrun & Mitchell 2000 (EM of multinomials); Banerjee, Dhillon, Ghosh & Sra 2005 (spheres)
//	Start    ours: the labels, or the descriptions where every class has one, which stay a part of it (addNames);
//	         measured in docs/notes/committee.md
//	Differences  words of a text depend on each other and make probabilities too certain: a value counts as u < 1 words,
//	         and κ is small and the same for all classes. Dense rows of float32 take rounded products. The first class
//	         has what the others leave: without its column the default takes .85 of the time of two classes
//	Stops    where a step changes the likeliest class of few rows, by weight; after mixtureSteps steps of EM, as further
//	         ones move away from the labels
//	Cost     a step is two passes over the rows with K - 1 columns, and as many logarithms for each feature
type mixture struct {
	job       *work.Job
	rows      *rows.Matrix  // [n] labeled and unlabeled rows
	rounded   *rows.Rounded // their rounded products, or nil
	largest   float64       // factor of a row in the sums of components: unit times weight
	shape     panel.Shape   // of the classes but the first, class 0: the others are compared with it
	spheres   bool
	features  float64   // number of words that occur in rows with a weight, at least 1
	word      float64   // 1/x̄; spheres: 1
	exponent  float64   // u; spheres: 1
	unit      []float64 // [n] factor of a row in the sums of components: 1/x̄ or 1/|x_i|
	weight    []float64 // [n] w_i; 0: the row takes no part
	class     []int32   // [n] the likeliest class; -1: none yet; fixed: that of the label stays
	all       []float64 // [Features] sum of the components over all rows
	labeled   []float64 // [Features] the same over those that posterior has: in the first step the labeled rows
	joint     []float64 // [n, stride] log φ_y p(x_i|θ_y), less that of class 0
	posterior []float64 // [n, stride] w_i times the row's factor times the probability of the class
	component []float64 // [shape.Len] log θ_jy or κ θ_jy, less that of class 0
	share     []float64 // [K] φ
	given     []float64 // [K] what φ stays, but for one row of each class; nil: EM finds it
	named     []float64 // [shape.Len] the descriptions' part of component; nil: none
	offset    []float64 // [K-1] what spheres' named takes from the mean row
}

// Chosen on the choosing sets of docs/notes/class-shares.md.
const (
	mixtureSteps  = 8
	fewChanges    = 0.01  // part of the rows' weight; words take four or five steps, with the same macro F
	worth         = 0.2   // u
	smoothing     = 0.1   // λ
	concentration = 100.0 // κ

	// Where every class has a description; measured in docs/notes/committee.md.
	namedSteps   = 16  // of words: those of a few descriptions take longer to reach all rows
	namedSpheres = 0.4 // part of the first components
)

const fixed = -2 // the class of a labeled row

// mix is the mixture of all rows and labels as a classifier. Spheres take every row for one of the usual length, 1.
func mix(r *Run) *Solution {
	s := r.Objective.Sample
	m := newMixture(s, r.Objective.Job, s.Rows)
	if r.Settled {
		m.given = r.Objective.Prior
	}
	m.fit(s)
	r.Path.Reason = path.Converged
	packed := m.linear(s.Options.FitIntercept)
	return &Solution{Coef: s.Unpacked(packed).Coef, Intercept: packed.Intercept, Converged: true}
}

// MixesSoon reports whether five mixtures of a part of the rows take at most some seconds.
func MixesSoon(s *sample.Sample) bool {
	return s.Classes()*s.Rows.Cols() <= maxComponents && s.Classes()*s.Job.Count(s.Rows.NonZeros()) <= maxProducts
}

const (
	maxComponents = 1 << 22 // features times classes: logarithms
	maxProducts   = 1 << 27 // non-zeros times classes

	// Ratios between rows for which float32 has the digits: sums lose those of rows next to a heavy one.
	weightRange = 1e3
	factorRange = 1e13
)

// newMixture has multinomials, or spheres if a value is negative.
func newMixture(s *sample.Sample, job *work.Job, rows *rows.Matrix) *mixture {
	n, shape := rows.Rows(), panel.Shape{Features: rows.Cols(), Classes: max(1, s.Classes()-1)}
	m := &mixture{job: job, rows: rows, rounded: rows.Rounded(shape), shape: shape,
		joint: make([]float64, n*shape.Stride()), posterior: make([]float64, n*shape.Stride()),
		component: make([]float64, shape.Len()), share: make([]float64, s.Classes()), unit: make([]float64, n),
		offset: make([]float64, shape.Classes), weight: make([]float64, n), class: slices.Repeat([]int32{-1}, n)}
	all, weights := slices.Concat(s.Labeled, s.Unlabeled), slices.Concat(s.LabeledRows, s.UnlabeledRows)
	sums := make([]float64, 2) // negative values, one of which ends a block; the weight of positive ones
	job.Sum(len(all), sums, func(lo, hi int, part []float64) {
		for k := lo; k < hi && part[0] == 0; k++ {
			rows.Row(int(all[k]), func(_ int, value float64) {
				if value < 0 {
					part[0]++
				} else if value > 0 {
					part[1] += weights[k]
				}
			})
		}
	})
	if sums[0] > 0 {
		m.useSpheres(all)
		m.all = m.sum(all, weights)
	} else {
		m.useWords(all, weights, sums[1])
	}
	least := math.Inf(1)
	for k, i := range all {
		m.weight[i] = weights[k]
		if factor := m.unit[i] * weights[k]; factor > 0 {
			m.largest, least = max(m.largest, factor), min(least, factor)
		}
	}
	if m.largest == 0 || m.largest > factorRange*least || slices.Max(weights) > weightRange*slices.Min(weights) {
		m.rounded = nil
	}
	job.CountAndCheck(int64(rows.NonZeros()))
	return m
}

// sum is that of the components of some rows of these weights [list].
func (m *mixture) sum(list []int32, weights []float64) []float64 {
	sum, factors := make([]float64, m.shape.Features), make([]float64, len(m.unit))
	for k, i := range list {
		factors[i] = weights[k] * m.unit[i]
	}
	m.rows.AddTransposedOn(m.job, m.rows.All(), sum, factors)
	return sum
}

func (m *mixture) useSpheres(list []int32) {
	m.spheres, m.word, m.exponent = true, 1, 1
	for _, i := range list {
		if square := m.rows.SquaredNorm(int(i)); square > 0 {
			m.unit[i] = 1 / max(math.Sqrt(square), math.SmallestNonzeroFloat32)
		}
	}
}

func (m *mixture) useWords(list []int32, weights []float64, positive float64) {
	m.unit = slices.Repeat([]float64{1}, len(m.unit))
	m.all = m.sum(list, weights)
	m.exponent, m.word = worth, positive/max(vector.Sum(m.all), math.SmallestNonzeroFloat32)
	m.features = max(1, float64(floats.Count(func(sum float64) bool { return sum > 0 }, m.all)))
	vector.Scale(m.unit, m.word)
	vector.Scale(m.all, m.word)
}

func (m *mixture) fit(s *sample.Sample) {
	m.start(s)
	steps := mixtureSteps
	if s.All.AllDescribed && !m.spheres {
		steps = namedSteps
	}
	for range steps {
		m.maximize()
		if s.All.AllDescribed {
			m.addNames()
		}
		changed := m.expect()
		if m.know(s, s.LabeledRows); changed < fewChanges {
			return
		}
	}
}

// linear is the mixture as a classifier of the packed rows.
func (m *mixture) linear(fitIntercept bool) *model.Linear {
	k := len(m.share)
	coef, intercept := make([]float64, m.shape.Features*k), make([]float64, k)
	for j := range m.shape.Features {
		for y := 1; y < k && (m.spheres || m.all[j] > 0); y++ {
			coef[j*k+y] = m.component[m.shape.At(j, y-1)]
		}
	}
	vector.Scale(coef, m.exponent*m.word)
	if fitIntercept {
		for y, share := range m.share {
			intercept[y] = math.Log(share)
		}
		vector.Add(intercept[1:], 1, m.offset[:k-1])
	}
	return model.OfScores(k, coef, intercept)
}

// start has the labeled rows and their shares, or the descriptions alone where every class has one: a class with labels
// would take the rows that have no word of a description.
func (m *mixture) start(s *sample.Sample) {
	weights := slices.Clone(s.LabeledRows)
	for k, i := range s.Labeled {
		if m.class[i] = fixed; s.All.AllDescribed && !s.Describes[k] {
			weights[k] = 0
		}
		m.share[s.Class[k]] += weights[k]
	}
	m.know(s, weights)
	m.labeled = m.sum(s.Labeled, weights)
	m.job.Reduce(m.share)
	m.normalizeShare()
}

// know sets the classes of the labeled rows, of these weights.
func (m *mixture) know(s *sample.Sample, weights []float64) {
	stride := m.shape.Stride()
	for k, i := range s.Labeled {
		if y := int(s.Class[k]); y > 0 {
			m.posterior[int(i)*stride+y-1] = weights[k] * m.unit[i]
		}
	}
}

// maximize finds the components for the posterior probabilities.
func (m *mixture) maximize() {
	clear(m.component)
	if m.rounded != nil {
		m.rounded.AddTransposed(m.job, m.rows.All(), m.component, m.posterior, m.largest)
	} else {
		m.rows.AddTransposedPanels(m.job, m.rows.All(), m.component, m.posterior, m.shape)
	}
	m.job.CountAndCheck(int64(m.rows.NonZeros()))
	rest := slices.Clone(m.labeled)        // the values of class 0
	total := make([]float64, len(m.share)) // of the values, or of their squares
	m.job.Total(m.shape.Features, total, func(lo, hi int, part []float64) {
		m.each(lo, hi, func(j, first int, values []float64) {
			own, left := part[first:], rest[j]
			for c, v := range values {
				left -= v
				own[c] += m.size(v)
			}
			rest[j] = left
		})
		for _, v := range rest[lo:hi] {
			part[0] += m.size(v)
		}
	})
	for y, size := range total {
		if m.spheres {
			total[y] = concentration / math.Sqrt(max(size, math.SmallestNonzeroFloat32))
		} else {
			total[y] = 1 / (size + m.features*smoothing)
		}
	}
	m.job.Stripes(m.shape.Features, func(lo, hi int) {
		if m.spheres {
			vector.Scale(rest[lo:hi], total[0])
		} else {
			for j, v := range rest[lo:hi] {
				rest[lo+j] = 1 / ((max(v, 0) + smoothing) * total[0])
			}
		}
		m.each(lo, hi, func(j, first int, values []float64) {
			own, ofFirst := total[first:], rest[j]
			for c, v := range values {
				if m.spheres {
					values[c] = v*own[c] - ofFirst
				} else {
					values[c] = math.Log((v + smoothing) * own[c] * ofFirst)
				}
			}
		})
	})
}

// size is what a value of a component counts for its total.
func (m *mixture) size(v float64) float64 {
	if m.spheres {
		return v * v
	}
	return v
}

// each calls change for the values of the components at feature j from lo to hi-1, those of the classes from first on.
func (m *mixture) each(lo, hi int, change func(j, first int, values []float64)) {
	for b := range m.shape.Panels() {
		p := m.shape.Panel(b)
		width := min(p.Width, len(m.share)-1-p.First)
		for j := lo; j < hi; j++ {
			at := p.Start + j*p.Stride
			change(j, 1+p.First, m.component[at:at+width])
		}
	}
}

// expect finds the posterior probabilities and the class shares of the unlabeled rows, and returns
// the part of their weight that has another likeliest class now.
func (m *mixture) expect() (changed float64) {
	k, stride := len(m.share), m.shape.Stride()
	if m.rounded != nil {
		m.rounded.Times(m.job, m.rows.All(), m.joint, m.component)
	} else {
		m.rows.TimesPanels(m.job, m.rows.All(), m.joint, m.component, m.shape)
	}
	m.job.CountAndCheck(int64(m.rows.NonZeros()))
	prior := make([]float64, k-1)
	for y := range prior {
		prior[y] = math.Log(m.share[1+y]/m.share[0]) + m.offset[y]
	}
	sums := make([]float64, k+1) // of every class, and of the rows that changed
	m.job.Total(len(m.unit), sums, func(lo, hi int, part []float64) {
		row := make([]float64, k)
		for i := lo; i < hi; i++ {
			joint := m.joint[i*stride : i*stride+k-1]
			for y := range joint {
				joint[y] = joint[y]*(m.exponent*m.unit[i]) + prior[y]
			}
			if m.class[i] == fixed || m.weight[i] == 0 {
				continue
			}
			row[0] = 0
			copy(row[1:], joint)
			if class := int32(vector.Largest(row)); class != m.class[i] {
				m.class[i] = class
				part[k] += m.weight[i]
			}
			vector.Softmax(row, row)
			vector.Add(part[:k], m.weight[i], row)
			floats.ScaleTo(m.posterior[i*stride:i*stride+k-1], m.weight[i]*m.unit[i], row[1:])
		}
	})
	m.job.Reduce(sums)
	m.share, m.labeled = sums[:k], m.all
	changed = sums[k] / max(vector.Sum(m.share), math.SmallestNonzeroFloat32)
	m.normalizeShare()
	return changed
}

// normalizeShare turns the weights of the classes into shares, or takes those given, with one row more in each class.
func (m *mixture) normalizeShare() {
	if m.given != nil {
		floats.ScaleTo(m.share, vector.Sum(m.share), m.given)
	}
	floats.AddConst(1, m.share)
	vector.Scale(m.share, 1/vector.Sum(m.share))
}

// addNames adds the descriptions to the components: a part of those of the first step, which know nothing else. So rows
// that the descriptions tell apart stay where they put them, and later steps do not move away from the names. Spheres
// give nothing to the mean row, as all rows are nearer to some of an encoder's names than to others; for multinomials
// the part is the mean number of words of descriptions in a row, as few words tell little of the others.
func (m *mixture) addNames() {
	if m.named == nil {
		part, rows := 0.0, []float64{vector.Sum(m.weight)}
		if m.job.Reduce(rows); m.spheres {
			part = namedSpheres
			m.each(0, m.shape.Features, func(j, first int, values []float64) {
				vector.Add(m.offset[first-1:][:len(values)], -part*m.all[j]/rows[0], values)
			})
		} else {
			for j, described := range m.labeled {
				if described > 0 {
					part += m.all[j] / rows[0]
				}
			}
		}
		m.named = slices.Clone(m.component)
		vector.Scale(m.named, part)
	}
	vector.Add(m.component, 1, m.named)
}
