package risk

import (
	"github.com/fewlabel/fewlabel/engine/loss"
	"github.com/fewlabel/fewlabel/engine/vector"
)

// The preconditioner of many classes, see heavy.
//
//	Problem  M = α I + Σ_{i heavy} Pᵀ diag(h_i) P ⊗ g_i g_iᵀ over the weights of all nodes
//	Symbols  as in heavy; P the path matrix of the class tree, so P z are class scores; h_iy row i's curvature in the
//	         score of class y; T = P Pᵀ, T_yz the nodes that two classes have in common
//	Source   as in heavy: M⁻¹ r = (r - Σ_iy y_iy P_y ⊗ g_i) / α with (α diag(1/h) + T ⊗ G) y = (P r g_i). Without a
//	         tree T is the identity and every class has a system of its own. With one these are solved together, by
//	         conjugate gradients whose preconditioner is the diagonal of T: exact factors for each class. Only with a
//	         loss that judges each class by itself: of others diag(h) is a rough picture, and exact solves with it cost
//	         passes. Then every node has a system of its own, with the curvature of the classes below it
//	Cost     as in heavy for each class; with a tree some ten products with the Gram matrix besides

// Curve implements minimize.Objective; Gradient has found the curvature.
func (r *Classes) Curve() {
	if r.heavy == nil {
		return
	}
	r.curves = make([][]float64, len(r.heavy.list))
	r.job.Run(len(r.curves), func(place int) { r.curves[place] = r.diagonal(r.heavy.list[place]) })
	r.factors = make([]*factor, r.systems())
	r.job.Run(len(r.factors), func(v int) {
		alpha := r.alpha
		if r.coupled() {
			alpha /= r.tree.Depth(v)
		}
		r.factors[v] = r.heavy.factor(alpha, func(place int) float64 { return r.curves[place][v] })
	})
}

// coupled says whether the systems of the classes are solved together.
func (r *Classes) coupled() bool {
	_, separable := r.Loss.(loss.OneAgainstRest)
	return separable && !r.tree.Flat()
}

// systems is the number of factors: one a class where they are coupled, otherwise one a node.
func (r *Classes) systems() int {
	if r.coupled() {
		return r.tree.Classes()
	}
	return r.tree.Nodes()
}

// diagonal is row i's curvature in the score of each class, or node.
func (r *Classes) diagonal(i int32) []float64 {
	classes, stride := r.tree.Classes(), r.shape.Stride()
	out, unit, bent := make([]float64, stride), make([]float64, stride), make([]float64, stride)
	certain := make([]float64, classes)
	for y := range classes {
		clear(unit)
		unit[y] = 1
		r.bend(i, bent, unit, certain)
		out[y] = bent[y]
	}
	if !r.coupled() {
		r.tree.Up(out)
	}
	return out
}

// Heavy names the rows that make a preconditioner; costs must be set.
func (r *Classes) Heavy(list []int32) {
	r.heavy = newHeavy(r.rows, list, r.frame.constant, r.frame.center)
	r.heavyRows = r.rows.Subset(list)
}

// Precondition implements minimize.Preconditioned.
func (r *Classes) Precondition(dst, residual []float64) bool {
	if r.heavy == nil {
		return false
	}
	shift := make([]float64, r.shape.Stride())
	r.frame.shift(r.job.Pool, shift, residual)
	scores := r.stepScores // free until Aim
	r.job.Visit(2 * r.heavy.nonZeros)
	r.rows.TimesWide(r.job, r.heavyRows, scores, residual, r.shape)
	r.eachHeavy(scores, func(row []float64) { vector.Add(row, 1, shift) })
	r.solveHeavy(scores)
	total := make([]float64, len(shift))
	r.eachHeavy(scores, func(row []float64) {
		vector.Scale(row, -1/r.alpha)
		vector.Add(total, 1, row)
	})
	r.frame.spread(r.job.Pool, dst, residual, 1/r.alpha, total)
	r.rows.AddTransposedWide(r.job.Replicated(), r.heavyRows, dst, scores, r.shape)
	return true
}

