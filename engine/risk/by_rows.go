package risk

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// rowBasis is the second way to hold weights: as sums of rows, which is less to read and write where there are fewer
// rows than features. Risk then implements minimize.ByRows. A row stays in the basis once it has had a cost.
//
//	Problem  W = Σ_i a_i g_i with a row of coefficients for every row i, one for each node; the same risk
//	Symbols  g_i row i with its constant feature, (x_i, 1), or less the center, x_i - μ. With a constant feature there
//	         are two vectors more: (μ, 0), where there is a center, and (0, 1). m_i = x_i . μ; A the change of
//	         coordinates of Frame with constant and center, w = (w, b), v = (w, b + μ . w), w = A v; otherwise I.
//	         Of a vector r = Σ ρ_i g_i + γ (μ, 0) + β (0, 1):  u = Σ ρ_i x_i [shape];  B = Σ ρ_i + β its intercept
//	Source   the representer theorem; conjugate gradients on coefficients as in Chapelle 2007, Training a Support Vector
//	         Machine in the Primal, section 4. The matrix M of the preconditioner is that of preconditioner,
//	         in coordinates v:
//	         M⁻¹ = A (α I + Σ h Aᵀg gᵀA)⁻¹ Aᵀ, so r loses what its factors give for its rows, and A Aᵀ comes last: (w, b)
//	         becomes (w - B μ, B (1 + |μ|²) - μ . w)
//	Cost     that of the products, one vector of features times classes, and a few of rows times classes
type rowBasis struct {
	coef         []float64 // [n + 2, stride] a; the last two rows belong to (μ, 0) and (0, 1)
	square       float64   // |W|²
	toCenter     []float64 // [n] m, or nil
	centerSquare float64   // |μ|²

	features              []float64 // [shape] u of the vector gathered last
	total, toMu           []float64 // [stride] its Σ ρ_i and μ . u
	alongCenter, constant []float64 // [stride] its γ and β
	labeled               []float64 // [n, stride] scores of the preconditioner's rows, then what it takes off
	changes               []float64 // [n, stride] of the scores of rows with LabelJoint, or nil
}

func (r *Risk) newRowBasis() *rowBasis {
	n, stride := r.rows.Rows(), r.shape.Stride()
	s := &rowBasis{coef: make([]float64, (n+2)*stride), features: make([]float64, r.shape.Len()),
		labeled: make([]float64, n*stride)}
	for _, v := range []*[]float64{&s.total, &s.toMu, &s.alongCenter, &s.constant} {
		*v = make([]float64, stride)
	}
	if mu := r.frame.Center; mu != nil {
		s.toCenter = make([]float64, n)
		r.job.CountAndCheck(int64(r.rows.NonZeros()))
		r.rows.Times(r.job, s.toCenter, mu)
		s.centerSquare = vector.Dot(mu, mu)
	}
	return s
}

// inBasis reports whether row i has a part in the weights.
func (r *Risk) inBasis(i int) bool {
	if r.basis == nil {
		return false
	}
	stride := r.shape.Stride()
	return slices.ContainsFunc(r.basis.coef[i*stride:(i+1)*stride], func(a float64) bool { return a != 0 })
}

// InRows implements minimize.ByRows.
func (r *Risk) InRows() bool { return r.basis != nil }

// Residual implements minimize.ByRows.
func (r *Risk) Residual(dst []float64) float64 {
	s, stride, rows := r.basis, r.shape.Stride(), r.support.Rows()
	joint, loss := r.gradients()
	r.job.Stripes(len(dst), func(lo, hi int) {
		for k, a := range s.coef[lo:hi] {
			dst[lo+k] = -r.alpha * a
		}
	})
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			at := int(i) * stride
			vector.Add(dst[at:at+stride], -1, r.slope[at:at+stride])
		}
	})
	return r.alpha/2*s.square + loss[0] + joint
}

// Gather implements minimize.ByRows.
func (r *Risk) Gather(residual []float64) {
	s, stride, rows := r.basis, r.shape.Stride(), r.support.Rows()
	r.job.Stripes(len(s.features), func(lo, hi int) { clear(s.features[lo:hi]) })
	r.addTransposed(r.support, s.features, residual[:len(residual)-2*stride])
	copy(s.alongCenter, residual[len(residual)-2*stride:])
	copy(s.constant, residual[len(residual)-stride:])
	both := make([]float64, 2*stride)
	r.job.Sum(len(rows), both, func(lo, hi int, part []float64) {
		for _, i := range rows[lo:hi] {
			row := residual[int(i)*stride : (int(i)+1)*stride]
			vector.Add(part[:stride], 1, row)
			if s.toCenter != nil {
				vector.Add(part[stride:], s.toCenter[i], row)
			}
		}
	})
	copy(s.total, both[:stride])
	copy(s.toMu, both[stride:])
}

