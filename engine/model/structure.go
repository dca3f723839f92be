package model

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/strictjson"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Structure holds components that package structure has found, and perhaps a linear classifier on the rows and their
// structure features: f = x Coef + z StructureCoef + Intercept. Of a group of features z has the inner products of x
// with its components, scaled to Weight times the length that x has in the group.
type Structure struct {
	Features   int // d
	Components int // h of each group
	Groups     int // G
	Outputs    int // decision values of a row; 0: there is no classifier

	Theta         []float64 // [Features*Components] the components of a feature side by side
	GroupOf       []float64 // [Features] number of each feature's group, 0 ... Groups-1
	Weight        []float64 // [1] length of the structure features of a group, in lengths of the row there
	Coef          []float64 // [Features*Outputs] the outputs of a feature side by side
	StructureCoef []float64 // [Groups*Components*Outputs] the outputs of a structure feature side by side
	Intercept     []float64 // [Outputs]

	Report
}

// Kind is the name in files.
func (*Structure) Kind() string { return "structure" }

func (m *Structure) sizes() []strictjson.Field {
	return []strictjson.Field{
		{Name: "n_features", Value: &m.Features}, {Name: "n_components", Value: &m.Components},
		{Name: "n_groups", Value: &m.Groups}, {Name: "n_outputs", Value: &m.Outputs},
	}
}

func (m *Structure) mistake() string {
	switch {
	case m.Groups > m.Features:
		return fmt.Sprintf("n_groups is %d: there are %d features", m.Groups, m.Features)
	case m.Added() > maxSize:
		return fmt.Sprintf("%d groups of %d components are too many: at most %d are possible", m.Groups, m.Components,
			maxSize)
	}
	return ""
}

func (m *Structure) arrays() []array {
	return []array{
		{"components", m.Features, m.Components, &m.Theta, false}, {"groups", m.Features, 1, &m.GroupOf, false},
		{"structure_weight", 1, 1, &m.Weight, false}, {"coef", m.Features, m.Outputs, &m.Coef, false},
		{"structure_coef", m.Added(), m.Outputs, &m.StructureCoef, false}, {"intercept", m.Outputs, 1, &m.Intercept, false},
	}
}

func (m *Structure) contentMistake() string {
	if m.Weight[0] <= 0 {
		return fmt.Sprintf("structure_weight[0] is %v: it must be above 0", m.Weight[0])
	}
	used, seen := make([]bool, m.Groups), 0
	for j, group := range m.GroupOf {
		if group != math.Trunc(group) || group < 0 || group >= float64(m.Groups) {
			return fmt.Sprintf("groups[%d] is %v: it must be a whole number, 0 to %d", j, group, m.Groups-1)
		}
		if g := int(group); !used[g] {
			used[g] = true
			seen++
		}
	}
	if seen < m.Groups {
		return fmt.Sprintf("groups has features of %d of %d groups: every group needs one", seen, m.Groups)
	}
	return ""
}

// Added is the number of structure features.
func (m *Structure) Added() int { return m.Groups * m.Components }

// StructureFeatures sets dst [rows*Added] to the structure features of rows, those of a row side by side.
func (m *Structure) StructureFeatures(pool *work.Pool, rows *rows.Matrix, dst []float64) error {
	if err := checkRows(rows, m.Features, "features", len(dst), m.Added()); err != nil {
		return err
	}
	pool.Stripes(rows.Rows(), func(lo, hi int) {
		row, squares := make([]float64, m.Features), make([]float64, m.Groups)
		for i := lo; i < hi; i++ {
			m.features(rows, i, dst[i*m.Added():(i+1)*m.Added()], row, squares)
		}
	})
	return nil
}

// features sets z to the structure features of a row; row [Features] is zero and remains so, squares is room [Groups].
func (m *Structure) features(rows *rows.Matrix, i int, z, row, squares []float64) {
	clear(z)
	clear(squares)
	h := m.Components
	rows.Row(i, func(j int, value float64) { row[j] += value })
	rows.Row(i, func(j int, _ float64) {
		g, value := int(m.GroupOf[j]), row[j]
		vector.Add(z[g*h:(g+1)*h], value, m.Theta[j*h:(j+1)*h])
		squares[g] += value * value
		row[j] = 0 // a feature that stands twice counts once
	})
	for g, square := range squares {
		own := z[g*h : (g+1)*h]
		if length := math.Sqrt(vector.Dot(own, own)); length > 0 {
			vector.Scale(own, m.Weight[0]*math.Sqrt(square)/length)
		}
	}
}

// Decisions sets dst [rows*Outputs] to the decision values, those of a row side by side.
func (m *Structure) Decisions(pool *work.Pool, x *rows.Matrix, dst []float64) error {
	if m.Outputs == 0 {
		return fault.Argument("the model has no classifier, only components")
	}
	if err := checkRows(x, m.Features, "decisions", len(dst), m.Outputs); err != nil {
		return err
	}
	x.Decisions(pool, rows.Weights{Coef: m.Coef, Intercept: m.Intercept, ByFeature: true}, dst)
	pool.Stripes(x.Rows(), func(lo, hi int) {
		z, row, squares := make([]float64, m.Added()), make([]float64, m.Features), make([]float64, m.Groups)
		for i := lo; i < hi; i++ {
			m.features(x, i, z, row, squares)
			vector.AddProduct(dst[i*m.Outputs:(i+1)*m.Outputs], z, m.StructureCoef)
		}
	})
	return nil
}
