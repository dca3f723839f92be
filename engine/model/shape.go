package model

import (
	"fmt"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
)

const (
	maxSize   = math.MaxInt32 // of classes and of features
	maxValues = 1 << 31       // of one array: 16 GiB
)

// mistake says what is wrong with the shapes or the values, "" if nothing is.
func (m *Linear) mistake() string {
	if wrong := shapeMistake(m.Classes, m.Features, m.Outputs); wrong != "" {
		return wrong
	}
	for _, array := range m.arrays() {
		if len(*array.values) != array.length {
			return fmt.Sprintf("%s has %d values and should have %d", array.name, len(*array.values), array.length)
		}
		for k, value := range *array.values {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return fmt.Sprintf("%s[%d] is %v: NaN and infinity are not allowed", array.name, k, value)
			}
		}
	}
	return ""
}

// Check refuses a model whose arrays do not have the lengths that its shapes ask for, or that holds NaN or infinity.
func (m *Linear) Check() error { return asError(m.mistake()) }

// CheckShape refuses impossible numbers of classes, features and outputs.
func (m *Linear) CheckShape() error { return asError(shapeMistake(m.Classes, m.Features, m.Outputs)) }

func asError(mistake string) error {
	if mistake == "" {
		return nil
	}
	return fault.Argument("%s", mistake)
}

// OutputsOf is the number of decisions a row gets: one for two classes, otherwise one a class.
func OutputsOf(classes int) int {
	if classes <= 2 {
		return 1
	}
	return classes
}

func shapeMistake(classes, features, outputs int) string {
	want := OutputsOf(classes)
	switch {
	case classes < 1 || classes > maxSize:
		return fmt.Sprintf("n_classes is %d: it must be 1 to %d", classes, maxSize)
	case features < 1 || features > maxSize:
		return fmt.Sprintf("n_features is %d: it must be 1 to %d", features, maxSize)
	case outputs != want:
		return fmt.Sprintf("n_outputs is %d: for %d classes it must be %d", outputs, classes, want)
	case features > maxValues/outputs:
		return fmt.Sprintf("%d features and %d outputs are more than %d weights", features, outputs, maxValues)
	default:
		return ""
	}
}

// array is one array of a model with its name in files and the length that the shapes ask for.
type array struct {
	name   string
	length int
	values *[]float64
}

// arrays lists the arrays of a model in the order of the file.
func (m *Linear) arrays() []array {
	return []array{
		{"coef", m.Features * m.Outputs, &m.Coef},
		{"intercept", m.Outputs, &m.Intercept},
		{"class_prior", m.Classes, &m.ClassPrior},
	}
}
