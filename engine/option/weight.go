package option

import (
	"encoding/json"
	"math"
)

// AutoWeight is the weight "auto" in options, of unlabeled rows or of a regularization.
var AutoWeight = math.Inf(-1)

// unlabeledPerLabel bounds the weight "auto": an unlabeled row counts at most a twentieth of a labeled one
// (docs/notes/alpha.md).
const unlabeledPerLabel = 20

// WeightOf is the weight "auto" with these numbers of unlabeled and labeled rows, or tokens.
func WeightOf(unlabeled, labeled float64) float64 {
	return min(1, unlabeled/(unlabeledPerLabel*labeled))
}

// Weight is a weight in options: a number or "auto".
type Weight float64

func (w *Weight) UnmarshalJSON(text []byte) error {
	if string(text) == `"auto"` {
		*w = Weight(AutoWeight)
		return nil
	}
	return json.Unmarshal(text, (*float64)(w))
}

// Number implements Number: the weight, unless it is "auto".
func (w Weight) Number() (value float64, ok bool) { return float64(w), float64(w) != AutoWeight }

func (w Weight) MarshalJSON() ([]byte, error) {
	if float64(w) == AutoWeight {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(float64(w))
}
