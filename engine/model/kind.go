package model

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/strictjson"
)

// Model is a model of one kind. The files of all kinds are alike; a kind has sizes, which are whole numbers in the
// header, arrays, whose shapes follow from the sizes, and a Report.
type Model interface {
	Kind() string
	sizes() []strictjson.Field // of the header, in the order of the file
	mistake() string           // in the sizes together, "" if there is none
	arrays() []array           // in the order of the file
	contentMistake() string    // in the values of the arrays beyond NaN and infinity, "" if there is none
	report() *Report
}

// kinds makes an empty model of each kind.
var kinds = map[string]func() Model{
	"linear":    func() Model { return &Linear{} },
	"chain":     func() Model { return &Chain{} },
	"structure": func() Model { return &Structure{} },
}

// array is an array of rows times columns values, those of a row side by side.
type array struct {
	name          string
	rows, columns int
	values        *[]float64
	forbids       bool // with -Inf, the only value that is not finite
}

func (a array) length() int { return a.rows * a.columns }

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
		if len(*a.values) != a.length() {
			return fault.Argument("%s has %d values and should have %d", a.name, len(*a.values), a.length())
		}
		if wrong := a.valueMistake(); wrong != "" {
			return fault.Argument("%s", wrong)
		}
	}
	if wrong := m.contentMistake(); wrong != "" {
		return fault.Argument("%s", wrong)
	}
	return nil
}

// CheckShape refuses impossible sizes.
func CheckShape(m Model) error {
	if wrong := shapeMistake(m); wrong != "" {
		return fault.Argument("%s", wrong)
	}
	return nil
}

// shapeMistake is a mistake in the sizes, "" if there is none.
func shapeMistake(m Model) string {
	for _, size := range m.sizes() {
		if n := *size.Value.(*int); n < 1 || n > maxSize {
			return fmt.Sprintf("%s is %d: it must be 1 to %d", size.Name, n, maxSize)
		}
	}
	if wrong := m.mistake(); wrong != "" {
		return wrong
	}
	for _, a := range m.arrays() {
		if a.length() > maxValues {
			return fmt.Sprintf("%s would have %d x %d values: at most %d are possible", a.name, a.rows, a.columns, maxValues)
		}
	}
	return ""
}

func (a array) valueMistake() string {
	rule := "NaN and infinity are not allowed"
	if a.forbids {
		rule = "only numbers and -infinity, which forbids, are allowed"
	}
	for k, value := range *a.values {
		if math.IsNaN(value) || math.IsInf(value, 1) || math.IsInf(value, -1) && !a.forbids {
			return fmt.Sprintf("%s[%d] is %v: %s", a.name, k, value, rule)
		}
	}
	return ""
}
