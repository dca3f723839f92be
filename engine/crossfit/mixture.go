package crossfit

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/panel"
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
//	Differences  words of a text depend on each other and make probabilities too certain: a value counts as u < 1 words,
//	         and κ is small and the same for all classes. Dense rows of float32 take rounded products
//	Stops    after mixtureSteps steps of EM: further steps move away from the labels
//	Cost     a step is two passes over the rows with K columns, and a logarithm for each feature and class
type mixture struct {
	job       *work.Job
	rows      *rows.Matrix  // [n] labeled and unlabeled rows
	rounded   *rows.Rounded // their rounded products, or nil
	largest   float64       // factor of a row in the sums of components: unit times weight
	shape     panel.Shape
	spheres   bool
	occurs    []float64 // [Features] 0: a word that does not occur, or in rows without a weight alone
	features  float64   // number of features that occur, at least 1
	word      float64   // 1/x̄
	unit      []float64 // [n] factor of a row in the sums of components: 1/x̄ or 1/|x_i|; 0: it takes no part
	joint     []float64 // [n, stride] log φ_y p(x_i|θ_y)
	posterior []float64 // [n, stride] w_i times the probability of the class
	component []float64 // [shape.Len] log θ_jy or κ θ_jy
	share     []float64 // [K] φ
}

// Chosen on the choosing sets of docs/notes/class-shares.md.
const (
	mixtureSteps  = 8
	worth         = 0.2   // u
	smoothing     = 0.1   // λ
	concentration = 100.0 // κ
)

// Mixture are the scores log φ_y p(x_i|θ_y) [Unlabeled, K] by the mixture of all rows and labels of all machines; nil
// where it would take too long.
func Mixture(s *sample.Sample, job *work.Job) []float64 {
	if view := mixtureOf(s, job, s.Rows); view != nil {
		return view(func(int) bool { return false }, s.Unlabeled)
	}
	return nil
}

// MixtureModel is the mixture of all rows and labels of all machines as a classifier of the packed rows.
func MixtureModel(s *sample.Sample, job *work.Job) *model.Linear {
	m := newMixture(s, job, s.Rows)
	m.fit(s, func(int) bool { return false })
	return m.linear(s.Options.FitIntercept)
}

// mixtureOf is the view of a mixture; nil where it would take too long.
func mixtureOf(s *sample.Sample, job *work.Job, rows *rows.Matrix) view {
	if s.Classes()*rows.Cols() > maxComponents || s.Classes()*job.Count(rows.NonZeros()) > maxProducts {
		return nil
	}
	return newMixture(s, job, rows).view(s)
}

// Beyond these bounds mixtures would take more than some seconds in all folds.
const (
	maxComponents = 1 << 22 // features times classes: logarithms
	maxProducts   = 1 << 27 // non-zeros times classes
)

// newMixture has multinomials, or spheres if a value is negative.
func newMixture(s *sample.Sample, job *work.Job, rows *rows.Matrix) *mixture {
	n, shape := rows.Rows(), panel.Shape{Features: rows.Cols(), Classes: s.Classes()}
	m := &mixture{job: job, rows: rows, rounded: rows.Rounded(shape), shape: shape,
		joint: make([]float64, n*shape.Stride()), posterior: make([]float64, n*shape.Stride()),
		component: make([]float64, shape.Len()), share: make([]float64, s.Classes()), unit: make([]float64, n)}
	all, weights := slices.Concat(s.Labeled, s.Unlabeled), slices.Concat(s.LabeledRows, s.UnlabeledRows)
	smallest := 0.0
	for _, i := range all {
		if smallest == 0 {
			rows.Row(int(i), func(_ int, value float64) { smallest = min(smallest, value) })
		}
	}
	if smallest, _ = job.Range(smallest, 0); smallest < 0 {
		m.useSpheres(all)
	} else {
		m.useWords(all, weights)
	}
	least := math.Inf(1)
	for k, i := range all {
		if factor := m.unit[i] * weights[k]; factor > 0 {
			m.largest, least = max(m.largest, factor), min(least, factor)
		}
	}
	if m.largest == 0 || m.largest > roundedRange*least {
		m.rounded = nil
	}
	return m
}

const roundedRange = 1e20 // ratio of factors of rows for which float32 has room

func (m *mixture) useSpheres(list []int32) {
	m.spheres, m.occurs = true, slices.Repeat([]float64{1}, m.shape.Features)
	for _, i := range list {
		if square := m.rows.SquaredNorm(int(i)); square > 0 {
			m.unit[i] = 1 / max(math.Sqrt(square), math.SmallestNonzeroFloat32)
		}
	}
}

func (m *mixture) useWords(list []int32, weights []float64) {
	d := m.shape.Features
	sums := make([]float64, d+2) // for each feature whether it occurs; the sum of the values and their number
	for k, i := range list {
		m.rows.Row(int(i), func(col int, value float64) {
			if value > 0 {
				sums[col], sums[d], sums[d+1] = 1, sums[d]+weights[k]*value, sums[d+1]+weights[k]
			}
		})
	}
	m.job.Reduce(sums)
	m.word = sums[d+1] / max(sums[d], math.SmallestNonzeroFloat32)
	for _, i := range list {
		m.unit[i] = m.word
	}
	m.occurs = sums[:d]
	for j, machines := range m.occurs {
		m.occurs[j] = min(1, machines)
	}
	m.features = max(1, vector.Sum(m.occurs))
}

// view fits the mixture without the labels that are held out.
func (m *mixture) view(s *sample.Sample) view {
	return func(held func(k int) bool, rows []int32) []float64 {
		m.fit(s, held)
		k, stride := s.Classes(), m.shape.Stride()
		scores := make([]float64, len(rows)*k)
		for a, i := range rows {
			copy(scores[a*k:(a+1)*k], m.joint[int(i)*stride:])
		}
		return scores
	}
}

