package option

import (
	"encoding/json"
	"math"
)

// AutoWeight is a weight that is "auto" for the outside.
var AutoWeight = math.Inf(-1)

// Weight is how a weight is read and written that is a number or "auto".
type Weight float64

// UnmarshalJSON implements json.Unmarshaler.
func (w *Weight) UnmarshalJSON(text []byte) error {
	if string(text) == `"auto"` {
		*w = Weight(AutoWeight)
		return nil
	}
	return json.Unmarshal(text, (*float64)(w))
}

// Number implements Number: the weight, unless it is "auto".
func (w Weight) Number() (value float64, ok bool) { return float64(w), float64(w) != AutoWeight }

// MarshalJSON implements json.Marshaler.
func (w Weight) MarshalJSON() ([]byte, error) {
	if float64(w) == AutoWeight {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(float64(w))
}
