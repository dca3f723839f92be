package method

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/planted"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// sampleOf are all rows of the data, labeled rows of weight 1, unlabeled rows of weight 2.
func sampleOf(data planted.Data, classes int) *sample.Sample {
	s := &sample.Sample{Prepared: &sample.Prepared{Rows: data.Rows, Feature: make([]int32, data.Rows.Cols())},
		Options: sample.Options{FitIntercept: true}, All: sample.Census{LastClass: classes - 1}}
	for j := range s.Feature {
		s.Feature[j] = int32(j)
	}
	for i, y := range data.Labels {
		if y < 0 {
			s.Unlabeled, s.UnlabeledRows = append(s.Unlabeled, int32(i)), append(s.UnlabeledRows, 2)
			continue
		}
		s.Labeled, s.LabeledRows = append(s.Labeled, int32(i)), append(s.LabeledRows, 1)
		s.Class = append(s.Class, y)
	}
	return s
}

// mixtureOf is the mixture as a model of the packed rows.
func mixtureOf(s *sample.Sample, job *work.Job) *model.Linear {
	m := newMixture(s, job, s.Rows)
	m.fit(s)
	return m.linear(s.Options.FitIntercept)
}

// plain is a mixture as its header says, row by row, from the posteriors w_i p_iy [n][K] of a step to those of the next,
// with the objective between the two.
func (m *mixture) plain(x [][]float64, posterior [][]float64, labeled []bool, weight, share []float64) (float64, [][]float64) {
	d, classes := len(x[0]), len(share)
	logs, value := make([][]float64, classes), 0.0
	for y := range classes {
		theta, size := make([]float64, d), 0.0
		for i, row := range x {
			vector.Add(theta, posterior[i][y]*m.unit[i], row)
		}
		if m.spheres {
			vector.Scale(theta, concentration/math.Sqrt(vector.Dot(theta, theta)))
		} else {
			for j, v := range theta {
				if m.all[j] > 0 {
					size += v + smoothing
				}
			}
			for j, v := range theta {
				if theta[j] = 0; m.all[j] > 0 {
					theta[j] = math.Log((v + smoothing) / size)
				}
				value += worth * smoothing * theta[j]
			}
		}
		logs[y], value = theta, value+math.Log(share[y])
	}
	next := make([][]float64, len(x))
	for i, row := range x {
		joint, sum := make([]float64, classes), 0.0
		for y := range joint {
			joint[y] = math.Log(share[y]) + m.exponent*m.unit[i]*vector.Dot(row, logs[y])
			sum += math.Exp(joint[y])
		}
		if next[i] = posterior[i]; labeled[i] {
			y := slices.Index(posterior[i], weight[i])
			value += weight[i] * (joint[y] - math.Log(share[y]))
			continue
		}
		value, next[i] = value+weight[i]*math.Log(sum), make([]float64, classes)
		for y, v := range joint {
			next[i][y] = weight[i] * math.Exp(v) / sum
		}
	}
	return value, next
}

// Posteriors are those of a plain mixture, and no step lowers the objective.
func TestStepsOfEMAreThoseOfAPlainMixture(t *testing.T) {
	job := work.NewJob(1, nil)
	for _, shares := range [][]float64{{0.6, 0.3, 0.1}, {0.7, 0.3}} {
		classes := len(shares)
		data := planted.Classes(600, 120, 30, shares, 3)
		s := sampleOf(data, classes)
		n := len(data.Labels)
		labeled, weight := make([]bool, n), make([]float64, n)
		for _, spheres := range []bool{false, true} {
			m := newMixture(s, job, s.Rows)
			if spheres {
				m.useSpheres(slices.Concat(s.Labeled, s.Unlabeled))
				m.all = m.sum(slices.Concat(s.Labeled, s.Unlabeled), slices.Concat(s.LabeledRows, s.UnlabeledRows))
			}
			posterior := make([][]float64, n)
			for k, i := range s.Labeled {
				labeled[i], weight[i], posterior[i] = true, s.LabeledRows[k], make([]float64, classes)
				posterior[i][s.Class[k]] = weight[i]
			}
			for k, i := range s.Unlabeled {
				weight[i], posterior[i] = s.UnlabeledRows[k], make([]float64, classes)
			}
			sum, number := 0.0, 0.0 // of the values that are not 0, by weight
			for i, row := range data.Dense {
				for _, v := range row {
					if v != 0 {
						sum, number = sum+weight[i]*v, number+weight[i]
					}
				}
			}
			for i, row := range data.Dense {
				want := number / sum
				if spheres {
					want = 1 / math.Sqrt(vector.Dot(row, row))
				}
				if math.Abs(m.unit[i]-want) > 1e-12*want {
					t.Fatalf("spheres %v: row %d has the factor %v, should be %v", spheres, i, m.unit[i], want)
				}
			}
			m.start(s)
			last := math.Inf(-1)
			for step := range 20 {
				share := slices.Clone(m.share)
				m.maximize()
				changed := m.expect()
				before := posterior
				var value, changes, all float64
				value, posterior = m.plain(data.Dense, posterior, labeled, weight, share)
				for i, w := range weight {
					if !labeled[i] {
						all += w
						if step == 0 || vector.Largest(before[i]) != vector.Largest(posterior[i]) {
							changes += w
						}
					}
				}
				if math.Abs(changed-changes/all) > 1e-12 {
					t.Errorf("step %d, spheres %v: %v of the rows changed, should be %v", step, spheres, changed, changes/all)
				}
				if value < last-1e-9*math.Abs(last) {
					t.Errorf("step %d of EM, spheres %v: %v after %v", step, spheres, value, last)
				}
				last = value
				for i, own := range posterior {
					for y, p := range own[1:] {
						p *= m.unit[i]
						if got := m.posterior[i*m.shape.Stride()+y]; math.Abs(got-p) > 1e-9 {
							t.Fatalf("step %d, spheres %v: row %d has %v of class %d, should have %v", step, spheres, i, got, 1+y, p)
						}
					}
				}
				if total := vector.Sum(m.share); math.Abs(total-1) > 1e-12 {
					t.Errorf("shares sum to %v", total)
				}
			}
		}
	}
}

