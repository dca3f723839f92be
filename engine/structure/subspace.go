package structure

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
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
//	Cost     2 products with U an iteration; the small factors (QR of [m, k], eigenvectors of [k, k]) are gonum's

const (
	extraProbes   = 10
	fewProblems   = 100 // are decomposed whole: as many probes as problems
	maxIterations = 20
	enoughGrowth  = 1e-3 // on 20 Newsgroups 1e-4 takes 1.4 times the time for the same accuracy
	leastRank     = 1e-6 // of the first singular value: smaller ones are rounding of float32
)

// subspace is the search for the components of a group.
type subspace struct {
	*fitting
	u      *rows.Matrix
	rows   *rows.Subset // of u: the features of the group
	factor []float64    // [m] D
	shape  panel.Shape  // of Z
	z, y   []float64    // Z in the layout of shape; Y [all features, stride], with the rows of the group only
}

// findTheta finds the components of every group from U.
func findTheta(f *fitting) error {
	u, err := rows.NewDense(len(f.old), f.problems(), f.problems(), f.weights)
	if err != nil {
		return fault.Data("the weights of an auxiliary problem are out of range: rows or alpha are too large or too small")
	}
	factor := factors(f)
	before := f.theta
	f.theta, f.strengths = nil, nil
	for g, features := range f.groups {
		s := newSubspace(f, u, features, factor)
		if before != nil {
			s.begin(before[g])
		}
		s.iterate()
		found, strengths, err := s.components(g)
		if err != nil {
			return err
		}
		f.theta, f.strengths = append(f.theta, found), append(f.strengths, strengths...)
	}
	closeObjective(f, u)
	return nil
}

// closeObjective adds the regularizer at the new Θ, α/2 Σ_l |u_l - Θᵀ Θ u_l|² = α/2 (|U|² - |Θ U|²), to the losses of
// this round.
func closeObjective(f *fitting, u *rows.Matrix) {
	if f.Solver == None {
		return
	}
	var outside [1]float64
	f.job.Total(len(f.weights), outside[:], func(lo, hi int, dst []float64) {
		for _, v := range f.weights[lo:hi] {
			dst[0] += float64(v) * float64(v)
		}
	})
	for g, features := range f.groups {
		shape := panel.Shape{Features: f.problems(), Classes: f.Components}
		inside, rows := make([]float64, shape.Len()), make([]float64, len(f.old)*shape.Stride())
		for place, j := range features {
			copy(rows[int(j)*shape.Stride():], f.thetaOf(g, place))
		}
		f.job.CountAndCheck(int64(f.Rows.NonZeros()))
		u.AddTransposedPanels(f.job, u.Subset(features), inside, rows, shape)
		outside[0] -= squares(f.job.Pool, inside)
	}
	f.objective[len(f.objective)-1] += f.Alpha / 2 * outside[0]
}

// factors are the diagonal of D: 1, or with Unit what gives every column length 1.
func factors(f *fitting) []float64 {
	factor, m := make([]float64, f.problems()), f.problems()
	if !f.Unit {
		for l := range factor {
			factor[l] = 1
		}
		return factor
	}
	f.job.Total(len(f.old), factor, func(lo, hi int, dst []float64) {
		for j := lo; j < hi; j++ {
			for l, u := range f.weights[j*m : (j+1)*m] {
				dst[l] += float64(u) * float64(u)
			}
		}
	})
	for l, square := range factor {
		if square > 0 {
			factor[l] = 1 / math.Sqrt(square)
		}
	}
	return factor
}

// newSubspace draws the probes.
func newSubspace(f *fitting, u *rows.Matrix, features []int32, factor []float64) *subspace {
	k := min(max(f.Components+extraProbes, fewProblems), f.problems())
	if k < f.problems() {
		k = min(f.Components+extraProbes, len(features))
	}
	s := &subspace{fitting: f, u: u, rows: u.Subset(features), factor: factor,
		shape: panel.Shape{Features: f.problems(), Classes: k}}
	s.z, s.y = make([]float64, s.shape.Len()), make([]float64, len(f.old)*s.shape.Stride())
	random := rand.New(rand.NewPCG(uint64(f.RandomState), 0))
	for l := range f.problems() {
		for c := range k {
			s.z[s.shape.At(l, c)] = random.NormFloat64()
		}
	}
	s.orthonormalize()
	return s
}

// begin puts what U makes of the components of before in the place of some probes.
func (s *subspace) begin(before []float64) {
	h := s.Components
	clear(s.y)
	for place, j := range s.rows.Rows() {
		copy(s.y[int(j)*s.shape.Stride():], before[place*h:(place+1)*h])
	}
	random := append([]float64(nil), s.z...)
	s.backward()
	for l := range s.problems() {
		for c := h; c < s.shape.Classes; c++ {
			s.z[s.shape.At(l, c)] = random[s.shape.At(l, c)]
		}
	}
	s.orthonormalize()
}

// iterate turns the probes towards the first right singular vectors and leaves Y = U D Z.
func (s *subspace) iterate() {
	for before, k := 0.0, 0; ; k++ {
		s.forward()
		if s.shape.Classes == s.problems() || k == maxIterations {
			return
		}
		z := append([]float64(nil), s.z...)
		s.backward()
		energy := s.energy(z)
		s.orthonormalize()
		if energy-before <= enoughGrowth*energy {
			s.forward()
			return
		}
		before = energy
	}
}

// energy is the sum of the h largest eigenvalues of ZᵀD Uᵀ U D Z, from the probes Z and their image D Uᵀ U D Z.
func (s *subspace) energy(probes []float64) float64 {
	k := s.shape.Classes
	products := make([]float64, k*k)
	a, b := make([]float64, k), make([]float64, k)
	for l := range s.problems() {
		for c := range k {
			a[c], b[c] = probes[s.shape.At(l, c)], s.z[s.shape.At(l, c)]
		}
		vector.AddOuter(products, a, b)
	}
	values, _ := eigen(products, k)
	return vector.Sum(values[:s.Components])
}

