package model

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Model is a model of one kind, which has sizes, arrays, whose shapes follow from the sizes, and a Report.
type Model interface {
	Kind() string
	sizes() []strictjson.Field // whole numbers
	checkSizes() error         // together
	arrays() []array
	checkContent() error // of the arrays, beyond NaN and infinity
	report() *Report
}

// kinds makes an empty model of each kind.
var kinds = map[string]func() Model{
	"linear":    func() Model { return &Linear{} },
	"chain":     func() Model { return &Chain{} },
	"structure": func() Model { return &Structure{Groups: 1} },
}

// array is a list of values or a matrix, with the values of a row side by side.
type array struct {
	name    string
	shape   []int // one or two sizes
	values  *[]float64
	forbids bool // with -Inf, the only value that is not finite
}

func (a array) length() int {
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

// Check refuses a model whose arrays do not have the lengths that its sizes ask for, or that holds NaN or infinity
// where it must not.
func Check(m Model) error {
	if err := CheckShape(m); err != nil {
		return err
	}
	for _, a := range m.arrays() {
		if err := a.check(); err != nil {
			return err
		}
	}
	return m.checkContent()
}

// CheckShape refuses impossible sizes.
func CheckShape(m Model) error {
	for _, size := range m.sizes() {
		if n := *size.Value.(*int); n < 1 || n > maxSize {
			return fault.Argument("%s is %d: it must be 1 to %d", size.Name, n, maxSize)
		}
	}
	if err := m.checkSizes(); err != nil {
		return err
	}
	for _, a := range m.arrays() {
		if a.length() > maxValues {
			return fault.Argument("%s would have the shape %v: at most %d values are possible", a.name, a.shape, maxValues)
		}
	}
	return nil
}

func (a array) check() error {
	if len(*a.values) != a.length() {
		return fault.Argument("%s has %d values and should have %d", a.name, len(*a.values), a.length())
	}
	rule := "NaN and infinity are not allowed"
	if a.forbids {
		rule = "only numbers and -infinity, which forbids, are allowed"
	}
	for k, value := range *a.values {
		if math.IsNaN(value) || math.IsInf(value, 1) || math.IsInf(value, -1) && !a.forbids {
			return fault.Argument("%s[%d] is %v: %s", a.name, k, value, rule)
		}
	}
	return nil
}
