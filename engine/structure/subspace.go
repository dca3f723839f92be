package structure

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// # Left singular vectors by subspace iteration
//
//	Problem  the first h left singular vectors of U D, for U [d, m] that is only multiplied with and D diagonal
//	Symbols  Z [m, k] orthonormal probes, k = h + extraProbes; Y = U D Z [d, k]
//	Source   Halko, Martinsson & Tropp 2011, algorithm 4.4, with the iteration on the short side: Z is orthonormalized,
//	         Y is not. The probes of a later round are the Θ of before and random ones, so that it never gets worse
//	Stops    the sum of the first h squared singular values has grown by less than enoughGrowth of itself; maxIterations
//	Cost     2 products with U an iteration; the singular vectors of [m, k] and [d, k] are gonum's

const (
	extraProbes   = 10
	fewProblems   = 100 // are decomposed whole: as many probes as problems
	maxIterations = 20
	enoughGrowth  = 1e-3 // on 20 Newsgroups 1e-4 takes 1.4 times the time for the same accuracy
	leastRank     = 1e-6 // of the first singular value: smaller ones are rounding of float32
)

type subspace struct {
	*fitting
	u      *rows.Matrix
	rows   *rows.Subset // of u: the features of the group
	factor []float64    // [m] D
	z      *mat.Dense   // Z
	shape  panel.Shape  // of Z in panels
	y      []float64    // Y [all features, stride], with the rows of the group only
}

func findTheta(f *fitting, round int) error {
	u, err := rows.NewDense(len(f.old), f.problems(), f.problems(), f.weights)
	if err != nil {
		return fault.Data("the weights of an auxiliary problem are out of range: rows or alpha are too large or too small")
	}
	factor := factors(f)
	f.strengths = nil
	for g, features := range f.groups {
		s := newSubspace(f, u, features, factor)
		if round > 0 {
			s.begin()
		}
		s.iterate()
		if err := s.components(g); err != nil {
			return err
		}
	}
	closeObjective(f, u)
	return nil
}

// closeObjective adds the regularizer at the new Θ, α/2 Σ_l |u_l - Θᵀ Θ u_l|² = α/2 (|U|² - |Θ U|²), to the losses.
func closeObjective(f *fitting, u *rows.Matrix) {
	if f.Solver == None {
		return
	}
	outside := squares(f.job.Pool, f.weights)
	shape := panel.Shape{Features: f.problems(), Classes: f.Components}
	rows := make([]float64, len(f.old)*shape.Stride())
	for j := range f.old {
		copy(rows[j*shape.Stride():], f.thetaOf(j))
	}
	for _, features := range f.groups {
		inside := make([]float64, shape.Len())
		f.job.CountAndCheck(int64(f.Rows.NonZeros()))
		u.AddTransposedPanels(f.job, u.Subset(features), inside, rows, shape)
		outside -= squares(f.job.Pool, inside)
	}
	f.objective[len(f.objective)-1] += f.Alpha / 2 * outside
}

// factors are the diagonal of D: 1, or with Unit what gives every column length 1.
func factors(f *fitting) []float64 {
	m := f.problems()
	factor := slices.Repeat([]float64{1}, m)
	if !f.Unit {
		return factor
	}
	f.job.SumRows(len(f.old), 0, factor, func(j int, dst, _ []float64) {
		for l, u := range f.weights[j*m : (j+1)*m] {
			dst[l] += float64(u) * float64(u)
		}
	})
	for l, square := range factor {
		if square > 0 {
			factor[l] = 1 / math.Sqrt(square)
		}
	}
	return factor
}

func newSubspace(f *fitting, u *rows.Matrix, features []int32, factor []float64) *subspace {
	k := min(max(f.Components+extraProbes, fewProblems), f.problems())
	if k < f.problems() {
		k = min(f.Components+extraProbes, len(features))
	}
	s := &subspace{fitting: f, u: u, rows: u.Subset(features), factor: factor,
		shape: panel.Shape{Features: f.problems(), Classes: k}}
	random, normals := rand.New(rand.NewPCG(uint64(f.RandomState), 0)), make([]float64, f.problems()*k)
	for at := range normals {
		normals[at] = random.NormFloat64()
	}
	s.z, s.y = mat.NewDense(f.problems(), k, normals), make([]float64, len(f.old)*s.shape.Stride())
	s.orthonormalize()
	return s
}