func TestRowsWithNegativeValuesHaveSpheres(t *testing.T) {
	job := work.NewJob(1, nil)
	s := sampleOf(planted.Classes(200, 60, 20, []float64{0.5, 0.5}, 4), 2)
	packed, _ := s.Rows.Packed(job)
	if newMixture(s, job, packed).spheres {
		t.Error("counts are not taken as such")
	}
	if !newMixture(s, job, packed.Scaled(-1)).spheres {
		t.Error("negative values are taken as counts")
	}
}

func TestRowsWithoutWeightTakeNoPartInAMixture(t *testing.T) {
	job := work.NewJob(1, nil)
	s := sampleOf(planted.Classes(400, 60, 20, []float64{0.5, 0.3, 0.2}, 4), 3)
	for _, unit := range []float64{1, -1} { // multinomials and spheres
		some := *s
		some.Rows = s.Rows.Scaled(unit)
		some.Unlabeled, some.UnlabeledRows = s.Unlabeled[:150], s.UnlabeledRows[:150]
		without := some
		without.Rows = some.Rows.Selected(job.Pool, slices.Concat(some.Labeled, some.Unlabeled))
		without.Labeled, without.Unlabeled = slices.Clone(some.Labeled), slices.Clone(some.Unlabeled)
		for k := range without.Labeled {
			without.Labeled[k] = int32(k)
		}
		for k := range without.Unlabeled {
			without.Unlabeled[k] = int32(len(without.Labeled) + k)
		}
		want := mixtureOf(&without, job)
		for k, v := range mixtureOf(&some, job).Coef {
			if math.Abs(v-want.Coef[k]) > 1e-9*(1+math.Abs(want.Coef[k])) {
				t.Fatalf("weight %d is %v, without the rows %v", k, v, want.Coef[k])
			}
		}
	}
}

// Features without a value in the rows that take part have no weight; nor has any where all rows are zero.
func TestAMixtureHasNoWeightsOfFeaturesThatDoNotOccur(t *testing.T) {
	job := work.NewJob(1, nil)
	for _, values := range [][]float64{{1, 2, 0, 3, 0, 0, 0, 1, 0, 2, 2, 0, 0, 0, 5}, make([]float64, 15)} {
		x, err := rows.NewDense(5, 3, 3, values)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sample.New(sample.Problem{Rows: x, Labels: []int32{0, 1, -1, -1, -1}, Weights: []float64{1, 1, 1, 1, 0}},
			sample.Options{}, job)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Unpacked(mixtureOf(s, job))
		if m.Coef[2] != 0 || math.IsNaN(m.Coef[0]) || (m.Coef[0] == 0) != (values[0] == 0) {
			t.Errorf("weights %v for values %v", m.Coef, values)
		}
	}
}

