package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// descriptionOf has the sizes of a model as JSON.
func descriptionOf(t *testing.T, m Model) []byte {
	sizes := map[string]any{}
	for _, size := range m.Layout().sizes {
		sizes[size.Name] = size.Value
	}
	text, err := json.Marshal(sizes)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAModelIsAssembledFromItsArrays(t *testing.T) {
	for _, want := range []Model{randomModel(2, 3), randomModel(5, 4), randomChain(3, 2), randomStructure(2, 5),
		randomStructure(1, 4)} {
		*want.report() = Report{}
		given := map[string][]float64{}
		for _, a := range want.Layout().Arrays {
			given[a.Name] = *a.Values
		}
		got, err := Assemble(want.Layout().Kind, descriptionOf(t, want), given)
		if err != nil {
			t.Fatal(err)
		}
		if objective := got.report().Objective; !math.IsNaN(objective) {
			t.Errorf("%s: the objective is %v", want.Layout().Kind, objective)
		}
		got.report().Objective = 0
		if !reflect.DeepEqual(got.Layout().Arrays, want.Layout().Arrays) || !reflect.DeepEqual(Description(got), Description(want)) {
			t.Errorf("%s: got %+v", want.Layout().Kind, got)
		}
	}
}

func TestWhatADescriptionMayLeaveOut(t *testing.T) {
	m, err := Assemble("structure", []byte(`{"n_features": 2, "n_components": 1, "method": "none", "objective": null}`),
		map[string][]float64{"components": {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	s := m.(*Structure)
	if s.Groups != 1 || s.Method != "none" || !reflect.DeepEqual(s.GroupOf, []float64{0, 0}) {
		t.Errorf("got %+v", s)
	}
	three := make([]float64, 3)
	m, err = Assemble("linear", []byte(`{"n_classes": 3, "n_features": 1}`),
		map[string][]float64{"coef": three, "intercept": three, "class_prior": three})
	if err != nil || m.(*Linear).Outputs != 3 {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestArraysThatDoNotMakeAModel(t *testing.T) {
	one := []float64{0}
	good := map[string][]float64{"coef": {1, 2}, "transitions": one, "start": one, "end": one}
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"end", nil, `arrays has no "end", which must have 1 values`},
		{"weights", one, `arrays has "weights": a model of kind chain has coef, transitions, start, end`},
		{"coef", one, "coef has 1 values and should have 2"},
		{"coef", []float64{1, math.NaN()}, "coef[1] is NaN: NaN and infinity are not allowed"},
	} {
		given := maps.Clone(good)
		given[c.name] = c.values
		if c.values == nil {
			delete(given, c.name)
		}
		_, err := Assemble("chain", []byte(`{"n_tags": 1, "n_features": 2}`), given)
		wantFault(t, err, fault.BadArgument, c.want)
	}
	_, err := Assemble("chain", []byte(`{"n_tags": 1}`), good)
	wantFault(t, err, fault.BadArgument, "description: the field n_features is missing")
	_, err = Assemble("chain", []byte(`{"n_tags": 0, "n_features": 2}`), good)
	wantFault(t, err, fault.BadArgument, "n_tags is 0: it must be 1 to 2147483647")
}

func TestAModelIsSavedWithOtherMetadata(t *testing.T) {
	for _, m := range []Model{randomModel(3, 4), randomChain(2, 3), randomStructure(2, 4)} {
		before := string(m.report().Metadata)
		var file bytes.Buffer
		if err := write(&file, m, json.RawMessage(`{"new":1}`)); err != nil {
			t.Fatal(err)
		}
		other, err := readBytes(file.Bytes())
		if err != nil || string(other.report().Metadata) != `{"new":1}` || string(m.report().Metadata) != before {
			t.Fatalf("%s: the metadata is %s and %s (%v)", m.Layout().Kind, m.report().Metadata, other.report().Metadata, err)
		}
		if other.report().Metadata = m.report().Metadata; !reflect.DeepEqual(m, other) {
			t.Errorf("%s: got %+v", m.Layout().Kind, other)
		}
	}
}
