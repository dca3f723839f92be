package model

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

func randomStructure(groups, outputs, features int) *Structure {
	m := &Structure{Features: features, Components: 2, Groups: groups, Outputs: outputs,
		Report: Report{Method: "none", Warnings: []warning.Warning{}}}
	fillArrays(m, rand.New(rand.NewPCG(uint64(groups), uint64(features))))
	for j := range m.GroupOf {
		m.GroupOf[j] = float64(j % groups)
	}
	m.Weight[0] = 0.75
	return m
}

func TestStructureFeaturesAndDecisionsAgainstDenseSums(t *testing.T) {
	for _, groups := range []int{1, 3} {
		m := randomStructure(groups, 4, 9)
		rows, dense := randomRows(t, 700, 9)
		features, decisions := make([]float64, 700*m.Added()), make([]float64, 700*4)
		if err := m.StructureFeatures(work.NewPool(2), rows, features); err != nil {
			t.Fatal(err)
		}
		if err := m.Decisions(work.NewPool(2), rows, decisions); err != nil {
			t.Fatal(err)
		}
		for i, row := range dense {
			z := m.denseFeatures(row)
			if off := farthest(features[i*m.Added():(i+1)*m.Added()], z); off > 1e-12 {
				t.Fatalf("%d groups: a structure feature of row %d is off by %g", groups, i, off)
			}
			want := append([]float64(nil), m.Intercept...)
			for k := range want {
				for j, value := range row {
					want[k] += value * m.Coef[j*4+k]
				}
				for c, value := range z {
					want[k] += value * m.StructureCoef[c*4+k]
				}
			}
			if off := farthest(decisions[i*4:(i+1)*4], want); off > 1e-12 {
				t.Fatalf("%d groups: a decision of row %d is off by %g", groups, i, off)
			}
		}
	}
}

// denseFeatures is the definition, written down once more.
func (m *Structure) denseFeatures(row []float64) []float64 {
	z, squares := make([]float64, m.Added()), make([]float64, m.Groups)
	for j, value := range row {
		for c := range m.Components {
			z[int(m.GroupOf[j])*m.Components+c] += value * m.Theta[j*m.Components+c]
		}
		squares[int(m.GroupOf[j])] += value * value
	}
	for g, square := range squares {
		own, length := z[g*m.Components:(g+1)*m.Components], 0.0
		for _, v := range own {
			length += v * v
		}
		for c := range own {
			if length > 0 {
				own[c] *= m.Weight[0] * math.Sqrt(square/length)
			}
		}
	}
	return z
}

func farthest(a, b []float64) float64 {
	off := 0.0
	for k := range a {
		off = math.Max(off, math.Abs(a[k]-b[k]))
	}
	return off
}

func TestAStructureGivesTheSameBitsForAnyThreadsAndBatch(t *testing.T) {
	worktest.Processors(t, 8)
	m := randomStructure(2, 3, 40)
	rows, _ := randomRows(t, 2000, 40)
	want, got := make([]float64, 6000), make([]float64, 6000)
	if err := m.Decisions(work.NewPool(1), rows, want); err != nil {
		t.Fatal(err)
	}
	if err := m.Decisions(work.NewPool(8), rows, got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("8 threads give other bits (%v)", err)
	}
	for i := 0; i < 2000; i += 37 {
		alone := make([]float64, 3)
		err := m.Decisions(work.NewPool(1), oneRow(t, rows, i), alone)
		if err != nil || !reflect.DeepEqual(alone, want[3*i:3*i+3]) {
			t.Errorf("row %d alone gives %v (%v)", i, alone, err)
		}
	}
}

func TestShapesThatDoNotFitAStructure(t *testing.T) {
	pool := work.NewPool(1)
	rows, _ := randomRows(t, 4, 5)
	bare := randomStructure(2, 0, 5)
	wantFault(t, bare.Decisions(pool, rows, nil), fault.BadArgument, "the model has no classifier, only components")
	wantFault(t, bare.StructureFeatures(pool, rows, make([]float64, 15)), fault.BadArgument,
		"features has room for 15 values, but 4 rows need 16")
	wantFault(t, randomStructure(1, 2, 7).Decisions(pool, rows, nil), fault.BadArgument,
		"rows have 5 features, the model has 7")
}

func TestStructuresThatLie(t *testing.T) {
	header, data := unseal(encoding(t, randomStructure(2, 1, 3)))
	for _, c := range []struct {
		at    int
		value float64
		want  string
	}{
		{0, math.NaN(), "components[0] is NaN: NaN and infinity are not allowed"},
		{7, 2, "groups[1] is 2: it must be a whole number, 0 to 1"},
		{8, 0.5, "groups[2] is 0.5: it must be a whole number, 0 to 1"},
		{6, -1, "groups[0] is -1: it must be a whole number, 0 to 1"},
		{7, 0, "groups has features of 1 of 2 groups: every group needs one"},
		{9, 0, "structure_weight[0] is 0: it must be above 0"},
		{17, math.Inf(1), "intercept[0] is +Inf: NaN and infinity are not allowed"},
	} {
		changed := append([]byte(nil), data...)
		binary.LittleEndian.PutUint64(changed[8*c.at:], math.Float64bits(c.value))
		wantInvalid(t, seal(header, changed), c.want)
	}
	for sizes, want := range map[[4]int]string{
		{0, 1, 1, 1}:                   "n_features is 0: it must be 1 to 2147483647",
		{3, 1, 4, 1}:                   "n_groups is 4: there are 3 features",
		{3, 1, 1, -1}:                  "n_outputs is -1: it must be 0 to 2147483647",
		{1 << 30, 1 << 30, 1 << 30, 1}: "1073741824 groups of 1073741824 components are too many: at most 2147483647 are possible",
	} {
		m := &Structure{Features: sizes[0], Components: sizes[1], Groups: sizes[2], Outputs: sizes[3]}
		wantFault(t, CheckShape(m), fault.BadArgument, want)
	}
}