// intercept is B of the vector gathered last, for node v; 0 without a constant feature.
func (r *Risk) intercept(v int) float64 {
	if r.frame.Constant {
		return r.basis.total[v] + r.basis.constant[v]
	}
	return 0
}

// lengths gives the squared norms of the vector gathered last, r, and of Aᵀ r.
func (r *Risk) lengths() (plain, turned float64) {
	s := r.basis
	var square [1]float64
	r.job.Total(len(s.features), square[:], func(lo, hi int, dst []float64) {
		dst[0] = vector.Dot(s.features[lo:hi], s.features[lo:hi])
	})
	plain, turned = square[0], square[0]
	for v := range s.total {
		b := r.intercept(v)
		before, after := s.alongCenter[v], r.coupledCenter(v)
		if !r.frame.Constant {
			before = after
		}
		plain += 2*before*s.toMu[v] + before*before*s.centerSquare + b*b
		turned += 2*after*s.toMu[v] + after*after*s.centerSquare + b*b
	}
	return plain, turned
}

// coupledCenter is what node v of A Aᵀ r has of the center, for the vector r gathered last.
func (r *Risk) coupledCenter(v int) float64 {
	switch {
	case r.frame.Center == nil:
		return 0
	case r.frame.Constant:
		return r.basis.alongCenter[v] - r.intercept(v)
	}
	return -r.basis.total[v]
}

// GradientNorm implements minimize.ByRows.
func (r *Risk) GradientNorm() (square, gap float64) {
	square, _ = r.lengths()
	return square, square / (2 * r.alpha)
}

// images gives what the images of A Aᵀ r have in common, for the vector r gathered last: row i has
// x_i . u + along m_i + shift.
func (r *Risk) images(along, shift []float64) {
	s := r.basis
	for v := range shift {
		along[v] = r.coupledCenter(v)
		shift[v] = r.intercept(v) - (s.toMu[v] + along[v]*s.centerSquare)
	}
}

// addShared adds to rows of images what they have beyond x_i . u.
func (r *Risk) addShared(rows []int32, image, along, shift []float64) {
	stride := len(shift)
	for _, i := range rows {
		row := image[int(i)*stride : (int(i)+1)*stride]
		vector.Add(row, 1, shift)
		if r.basis.toCenter != nil {
			vector.Add(row, r.basis.toCenter[i], along)
		}
	}
}

// PreconditionedNorm implements minimize.ByRows.
func (r *Risk) PreconditionedNorm() float64 {
	s, stride := r.basis, r.shape.Stride()
	_, square := r.lengths()
	if r.preconditioner == nil {
		return square / r.alpha
	}
	along, shift := make([]float64, stride), make([]float64, stride)
	r.images(along, shift)
	r.job.CountAndCheck(2 * int64(r.preconditioner.on.NonZeros()))
	r.preconditioner.matrix.TimesPanels(r.job, r.preconditioner.on, s.labeled, s.features, r.shape)
	r.addShared(r.preconditioner.rows, s.labeled, along, shift)
	return (square - r.preconditioner.solve(s.labeled)) / r.alpha
}

// Conjugate implements minimize.ByRows.
func (r *Risk) Conjugate(dst, image, residual []float64) (square float64) {
	s, stride, rows := r.basis, r.shape.Stride(), r.support.Rows()
	copy(dst, residual)
	if r.preconditioner != nil {
		r.withoutLabeled(dst)
	}
	along, shift := make([]float64, stride), make([]float64, stride)
	r.images(along, shift)
	r.job.CountAndCheck(int64(r.support.NonZeros()))
	r.rows.TimesPanels(r.job, r.support, image[:len(image)-2*stride], s.features, r.shape)
	r.job.EachRow(len(rows), func(lo, hi int) { r.addShared(rows[lo:hi], image, along, shift) })
	center, constant := dst[len(dst)-2*stride:len(dst)-stride], dst[len(dst)-stride:]
	imageCenter, imageConstant := image[len(dst)-2*stride:len(dst)-stride], image[len(dst)-stride:]
	if r.frame.Constant {
		for v, b := range shift {
			center[v], constant[v] = along[v], b-s.total[v]
			imageCenter[v], imageConstant[v] = s.toMu[v]+along[v]*s.centerSquare, b
		}
	}
	for _, v := range [][]float64{dst, image} {
		r.job.Stripes(len(v), func(lo, hi int) { vector.Scale(v[lo:hi], 1/r.alpha) })
	}
	return r.rowsInner(residual, image)
}