// begin replaces the first probes by D Uᵀ times the components of the round before.
func (s *subspace) begin() {
	for _, j := range s.rows.Rows() {
		copy(s.y[int(j)*s.shape.Stride():], s.thetaOf(int(j)))
	}
	random := mat.DenseCopyOf(s.z)
	s.backward()
	if m, k, h := s.problems(), s.shape.Classes, s.Components; h < k {
		s.z.Slice(0, m, h, k).(*mat.Dense).Copy(random.Slice(0, m, h, k))
	}
	s.orthonormalize()
}

// iterate moves the probes towards the first right singular vectors and leaves Y = U D Z.
func (s *subspace) iterate() {
	enough := s.shape.Classes == s.problems()
	for before, k := 0.0, 0; ; k++ {
		if s.forward(); enough || k == maxIterations {
			return
		}
		s.backward()
		energy := s.orthonormalize() // near the squares of the first singular values of U D
		enough, before = energy-before <= enoughGrowth*energy, energy
	}
}

// forward sets Y = U D Z.
func (s *subspace) forward() {
	s.job.CountAndCheck(int64(s.Rows.NonZeros()))
	scaled := make([]float64, s.shape.Len())
	s.eachEntry(func(l, c, at int) { scaled[at] = s.factor[l] * s.z.At(l, c) })
	s.u.TimesPanels(s.job, s.rows, s.y, scaled, s.shape)
}

// backward sets Z = D Uᵀ Y.
func (s *subspace) backward() {
	s.job.CountAndCheck(int64(s.Rows.NonZeros()))
	product := make([]float64, s.shape.Len())
	s.u.AddTransposedPanels(s.job, s.rows, product, s.y, s.shape)
	s.eachEntry(func(l, c, at int) { s.z.Set(l, c, s.factor[l]*product[at]) })
}

// eachEntry calls do for the entries of Z, with their places in panels.
func (s *subspace) eachEntry(do func(l, c, at int)) {
	for l := range s.problems() {
		for c := range s.shape.Classes {
			do(l, c, s.shape.At(l, c))
		}
	}
}

// orthonormalize replaces Z by an orthonormal basis of its span, and returns the sum of its h largest singular values.
func (s *subspace) orthonormalize() float64 {
	vectors, values := leading(s.z)
	s.z = vectors
	return vector.Sum(values[:s.Components])
}

// components adds the first h left singular vectors of Y, the largest entry of each positive, and the singular values.
func (s *subspace) components(group int) error {
	h, k, features := s.Components, s.shape.Classes, s.rows.Rows()
	y := mat.NewDense(len(features), k, nil)
	for place, j := range features {
		y.SetRow(place, s.y[int(j)*s.shape.Stride():][:k])
	}
	vectors, values := leading(y)
	rank := 0
	for rank < h && values[rank] > leastRank*values[0] {
		rank++
	}
	if rank < h {
		return fault.Data("n_components is %d, but the weights of the auxiliary problems have rank %d in "+
			"group %d: use fewer components or more problems that differ", h, rank, group)
	}
	for c := range h {
		column := mat.Col(nil, c, vectors)
		sign := math.Copysign(1, slices.Min(column)+slices.Max(column))
		for place, v := range column {
			s.thetaOf(int(features[place]))[c] = sign * v
		}
	}
	s.strengths = append(s.strengths, values[:h]...)
	return nil
}

// leading gives the left singular vectors of a matrix in columns, and its singular values, falling.
func leading(a *mat.Dense) (vectors *mat.Dense, values []float64) {
	var found mat.SVD
	if !found.Factorize(a, mat.SVDThinU) {
		panic("structure: no singular vectors")
	}
	vectors = &mat.Dense{}
	found.UTo(vectors)
	return vectors, found.Values(nil)
}