// eachHeavy visits the heavy rows of values [n, stride].
func (r *Classes) eachHeavy(values []float64, visit func(row []float64)) {
	stride := r.shape.Stride()
	for _, i := range r.heavy.list {
		visit(values[int(i)*stride : (int(i)+1)*stride])
	}
}

// solveHeavy replaces the node scores of the heavy rows in values [n, stride] by their coefficients y in every node,
// and returns the inner product of the two.
func (r *Classes) solveHeavy(values []float64) (inner float64) {
	stride, coupled := r.shape.Stride(), r.coupled()
	scores := make([][]float64, r.systems())
	r.eachHeavy(values, func(row []float64) {
		if coupled {
			r.tree.Down(row)
		}
		for v := range scores {
			scores[v] = append(scores[v], row[v])
		}
	})
	sums := make([][]float64, len(scores))
	if coupled {
		sums = r.together(scores)
	} else {
		r.job.Run(len(sums), func(v int) { sums[v] = r.factors[v].solved(scores[v]) })
	}
	for v, list := range sums {
		inner += vector.Dot(list, scores[v])
	}
	for place, i := range r.heavy.list {
		row := values[int(i)*stride : (int(i)+1)*stride]
		clear(row)
		for v := range sums {
			row[v] = sums[v][place]
		}
		if coupled {
			r.tree.Up(row)
		}
	}
	return inner
}

// Conjugate gradients for the heavy rows of a tree end at this part of the residual.
const (
	togetherLooseness = 1e-3
	togetherSteps     = 40
)

// together solves (α diag(1/h) + T ⊗ G) y = scores over the rows with curvature; vectors are [K][heavy].
func (r *Classes) together(scores [][]float64) [][]float64 {
	classes, places := r.tree.Classes(), len(r.heavy.list)
	matrix := func() [][]float64 {
		m := make([][]float64, classes)
		for y := range m {
			m[y] = make([]float64, places)
		}
		return m
	}
	y, residual, product := matrix(), matrix(), matrix()
	for c := range residual {
		copy(residual[c], scores[c])
	}
	conjugate := func() (z [][]float64, square float64) {
		z, parts := make([][]float64, classes), make([]float64, classes)
		r.job.Run(classes, func(c int) {
			z[c] = r.factors[c].solved(residual[c])
			vector.Scale(z[c], 1/r.tree.Depth(c))
			parts[c] = vector.Dot(z[c], residual[c])
		})
		return z, vector.Sum(parts)
	}
	direction, square := conjugate()
	enough := togetherLooseness * togetherLooseness * square
	for range togetherSteps {
		if !(square > enough) {
			break
		}
		length := square / r.heavyTimes(product, direction)
		for c := range y {
			vector.Add(y[c], length, direction[c])
			vector.Add(residual[c], -length, product[c])
		}
		z, next := conjugate()
		for c := range z {
			vector.Add(z[c], next/square, direction[c])
		}
		direction, square = z, next
	}
	return y
}

// heavyTimes sets dst = (α diag(1/h) + T ⊗ G) p and returns pᵀ dst.
func (r *Classes) heavyTimes(dst, p [][]float64) float64 {
	places := len(r.heavy.list)
	r.job.Run(len(p), func(c int) {
		clear(dst[c])
		for b, v := range p[c] {
			if v != 0 {
				vector.Add(dst[c], v, r.heavy.gram[b*places:(b+1)*places])
			}
		}
	})
	row, inner := make([]float64, r.tree.Nodes()), 0.0
	for a := range places {
		clear(row)
		for c := range dst {
			row[c] = dst[c][a]
		}
		r.tree.Up(row)
		r.tree.Down(row)
		for c, curve := range r.curves[a][:len(dst)] {
			dst[c][a] = 0
			if curve > 0 {
				dst[c][a] = row[c] + r.alpha/curve*p[c][a]
			}
		}
	}
	for c := range dst {
		inner += vector.Dot(dst[c], p[c])
	}
	return inner
}
