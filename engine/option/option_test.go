package option

import (
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
)

type settings struct {
	Depth  int
	Weight float64
	Rule   string
	Pairs  []int
	Names  fault.Names
}

func (s *settings) table() Table {
	return Table{
		{Name: "depth", Value: &s.Depth, Minimum: 1, Maximum: 9},
		{Name: "weight", Value: &s.Weight, Exclusive: true},
		{Name: "rule", Value: &s.Rule, Choices: []string{"a", "b"}},
		{Name: "pairs", Value: &s.Pairs, Minimum: -1},
		{Name: "names", Value: &s.Names},
	}
}

func TestAnyStructHasItsOptionsReadByItsTable(t *testing.T) {
	s := settings{Depth: 3, Weight: 1, Rule: "a"}
	if err := s.table().Decode([]byte(`{"depth": 4, "rule": "b", "pairs": null, "names": ["null"]}`)); err != nil {
		t.Fatal(err)
	}
	if s.Depth != 4 || s.Weight != 1 || s.Rule != "b" || s.Pairs != nil || !slices.Equal(s.Names, fault.Names{"null"}) {
		t.Fatalf("%+v", s)
	}
	for text, want := range map[string]string{
		`{"dept": 4}`:           `unknown option "dept"; there are `,
		`{"depth": 0}`:          "depth is 0: it must be at least 1",
		`{"depth": 10}`:         "depth is 10: it must be at most 9",
		`{"weight": 0}`:         "weight is 0: it must be above 0",
		`{"rule": "c"}`:         "must be one of a, b",
		`{"rule": null}`:        "rule is null: it must be a string",
		`{"pairs": [0, -5]}`:    "pairs[1] is -5: it must be at least -1",
		`{"depth": 1e30}`:       "depth is 1e30: it is too large",
		`{"weight": -1e999}`:    "weight is -1e999: it is too large",
		`{"pairs": [1e999]}`:    "pairs is [1e999]: it must be an array of integers",
		`{"rule": 1e999}`:       "rule is 1e999: it is too large",
		`{"pairs": 1}`:          "pairs is 1: it must be an array of integers",
		`[1]`:                   "options must be a JSON object",
		`{"pairs": [null]}`:     "pairs is [null]: it must be an array of integers",
		`{"names": [null]}`:     "names is [null]: it must be an array of strings",
		`{"names": ["\u0000"]}`: `names[0] is "\x00": a text must not have a NUL character`,
	} {
		if err := s.table().Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}

func TestTheTextTellsDefaultsAndRanges(t *testing.T) {
	s := settings{Depth: 3, Rule: "a"}
	text := s.table().Text()
	for _, want := range []string{`"default":3`, `"choices":["a","b"]`, `"minimum":1`, `"maximum":1e+100`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