// Rows of float32 have the mixture of the same rows in float64, to the digits of float32: with a row of zeros, with
// weights and lengths that leave it few digits or no room, and with nothing but zeros.
func TestMixturesOfRoundedRowsAreThoseOfExactOnes(t *testing.T) {
	job, d, n := work.NewJob(1, nil), 24, 90
	classes := []int32{0, 1, 2, 0, 1, 2}
	for name, change := range map[string]func(values []float32, weights []float64){
		"plain":       func([]float32, []float64) {},
		"empty row":   func(values []float32, _ []float64) { clear(values[30*d : 31*d]) },
		"1e3 rows":    func(_ []float32, weights []float64) { weights[31] = 1e3 },
		"1e5 rows":    func(_ []float32, weights []float64) { weights[31] = 1e5 },
		"1e8 rows":    func(_ []float32, weights []float64) { weights[31] = 1e8 },
		"heavy row":   func(_ []float32, weights []float64) { weights[31] = 1e60 },
		"light rows":  func(_ []float32, weights []float64) { copy(weights[7:], []float64{1e-3, 1e-4, 1e-9}) },
		"shorter row": func(values []float32, _ []float64) { shrink(values[31*d:32*d], 1e-13) },
		"short row":   func(values []float32, _ []float64) { shrink(values[31*d:32*d], 1e-18) },
		"long row":    func(values []float32, _ []float64) { shrink(values[31*d:32*d], 1e18) },
		"only zeros":  func(values []float32, _ []float64) { clear(values) },
		"no negative": func(values []float32, _ []float64) { floor(values) },
	} {
		narrow, labels, weights := make([]float32, n*d), make([]int32, n), make([]float64, n)
		for i := range n {
			labels[i], weights[i] = -1, 1
			for j := range d {
				narrow[i*d+j] = float32(math.Sin(float64(1+i*d+j)) + 2*math.Cos(float64(1+j+7*(i%3))))
			}
		}
		copy(labels, classes)
		change(narrow, weights)
		wide := make([]float64, n*d)
		for k, v := range narrow {
			wide[k] = float64(v)
		}
		x, err := rows.NewDense(n, d, d, narrow)
		y, errWide := rows.NewDense(n, d, d, wide)
		if err != nil || errWide != nil {
			t.Fatal(err, errWide)
		}
		var found [][]float64
		for _, m := range []*rows.Matrix{x, y} {
			s, err := sample.New(sample.Problem{Rows: m, Labels: labels, Weights: weights}, sample.Options{FitIntercept: true}, job)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, s.Unpacked(mixtureOf(s, job)).Coef)
		}
		largest := 0.0
		for _, v := range found[1] {
			largest = max(largest, math.Abs(v))
		}
		if (largest > 0) != (name != "only zeros") {
			t.Errorf("%s: weights up to %v", name, largest)
		}
		for k, v := range found[0] {
			if !(math.Abs(v-found[1][k]) <= 1e-5*largest) {
				t.Errorf("%s: weight %d is %v, of exact rows %v", name, k, v, found[1][k])
				break
			}
		}
	}
}

func floor(values []float32) {
	for k, v := range values {
		values[k] = max(v, 0)
	}
}

func shrink(values []float32, factor float32) {
	for k := range values {
		values[k] *= factor
	}
}

// Descriptions stay a part of the components: of words as many times as a row has their words in the mean, of spheres
// so that the mean row gets nothing.
func TestDescriptionsStayInAMixture(t *testing.T) {
	job := work.NewJob(1, nil)
	for _, spheres := range []bool{false, true} {
		words := planted.Sparse(9, 5, func(i int, add func(int, float64)) { // two describe the classes: 0, 1; the others
			switch {
			case i < 2:
				add(i, 1)
			case i < 5: // have a word of the first,
				add(0, 1)
				add(2+i%2, 1)
			default: // or none
				add(3, 1)
				add(4, 1)
			}
		})
		s := sampleOf(planted.Data{Rows: words, Labels: append([]int32{0, 1}, slices.Repeat([]int32{-1}, 7)...)}, 2)
		s.Describes, s.All.AllDescribed = []bool{true, true}, true
		m := newMixture(s, job, s.Rows)
		if spheres {
			m.useSpheres(slices.Concat(s.Labeled, s.Unlabeled))
			m.all = m.sum(slices.Concat(s.Labeled, s.Unlabeled), slices.Concat(s.LabeledRows, s.UnlabeledRows))
		}
		m.start(s)
		m.maximize()
		first := slices.Clone(m.component)
		m.addNames()
		part, mean := (2+3*2)/16., 0.0 // 2 of weight 1 and 3 of weight 2 in rows of weight 16
		if spheres {
			part = namedSpheres
			for j, sum := range m.all {
				mean += sum / 16 * m.named[m.shape.At(j, 0)]
			}
		}
		for at, v := range first {
			if want := (1 + part) * v; math.Abs(m.component[at]-want) > 1e-12 {
				t.Errorf("spheres %v, place %d: %v, %v expected", spheres, at, m.component[at], want)
			}
		}
		if math.Abs(mean+m.offset[0]) > 1e-12 {
			t.Errorf("spheres %v: the mean row gets %v", spheres, mean+m.offset[0])
		}
	}
}
