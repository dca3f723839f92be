package minimize

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/vector"
)

// ByRows is an objective whose points are sums of fewer vectors than there are variables: of the rows of the data.
// Every gradient, and so every direction of conjugate gradients, is such a sum. A vector stands as its coefficients in
// the sum and, where inner products with it are needed, as its image: its inner products with the vectors of the sum.
type ByRows interface {
	// InRows reports whether the objective is to be minimized in this form.
	InRows() bool
	// Residual puts the coefficients of minus the gradient at the current point into dst and returns the value.
	Residual(dst []float64) (value float64)
	// Gather forms the sum with these coefficients, the residual r, for the next three.
	Gather(residual []float64)
	// GradientNorm is |r|², and the bound on F(w) - F(w*) for a gradient of that length.
	GradientNorm() (square, gap float64)
	// PreconditionedNorm is rᵀ M⁻¹ r for a matrix M near the Hessian that UpdateHessian has fixed.
	PreconditionedNorm() (square float64)
	// Conjugate puts coefficients and image of z = M⁻¹ r into dst and image after PreconditionedNorm, and returns rᵀ z.
	Conjugate(dst, image, residual []float64) (square float64)
	// HessVecRows puts the coefficients of H p into dst, given those of p and its image, and returns pᵀ H p.
	HessVecRows(dst, p, image []float64) (curvature float64)
	// SetDirectionRows prepares the line w + t s, given coefficients and image of s, which it may change.
	SetDirectionRows(s, image []float64)
}

// inRows takes Newton steps by conjugate gradients on coefficients: the same steps as inVariables, but for rounding.
//
//	Symbols  r residual; p direction; z = M⁻¹ r; vectors [coefficients] and their images
//	Cost     a step of conjugate gradients: the sum of one vector and one image, so 2 products with the data. A Newton
//	         step has 1 product more: what it sums for the last test gives no image, and the image of the step is
//	         that of its directions
type inRows struct {
	*Newton
	f ByRows
}

func (n inRows) gradient() (value, norm, gap float64) {
	value = n.f.Residual(n.residual)
	n.f.Gather(n.residual)
	square, gap := n.f.GradientNorm()
	return value, math.Sqrt(square), gap
}

func (n inRows) solve(eta float64) (slope float64) {
	n.images()
	n.zero()
	enough := eta * eta * n.f.PreconditionedNorm()
	conjugated, image := n.product, n.conjugatedImage // the product's memory is free when M⁻¹ r is formed, and back
	square := n.f.Conjugate(conjugated, image, n.residual)
	copy(n.direction, conjugated)
	copy(n.directionImage, image)
	for range maxConjugateSteps {
		curvature := n.f.HessVecRows(n.product, n.direction, n.directionImage)
		if curvature <= 0 {
			break
		}
		slope -= square / curvature * square
		n.advanceRows(square / curvature)
		n.f.Gather(n.residual)
		if n.f.PreconditionedNorm() <= enough {
			break
		}
		before := square
		square = n.f.Conjugate(conjugated, image, n.residual)
		n.updateDirections(square / before)
	}
	n.f.SetDirectionRows(n.step, n.stepImage)
	return slope
}

// images makes the vectors that only this form needs.
func (n inRows) images() {
	if n.stepImage == nil {
		for _, v := range []*[]float64{&n.stepImage, &n.directionImage, &n.conjugatedImage} {
			*v = make([]float64, len(n.step))
		}
	}
}

// zero sets the step to zero.
func (n inRows) zero() {
	n.pool.Stripes(len(n.step), func(lo, hi int) {
		clear(n.step[lo:hi])
		clear(n.stepImage[lo:hi])
	})
}

// advanceRows goes a length along the direction.
func (n inRows) advanceRows(length float64) {
	n.pool.Stripes(len(n.step), func(lo, hi int) {
		vector.Add(n.step[lo:hi], length, n.direction[lo:hi])
		vector.Add(n.stepImage[lo:hi], length, n.directionImage[lo:hi])
		vector.Add(n.residual[lo:hi], -length, n.product[lo:hi])
	})
}

// updateDirections sets direction = conjugated residual + beta direction.
func (n inRows) updateDirections(beta float64) {
	n.pool.Stripes(len(n.direction), func(lo, hi int) {
		conjugate(n.direction[lo:hi], n.product[lo:hi], beta)
		conjugate(n.directionImage[lo:hi], n.conjugatedImage[lo:hi], beta)
	})
}

func conjugate(direction, conjugated []float64, beta float64) {
	for j, d := range direction {
		direction[j] = conjugated[j] + beta*d
	}
}