// forward sets Y = U D Z.
func (s *subspace) forward() {
	s.job.CountAndCheck(int64(s.Rows.NonZeros()))
	scaled := make([]float64, len(s.z))
	s.times(scaled, s.z)
	s.u.TimesPanels(s.job, s.rows, s.y, scaled, s.shape)
}

// backward sets Z = D Uᵀ Y.
func (s *subspace) backward() {
	s.job.CountAndCheck(int64(s.Rows.NonZeros()))
	clear(s.z)
	s.u.AddTransposedPanels(s.job, s.rows, s.z, s.y, s.shape)
	s.times(s.z, s.z)
}

// times sets dst = D z.
func (s *subspace) times(dst, z []float64) {
	for b := range s.shape.Panels() {
		p := s.shape.Panel(b)
		for l, factor := range s.factor {
			for c := p.Start + l*p.Stride; c < p.Start+(l+1)*p.Stride; c++ {
				dst[c] = factor * z[c]
			}
		}
	}
}

// orthonormalize makes the columns of Z orthonormal.
func (s *subspace) orthonormalize() {
	m, k := s.problems(), s.shape.Classes
	z := blas64.General{Rows: m, Cols: k, Stride: k, Data: make([]float64, m*k)}
	for l := range m {
		for c := range k {
			z.Data[l*k+c] = s.z[s.shape.At(l, c)]
		}
	}
	tau, room := make([]float64, k), make([]float64, 64*k)
	lapack64.Geqrf(z, tau, room, len(room))
	lapack64.Orgqr(z, tau, room, len(room))
	for l := range m {
		for c := range k {
			s.z[s.shape.At(l, c)] = z.Data[l*k+c]
		}
	}
}

// components are the first h left singular vectors of Y, and their singular values. They come from the eigenvectors of
// YᵀY, twice: the second time corrects what rounding has left of the angles between the first.
func (s *subspace) components(group int) (theta, strengths []float64, err error) {
	h, stride := s.Components, s.shape.Stride()
	y := make([]float64, len(s.rows.Rows())*s.shape.Classes)
	for place, j := range s.rows.Rows() {
		copy(y[place*s.shape.Classes:(place+1)*s.shape.Classes], s.y[int(j)*stride:])
	}
	first, squares := s.leading(y, s.shape.Classes, h)
	strengths = make([]float64, h)
	rank := 0
	for c, square := range squares {
		strengths[c] = math.Sqrt(math.Max(0, square))
		if strengths[c] > leastRank*strengths[0] {
			rank++
		}
	}
	if rank < h {
		return nil, nil, fault.Data("n_components is %d, but the weights of the auxiliary problems have rank %d in "+
			"group %d: use fewer components or more problems that differ", h, rank, group)
	}
	second, _ := s.leading(first, h, h)
	s.align(second, first)
	return second, strengths, nil
}

// leading gives the first h left singular vectors [rows, h] of a matrix [rows, k], and the squares of its singular
// values.
func (s *subspace) leading(y []float64, k, h int) (vectors, squares []float64) {
	rows := len(y) / k
	gram := make([]float64, k*k)
	s.job.Total(rows, gram, func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			row := y[i*k : (i+1)*k]
			for a, v := range row {
				vector.Add(dst[a*k:a*k+a+1], v, row)
			}
		}
	})
	values, basis := eigen(gram, k)
	turn := make([]float64, k*h)
	for c := range h {
		for a := range k {
			turn[a*h+c] = basis.At(a, k-1-c) / math.Sqrt(math.Max(values[c], math.SmallestNonzeroFloat64))
		}
	}
	vectors = make([]float64, rows*h)
	s.job.Stripes(rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			vector.AddProduct(vectors[i*h:(i+1)*h], y[i*k:(i+1)*k], turn)
		}
	})
	return vectors, values[:h]
}

// eigen gives the eigenvalues, falling, of the symmetric matrix [k, k] of which the lower half is given, and the
// eigenvectors in columns, in rising order.
func eigen(lower []float64, k int) (values []float64, vectors *mat.Dense) {
	symmetric := mat.NewSymDense(k, nil)
	for a := range k {
		for b := range a + 1 {
			symmetric.SetSym(a, b, lower[a*k+b])
		}
	}
	var found mat.EigenSym
	if !found.Factorize(symmetric, true) {
		panic("structure: no eigenvectors")
	}
	vectors = &mat.Dense{}
	found.VectorsTo(vectors)
	values = found.Values(nil)
	slices.Reverse(values)
	return values, vectors
}

// align gives the second vectors, which span what the first do, the order of the first; the largest entry of each is
// positive.
func (s *subspace) align(second, first []float64) {
	h := s.Components
	angles := make([]float64, h*h) // secondᵀ first, near orthonormal
	s.job.Total(len(first)/h, angles, func(lo, hi int, dst []float64) {
		for i := lo; i < hi; i++ {
			vector.AddOuter(dst, second[i*h:(i+1)*h], first[i*h:(i+1)*h])
		}
	})
	row := make([]float64, h)
	for i := 0; i < len(second); i += h {
		clear(row)
		vector.AddProduct(row, second[i:i+h], angles)
		copy(second[i:i+h], row)
	}
	for c := range h {
		largest := 0.0
		for i := c; i < len(second); i += h {
			if math.Abs(second[i]) > math.Abs(largest) {
				largest = second[i]
			}
		}
		for i := c; i < len(second) && largest < 0; i += h {
			second[i] = -second[i]
		}
	}
}
