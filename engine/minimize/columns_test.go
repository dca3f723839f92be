package minimize

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

// dense systems have a matrix for each column; they note how many columns each product was for.
type dense struct {
	matrices []*mat.SymDense
	asked    []int
}

func (s *dense) HessVec(dst, p []float64, columns []int) {
	s.asked = append(s.asked, len(columns))
	clear(dst)
	layout := panel.Shape{Features: s.matrices[0].SymmetricDim(), Classes: len(columns)}
	for k, l := range columns {
		for i := range layout.Features {
			for j := range layout.Features {
				dst[layout.At(i, k)] += s.matrices[l].At(i, j) * p[layout.At(j, k)]
			}
		}
	}
}

// drawDense draws systems whose condition grows with the column, and a residual.
func drawDense(d, columns int) (*dense, []float64) {
	random, s := rand.New(rand.NewPCG(3, 1)), &dense{}
	for l := range columns {
		root := mat.NewDense(d, 2*d, nil)
		for i := range d {
			for j := range 2 * d {
				root.Set(i, j, random.NormFloat64()*math.Pow(1+float64(i), float64(l)/float64(columns)))
			}
		}
		matrix := mat.NewSymDense(d, nil)
		matrix.SymOuterK(1/float64(d), root)
		s.matrices = append(s.matrices, matrix)
	}
	layout := panel.Shape{Features: d, Classes: columns}
	residual := make([]float64, layout.Len())
	for l := range columns {
		for j := range d {
			residual[layout.At(j, l)] = random.NormFloat64()
		}
	}
	return s, residual
}

func solveDense(s *dense, residual []float64, limits ColumnLimits, threads int) ([]float64, []ColumnOutcome) {
	x := make([]float64, len(residual))
	outcomes := SolveColumns(work.NewPool(threads), s, x, append([]float64(nil), residual...),
		s.matrices[0].SymmetricDim(), len(s.matrices), limits)
	return x, outcomes
}

func TestColumnsAreSolvedAsByCholesky(t *testing.T) {
	const d, columns = 12, 37
	s, residual := drawDense(d, columns)
	layout := panel.Shape{Features: d, Classes: columns}
	x, outcomes := solveDense(s, residual, ColumnLimits{Tolerance: 1e-13, MaxSteps: 100}, 1)
	for l, matrix := range s.matrices {
		var factor mat.Cholesky
		factor.Factorize(matrix)
		right, want := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
		for j := range d {
			right.SetVec(j, residual[layout.At(j, l)])
		}
		if err := factor.SolveVecTo(want, right); err != nil {
			t.Fatal(err)
		}
		for j := range d {
			if got := x[layout.At(j, l)]; math.Abs(got-want.AtVec(j)) > 1e-10 {
				t.Errorf("column %d, variable %d: %v, should be %v", l, j, got, want.AtVec(j))
			}
		}
		if decrease := mat.Dot(right, want) / 2; math.Abs(outcomes[l].Decrease-decrease) > 1e-10*decrease {
			t.Errorf("column %d: decrease %v, should be %v", l, outcomes[l].Decrease, decrease)
		}
		if !outcomes[l].Converged {
			t.Errorf("column %d has not converged", l)
		}
	}
}

func TestColumnsTogetherHaveTheBitsOfColumnsAlone(t *testing.T) {
	const d, columns = 15, 41
	s, residual := drawDense(d, columns)
	all := panel.Shape{Features: d, Classes: columns}
	limits := ColumnLimits{Tolerance: 1e-3, MaxSteps: 50}
	together, outcomes := solveDense(s, residual, limits, 1)
	for l := range columns {
		own := make([]float64, d)
		for j := range d {
			own[j] = residual[all.At(j, l)]
		}
		alone, outcome := solveDense(&dense{matrices: s.matrices[l : l+1]}, own, limits, 1)
		if outcome[0] != outcomes[l] {
			t.Errorf("column %d: alone %+v, together %+v", l, outcome[0], outcomes[l])
		}
		for j, v := range alone {
			if together[all.At(j, l)] != v {
				t.Fatalf("column %d, variable %d: alone %v, together %v", l, j, v, together[all.At(j, l)])
			}
		}
	}
}

func TestColumnsThatHaveConvergedDropOut(t *testing.T) {
	s, residual := drawDense(15, 41)
	layout := panel.Shape{Features: 15, Classes: 41}
	for j := range 15 {
		residual[layout.At(j, 4)] = 0
	}
	_, outcomes := solveDense(s, residual, ColumnLimits{Tolerance: 1e-3, MaxSteps: 50}, 1)
	total := 0
	for _, outcome := range outcomes {
		total += outcome.Steps
	}
	asked := 0
	for _, columns := range s.asked {
		asked += columns
	}
	if outcomes[4].Steps != 0 || !outcomes[4].Converged {
		t.Errorf("the column without residual: %+v", outcomes[4])
	}
	if asked != total || s.asked[0] != 40 || s.asked[len(s.asked)-1] >= 40 {
		t.Errorf("products for %v columns, %d in all; the columns took %d steps", s.asked, asked, total)
	}
}

func TestColumnsStopAtMaxStepsAndWithoutCurvature(t *testing.T) {
	s, residual := drawDense(15, 9)
	for i := range 15 {
		for j := range 15 {
			s.matrices[2].SetSym(i, j, 0)
		}
	}
	x, outcomes := solveDense(s, residual, ColumnLimits{Tolerance: 1e-13, MaxSteps: 3}, 1)
	layout := panel.Shape{Features: 15, Classes: 9}
	for l, outcome := range outcomes {
		want := 3
		if l == 2 {
			want = 0
		}
		if outcome.Steps != want || outcome.Converged || (x[layout.At(0, l)] == 0) != (l == 2) {
			t.Errorf("column %d: %+v, x %v", l, outcome, x[layout.At(0, l)])
		}
	}
}

// diagonal systems are long enough for several threads.
type diagonal struct{ d int }

func (s diagonal) HessVec(dst, p []float64, columns []int) {
	layout := panel.Shape{Features: s.d, Classes: len(columns)}
	for k, l := range columns {
		for j := range s.d {
			dst[layout.At(j, k)] = (1 + float64(j%(3+l))) * p[layout.At(j, k)]
		}
	}
}

func TestColumnsHaveTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 8)
	const d, n = 20011, 35
	var reference []float64
	for _, threads := range []int{1, 2, 3} {
		random, x := rand.New(rand.NewPCG(3, 1)), make([]float64, panel.Shape{Features: d, Classes: n}.Len())
		residual := make([]float64, len(x))
		for j := range d {
			for l := range n {
				residual[panel.Shape{Features: d, Classes: n}.At(j, l)] = random.NormFloat64()
			}
		}
		SolveColumns(work.NewPool(threads), diagonal{d}, x, residual, d, n, ColumnLimits{Tolerance: 1e-4, MaxSteps: 9})
		if reference == nil {
			reference = x
		}
		for k, v := range x {
			if v != reference[k] {
				t.Fatalf("%d threads: entry %d is %v, on one thread %v", threads, k, v, reference[k])
			}
		}
	}
}