// withoutLabeled takes the preconditioner's part off the coefficients and off the vector gathered last.
func (r *Risk) withoutLabeled(coef []float64) {
	s, stride := r.basis, r.shape.Stride()
	for _, i := range r.preconditioner.rows {
		at := int(i) * stride
		row := s.labeled[at : at+stride]
		vector.Scale(row, -1)
		vector.Add(coef[at:at+stride], 1, row)
		vector.Add(s.total, 1, row)
		if s.toCenter != nil {
			vector.Add(s.toMu, s.toCenter[i], row)
		}
	}
	r.preconditioner.matrix.AddTransposedPanels(r.job, r.preconditioner.on, s.features, s.labeled, r.shape)
}

// rowsInner is the inner product of two vectors, of one the coefficients and of the other the image.
func (r *Risk) rowsInner(coef, image []float64) float64 {
	var sum [1]float64
	r.job.Total(len(coef), sum[:], func(lo, hi int, dst []float64) { dst[0] = vector.Dot(coef[lo:hi], image[lo:hi]) })
	return sum[0]
}

// HessVecRows implements minimize.ByRows.
func (r *Risk) HessVecRows(dst, p, image []float64) (curvature float64) {
	stride, rows := r.shape.Stride(), r.active.Rows()
	square := r.rowsInner(p, image)
	r.job.Stripes(len(dst), func(lo, hi int) {
		for k, v := range p[lo:hi] {
			dst[lo+k] = r.alpha * v
		}
	})
	joint := r.sumJoint(func(j Joint) float64 { return j.HessVec(r.changesOf(image), r.slope, r.state) })
	var sum [1]float64
	r.job.Sum(len(rows), sum[:], func(lo, hi int, part []float64) {
		change, s := make([]float64, stride), r.newScratch()
		for _, i := range rows[lo:hi] {
			at := int(i) * stride
			if r.Label[i] == LabelJoint {
				copy(change, r.basis.changes[at:])
			} else {
				copy(change, image[at:at+stride])
				r.Map.Down(change)
			}
			part[0] += r.hessVec(i, change, s)
			vector.Add(dst[at:at+stride], 1, change)
		}
	})
	return r.alpha*square + sum[0] + joint
}

// changesOf copies the changes of the scores of the rows with LabelJoint out of an image.
func (r *Risk) changesOf(image []float64) []float64 {
	stride, rows := r.shape.Stride(), r.support.Rows()
	if r.basis.changes == nil {
		r.basis.changes = make([]float64, len(r.scores))
	}
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			if r.Label[i] == LabelJoint {
				change := r.basis.changes[int(i)*stride : (int(i)+1)*stride]
				copy(change, image[int(i)*stride:])
				r.Map.Down(change)
			}
		}
	})
	return r.basis.changes
}

// SetDirectionRows implements minimize.ByRows.
func (r *Risk) SetDirectionRows(step, image []float64) {
	stride, rows := r.shape.Stride(), r.support.Rows()
	r.direction, r.changes = step, image[:len(image)-2*stride]
	r.squareNorm = r.rowsInner(step, image)
	r.inner = r.rowsInner(r.basis.coef, image)
	r.job.EachRow(len(rows), func(lo, hi int) {
		for _, i := range rows[lo:hi] {
			r.Map.Down(image[int(i)*stride : (int(i)+1)*stride])
		}
	})
}

// weigh puts the weights of the features into basis.features and the intercepts without the mean m into dst.
func (r *Risk) weigh(dst []float64) {
	s := r.basis
	r.Gather(s.coef)
	if r.frame.Center != nil {
		along := make([]float64, len(dst))
		for v := range along {
			along[v] = -s.total[v]
			if r.frame.Constant {
				along[v] = s.alongCenter[v]
			}
		}
		r.frame.addOuter(s.features, 0, r.shape.Features, along)
		if !r.frame.Constant {
			for v := range dst {
				dst[v] = -(s.toMu[v] + along[v]*s.centerSquare)
			}
			return
		}
	}
	for v := range dst {
		dst[v] = r.intercept(v)
	}
}