func (m *mixture) fit(s *sample.Sample, held func(k int) bool) {
	m.start(s, held)
	for range mixtureSteps {
		m.maximize()
		m.expect(s, held)
	}
}

// linear is the mixture as a classifier of the rows. Spheres take every row for one of the usual length, 1.
func (m *mixture) linear(fitIntercept bool) *model.Linear {
	k := m.shape.Classes
	coef, intercept := make([]float64, 0, m.shape.Features*k), make([]float64, k)
	for j := range m.shape.Features {
		for y := range k {
			coef = append(coef, m.occurs[j]*m.component[m.shape.At(j, y)])
		}
	}
	if !m.spheres {
		vector.Scale(coef, worth*m.word)
	}
	for y, share := range m.share {
		if fitIntercept {
			intercept[y] = math.Log(share)
		}
	}
	return model.OfScores(k, coef, intercept)
}

// start has only the labeled rows that are not held out, and their shares.
func (m *mixture) start(s *sample.Sample, held func(k int) bool) {
	clear(m.posterior)
	clear(m.share)
	m.label(s, held)
	for k, y := range s.Class {
		if !held(k) {
			m.share[y] += s.LabeledRows[k]
		}
	}
	m.normalizeShare()
}

// label gives the labeled rows that are not held out their classes.
func (m *mixture) label(s *sample.Sample, held func(k int) bool) {
	stride := m.shape.Stride()
	for k, i := range s.Labeled {
		if !held(k) {
			row := m.posterior[int(i)*stride : (int(i)+1)*stride]
			clear(row)
			row[s.Class[k]] = s.LabeledRows[k]
		}
	}
}

// maximize finds the components for the posterior probabilities, which it overwrites.
func (m *mixture) maximize() {
	stride := m.shape.Stride()
	for i, unit := range m.unit {
		vector.Scale(m.posterior[i*stride:(i+1)*stride], unit)
	}
	clear(m.component)
	if m.rounded != nil {
		m.rounded.AddTransposed(m.job, m.rows.All(), m.component, m.posterior, m.largest)
	} else {
		m.rows.AddTransposedPanels(m.job, m.rows.All(), m.component, m.posterior, m.shape)
	}
	m.job.CountAndCheck(int64(m.rows.NonZeros()))
	total := make([]float64, m.shape.Classes) // of the values, or of their squares
	m.job.Total(m.shape.Features, total, func(lo, hi int, part []float64) {
		m.each(lo, hi, func(first int, values []float64) {
			for c, v := range values {
				if m.spheres {
					v *= v
				}
				part[first+c] += v
			}
		})
	})
	if m.spheres {
		for y, squares := range total {
			total[y] = concentration / math.Sqrt(max(squares, math.SmallestNonzeroFloat32))
		}
	} else {
		for y, values := range total {
			total[y] = 1 / (values + m.features*smoothing)
		}
	}
	m.job.Stripes(m.shape.Features, func(lo, hi int) {
		m.each(lo, hi, func(first int, values []float64) {
			for c, v := range values {
				if m.spheres {
					values[c] = v * total[first+c]
				} else {
					values[c] = math.Log((v + smoothing) * total[first+c])
				}
			}
		})
	})
}

// each calls change for the values of all components at the features lo ... hi-1, those of the classes from first on.
func (m *mixture) each(lo, hi int, change func(first int, values []float64)) {
	for b := range m.shape.Panels() {
		p := m.shape.Panel(b)
		width := min(p.Width, m.shape.Classes-p.First)
		for at := p.Start + lo*p.Stride; at < p.Start+hi*p.Stride; at += p.Stride {
			change(p.First, m.component[at:at+width])
		}
	}
}

// expect finds the posterior probabilities, and the class shares of the unlabeled rows and those held out.
func (m *mixture) expect(s *sample.Sample, held func(k int) bool) {
	k, stride := m.shape.Classes, m.shape.Stride()
	if m.rounded != nil {
		m.rounded.Times(m.job, m.rows.All(), m.joint, m.component)
	} else {
		m.rows.TimesPanels(m.job, m.rows.All(), m.joint, m.component, m.shape)
	}
	m.job.CountAndCheck(int64(m.rows.NonZeros()))
	prior := make([]float64, k)
	for y, share := range m.share {
		prior[y] = math.Log(share)
	}
	m.job.Every(len(m.unit), func(i int) {
		joint, posterior := m.joint[i*stride:i*stride+k], m.posterior[i*stride:i*stride+k]
		for y := range joint {
			joint[y] = joint[y]*m.factor(i) + prior[y]
		}
		vector.Softmax(posterior, joint)
	})
	clear(m.share)
	count := func(i int32, weight float64) {
		row := m.posterior[int(i)*stride : int(i)*stride+k]
		vector.Scale(row, weight)
		vector.Add(m.share, 1, row)
	}
	for a, i := range s.Unlabeled {
		count(i, s.UnlabeledRows[a])
	}
	for a, i := range s.Labeled {
		if held(a) {
			count(i, s.LabeledRows[a])
		}
	}
	m.normalizeShare()
	m.label(s, held)
}

// normalizeShare turns the weights of the classes on this machine into shares of all, with one row more in each class.
func (m *mixture) normalizeShare() {
	m.job.Reduce(m.share)
	for y := range m.share {
		m.share[y]++
	}
	vector.Scale(m.share, 1/vector.Sum(m.share))
}

// factor is the factor of a row in the logarithm of its likelihood.
func (m *mixture) factor(i int) float64 {
	if m.spheres {
		return m.unit[i]
	}
	return worth * m.unit[i]
}
