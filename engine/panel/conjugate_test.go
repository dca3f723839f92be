package panel

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// apart acts on every column k of a shape by diag(1 ... d) + (k + 1) 1 1ᵀ, with diag(1 ... d) as M.
type apart struct {
	shape      Shape
	conditions bool
}

func (a apart) Columns() Shape { return a.shape }

func (a apart) Precondition(dst, residual []float64) bool {
	for k := range a.shape.Classes {
		for j := range a.shape.Features {
			dst[a.shape.At(j, k)] = residual[a.shape.At(j, k)] / float64(j+1)
		}
	}
	return a.conditions
}

func (a apart) HessVec(dst, p []float64) {
	for k := range a.shape.Classes {
		sum := 0.0
		for j := range a.shape.Features {
			sum += p[a.shape.At(j, k)]
		}
		for j := range a.shape.Features {
			dst[a.shape.At(j, k)] = float64(j+1)*p[a.shape.At(j, k)] + float64(k+1)*sum
		}
	}
}

// single is one of the columns.
type single struct {
	apart
	k int
}

func (s single) Columns() Shape { return Shape{Features: s.shape.Features, Classes: 1} }

func (s single) spread(v []float64) []float64 {
	all := make([]float64, s.shape.Len())
	for j, x := range v {
		all[s.shape.At(j, s.k)] = x
	}
	return all
}

func (s single) collect(dst, all []float64) {
	for j := range dst {
		dst[j] = all[s.shape.At(j, s.k)]
	}
}

func (s single) Precondition(dst, residual []float64) bool {
	all := make([]float64, s.shape.Len())
	found := s.apart.Precondition(all, s.spread(residual))
	s.collect(dst, all)
	return found
}

func (s single) HessVec(dst, p []float64) {
	all := make([]float64, s.shape.Len())
	s.apart.HessVec(all, s.spread(p))
	s.collect(dst, all)
}

// Columns that a matrix acts on apart are solved as each would be alone, also where one of them has nothing to solve.
func TestColumnsAreSolvedAsEachAlone(t *testing.T) {
	for _, a := range []apart{
		{Shape{Features: 9, Classes: 35}, false}, {Shape{Features: 9, Classes: 35}, true},
		{Shape{Features: 20_000, Classes: 3}, true},
	} {
		b := make([]float64, a.shape.Len())
		for k := range a.shape.Classes - 1 {
			for j := range a.shape.Features {
				b[a.shape.At(j, k)] = math.Sin(float64(1 + j + 10*k))
			}
		}
		for steps := range 5 {
			together := NewConjugateGradients(len(b), work.NewPool(2))
			got, inner := append([]float64{}, together.Solve(a, append([]float64{}, b...), 0, steps)...), 0.0
			for k := range a.shape.Classes {
				s, own, want := single{a, k}, make([]float64, a.shape.Features), make([]float64, a.shape.Features)
				s.collect(own, b)
				alone := NewConjugateGradients(len(own), work.NewPool(1))
				copy(want, alone.Solve(s, own, 0, steps))
				s.collect(own, got)
				inner += alone.inner
				for j, v := range own {
					if math.Abs(v-want[j]) > 1e-12 {
						t.Errorf("%+v, %d steps, column %d: place %d is %v, alone %v", a, steps, k, j, v, want[j])
						break
					}
				}
			}
			if math.Abs(together.inner-inner) > 1e-12*inner {
				t.Errorf("%d steps: b . s is %v, should be %v", steps, together.inner, inner)
			}
		}
	}
}

func TestConjugateGradientsKnowTheSlopeAlongTheirStep(t *testing.T) {
	a := apart{shape: Shape{Features: 23, Classes: 1}}
	for steps := range 6 {
		b := make([]float64, 23)
		for j := range b {
			b[j] = math.Cos(float64(j))
		}
		c := NewConjugateGradients(23, work.NewPool(1))
		s := c.Solve(a, slices.Clone(b), 0, steps)
		if want := vector.Dot(b, s); math.Abs(c.Inner()-want) > 1e-12*want {
			t.Errorf("%d steps: b . s is %v, should be %v", steps, c.Inner(), want)
		}
	}
}
