// Package model has models of three kinds, linear classifiers, chains and components, and their files. Start at Linear.
package model

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Linear is a classifier whose decision values are linear in the features: f = x Coef + Intercept. Two classes have one
// decision value, and class 1 is where it is above 0. More classes have one each, and the largest decides.
type Linear struct {
	Classes  int // K
	Features int // d
	Outputs  int // decision values of a row: 1 for two classes, otherwise K

	Coef       []float64 // [Features*Outputs] the outputs of a feature side by side
	Intercept  []float64 // [Outputs]
	ClassPrior []float64 // [Classes] the share of each class that the fit held to

	Report
}

// OutputsOf is the number of decisions a row gets: one for two classes, otherwise one a class.
func OutputsOf(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// OfScores is the classifier by class scores x coef + intercept, coef [features*classes]; it overwrites these.
func OfScores(classes int, coef, intercept []float64) *Linear {
	m := &Linear{Classes: classes, Features: len(coef) / classes, Outputs: OutputsOf(classes)}
	outputs := func(scores []float64) []float64 {
		for first := 0; first < len(scores); first += classes {
			row := scores[first : first+classes]
			floats.AddConst(-vector.Sum(row)/float64(classes), row)
			if m.Outputs == 1 {
				scores[first/classes] = row[1] - row[0]
			}
		}
		return scores[:len(scores)/classes*m.Outputs]
	}
	m.Coef, m.Intercept = outputs(coef), outputs(intercept)
	return m
}

func (m *Linear) Layout() Layout {
	return Layout{"linear", []option.Field{
		{Name: "n_classes", Value: &m.Classes}, {Name: "n_features", Value: &m.Features},
		{Name: "n_outputs", Value: &m.Outputs, Optional: true},
	}, []Array{
		{"coef", []int{m.Features, m.Outputs}, &m.Coef, false}, {"intercept", []int{m.Outputs}, &m.Intercept, false},
		{"class_prior", []int{m.Classes}, &m.ClassPrior, false},
	}}
}

func (m *Linear) checkSizes() error {
	if outputs := OutputsOf(m.Classes); m.Outputs != outputs {
		return fault.Argument("n_outputs is %d: for %d classes it must be %d", m.Outputs, m.Classes, outputs)
	}
	return nil
}

// Decisions sets dst [rows*Outputs]; a row has the same bits alone and in a batch, on any number of threads.
func (m *Linear) Decisions(pool *work.Pool, rows *rows.Matrix, dst []float64) error {
	return m.eachDecisions(pool, rows, func(first int, decisions []float64) { copy(dst[first*m.Outputs:], decisions) })
}

func (m *Linear) eachDecisions(pool *work.Pool, x *rows.Matrix, each func(first int, decisions []float64)) error {
	if err := CheckFeatures(x, m.Features); err != nil {
		return err
	}
	return x.EachDecisions(pool, rows.Weights{Coef: m.Coef, Intercept: m.Intercept, ByFeature: true}, each)
}

// Predict sets dst [rows] to class numbers.
func (m *Linear) Predict(pool *work.Pool, rows *rows.Matrix, dst []int32) error {
	return m.eachDecisions(pool, rows, func(first int, decisions []float64) {
		for i := range len(decisions) / m.Outputs {
			dst[first+i] = m.class(decisions[i*m.Outputs : (i+1)*m.Outputs])
		}
	})
}

func (m *Linear) class(decisions []float64) int32 {
	switch {
	case m.Outputs > 1:
		return int32(vector.Largest(decisions))
	case m.Classes == 2 && decisions[0] > 0:
		return 1
	}
	return 0
}

func CheckFeatures(rows *rows.Matrix, features int) error {
	if rows.Cols() != features {
		return fault.Argument("rows have %d features, the model has %d", rows.Cols(), features)
	}
	return nil
}

type Model interface {
	Layout() Layout
	checkSizes() error   // together
	checkContent() error // of the arrays, beyond NaN and infinity
	report() *Report
}

// Layout is what files have of a model.
type Layout struct {
	Kind   string         // the name in files
	sizes  []option.Field // whole numbers
	Arrays []Array        // their shapes follow from the sizes
}

var kinds = map[string]func() Model{
	"linear":    func() Model { return &Linear{} },
	"chain":     func() Model { return &Chain{} },
	"structure": func() Model { return &Structure{Groups: 1} },
}

// Array is a list of values or a matrix, with the values of a row side by side.
type Array struct {
	Name    string
	shape   []int // one or two sizes
	Values  *[]float64
	forbids bool // with -Inf, the only value that is not finite
}

func (a Array) length() int {
	length := 1
	for _, size := range a.shape {
		length *= size
	}
	return length
}

const (
	maxSize   = math.MaxInt32 // of classes and of features
	maxValues = 1 << 31       // of one array: 16 GiB
)

// Check refuses impossible sizes, arrays of other lengths, and NaN or infinity where they are not allowed.
func Check(m Model) error {
	if err := CheckShape(m); err != nil {
		return err
	}
	for _, a := range m.Layout().Arrays {
		if err := a.check(); err != nil {
			return err
		}
	}
	return m.checkContent()
}

func CheckShape(m Model) error {
	for _, size := range m.Layout().sizes {
		if n := *size.Value.(*int); n < 1 || n > maxSize {
			return fault.Argument("%s is %d: it must be 1 to %d", size.Name, n, maxSize)
		}
	}
	if err := m.checkSizes(); err != nil {
		return err
	}
	for _, a := range m.Layout().Arrays {
		if a.length() > maxValues {
			return fault.Argument("%s would have the shape %v: at most %d values are possible", a.Name, a.shape, maxValues)
		}
	}
	return nil
}

func (a Array) check() error {
	if len(*a.Values) != a.length() {
		return fault.Argument("%s has %d values and should have %d", a.Name, len(*a.Values), a.length())
	}
	rule := "NaN and infinity are not allowed"
	if a.forbids {
		rule = "only numbers and -infinity, which forbids, are allowed"
	}
	for k, value := range *a.Values {
		if math.IsNaN(value) || math.IsInf(value, 1) || math.IsInf(value, -1) && !a.forbids {
			return fault.Argument("%s[%d] is %v: %s", a.Name, k, value, rule)
		}
	}
	return nil
}

// Description is the sizes of a model and what is known of its fit.
func Description(m Model) []option.Field { return append(m.Layout().sizes, m.report().fields()...) }

// Assemble makes a model of a kind from a JSON object with its Description and from arrays, which it keeps.
func Assemble(kind string, description []byte, given map[string][]float64) (Model, error) {
	if err := knows(kind, slices.Sorted(maps.Keys(given))); err != nil {
		return nil, err
	}
	m := kinds[kind]()
	m.report().Objective = math.NaN()
	if err := option.Decode(description, Description(m)); err != nil {
		return nil, fault.Argument("description: %v", err)
	}
	if l, ok := m.(*Linear); ok && l.Outputs == 0 {
		l.Outputs = OutputsOf(l.Classes)
	}
	if err := CheckShape(m); err != nil {
		return nil, err
	}
	for _, a := range m.Layout().Arrays { // none is made before those before it have the right lengths
		values, there := given[a.Name]
		if s, ok := m.(*Structure); ok && a.Name == "groups" && !there && s.Groups == 1 {
			values, there = make([]float64, s.Features), true
		}
		if !there {
			return nil, fault.Argument("arrays has no %q, which must have %d values", a.Name, a.length())
		}
		*a.Values = values
		if err := a.check(); err != nil {
			return nil, err
		}
	}
	return m, m.checkContent()
}

// knows refuses other kinds, and names that are none of the arrays of a kind.
func knows(kind string, given []string) error {
	empty, known := kinds[kind]
	if !known {
		return fault.Argument("a model of the kind %.40q is not known", kind)
	}
	var names []string
	for _, a := range empty().Layout().Arrays {
		names = append(names, a.Name)
	}
	for _, name := range given {
		if !slices.Contains(names, name) {
			return fault.Argument("arrays has %.40q: a model of kind %s has %s", name, kind, strings.Join(names, ", "))
		}
	}
	return nil
}

// Report is what a fit reports of a model, and what the caller stores with it.
type Report struct {
	Method      string
	Iterations  int
	Objective   float64         // NaN where the method has none
	Termination string          // why the fit stopped
	Warnings    warning.List    // of the fit, for the user
	Metadata    json.RawMessage // any JSON that the caller keeps with the model; nil or null: none
}

// fields of a description; the names are those of fewlabel_report in fewlabel.h.
func (r *Report) fields() []option.Field {
	fields := []option.Field{
		{Name: "method", Value: &r.Method}, {Name: "n_iter", Value: &r.Iterations},
		{Name: "objective", Value: (*OrNull)(&r.Objective)}, {Name: "termination_condition", Value: &r.Termination},
		{Name: "warnings", Value: &r.Warnings}, {Name: "metadata", Value: &r.Metadata},
	}
	for k := range fields {
		fields[k].Optional = true
	}
	return fields
}

func (r *Report) report() *Report { return r }

// Default: no further checks.
func (*Report) checkSizes() error   { return nil }
func (*Report) checkContent() error { return nil }

// OrNull is a number for JSON, where null stands for one that is not finite.
type OrNull float64

func (v OrNull) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

func (v *OrNull) UnmarshalJSON(text []byte) error {
	*v = OrNull(math.NaN())
	return json.Unmarshal(text, (*float64)(v))
}

// Structure holds the components of package structure; a row's features are its inner products with them, by groups.
type Structure struct {
	Features   int // d
	Components int // h of each group
	Groups     int // G

	Theta   []float64 // [Features*Components] the components of a feature side by side
	GroupOf []float64 // [Features] number of each feature's group, 0 ... Groups-1

	Report
}

func (m *Structure) Layout() Layout {
	return Layout{"structure", []option.Field{
		{Name: "n_features", Value: &m.Features}, {Name: "n_components", Value: &m.Components},
		{Name: "n_groups", Value: &m.Groups, Optional: true},
	}, []Array{
		{"components", []int{m.Features, m.Components}, &m.Theta, false}, {"groups", []int{m.Features}, &m.GroupOf, false},
	}}
}

func (m *Structure) checkSizes() error {
	if m.Groups > m.Features {
		return fault.Argument("n_groups is %d: there are %d features", m.Groups, m.Features)
	}
	return nil
}

func (m *Structure) checkContent() error {
	used := map[float64]bool{}
	for j, group := range m.GroupOf {
		if group != math.Trunc(group) || group < 0 || group >= float64(m.Groups) {
			return fault.Argument("groups[%d] is %v: it must be a whole number, 0 to %d", j, group, m.Groups-1)
		}
		used[group] = true
	}
	if len(used) < m.Groups {
		return fault.Argument("groups has features of %d of %d groups: every group needs one", len(used), m.Groups)
	}
	return nil
}

// Chain holds the numbers of a linear chain: a sequence of rows x_1 ... x_T with tags y_1 ... y_T has the score
// Start[y_1] + Σ_t x_t Coef[., y_t] + Σ_t Transitions[y_t, y_{t+1}] + End[y_T]. Package sequence decodes with it.
type Chain struct {
	Tags     int // K
	Features int // d

	Coef        []float64 // [Features*Tags] the tags of a feature side by side, as in Linear
	Transitions []float64 // [Tags*Tags] all that follow a tag side by side; -Inf forbids, here and in Start and End
	Start, End  []float64 // [Tags]

	Report
}

func (m *Chain) Layout() Layout {
	return Layout{"chain", []option.Field{
		{Name: "n_tags", Value: &m.Tags}, {Name: "n_features", Value: &m.Features},
	}, []Array{
		{"coef", []int{m.Features, m.Tags}, &m.Coef, false}, {"transitions", []int{m.Tags, m.Tags}, &m.Transitions, true},
		{"start", []int{m.Tags}, &m.Start, true}, {"end", []int{m.Tags}, &m.End, true},
	}}
}
