package option

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestStrictTexts(t *testing.T) {
	for _, text := range []string{
		`null`, ` [1, -0, 1e308, 5e-999, "a\"\\"] `, `{"a":{"a":[{"a":1}]},"A":1,"é":2,"\u0065":3}`,
		`"\ud83d\ude00"`, `"\\ud83d"`, `{"a\\":1,"a":2}`, strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		if err := CheckJSON([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTextsThatReadersWouldTakeDifferently(t *testing.T) {
	for text, want := range map[string]string{
		``:                           "unexpected end of JSON input",
		`{`:                          "unexpected end of JSON input",
		`NaN`:                        "invalid character 'N' looking for beginning of value",
		"\ufeff{}":                   "invalid character 'ï' looking for beginning of value",
		"[\"a\xff\"]":                "it is not UTF-8",
		"\"\xed\xa0\x80\"":           "it is not UTF-8",
		`{"a":1,"b":2,"a":3}`:        `the name "a" stands twice in an object at byte 13`,
		`[{"b":{"a":1,"\u0061":2}}]`: `the name "a" stands twice in an object at byte 13`,
		`{"a" : 1,"a" : 1}`:          `the name "a" stands twice in an object at byte 9`,
		`"\ud83d"`:                   "there is half of a surrogate pair at byte 0",
		`["\ude00\ud83d"]`:           "there is half of a surrogate pair at byte 1",
		`"\ud83d\u0041"`:             "there is half of a surrogate pair at byte 0",
		`"\ud83d\\ude00"`:            "there is half of a surrogate pair at byte 0",
		`"\ud83d\ud83d\ude00"`:       "there is half of a surrogate pair at byte 0",
		`[1e999]`:                    "the number 1e999 is too large at byte 1",
		`{"a":-` + strings.Repeat("9", 400) + `}`:         "the number -" + strings.Repeat("9", 39) + " is too large at byte 5",
		strings.Repeat("[", 65) + strings.Repeat("]", 65): "there are more than 64 levels at byte 64",
	} {
		if err := CheckJSON([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.60q: got %v, want %s", text, err, want)
		}
	}
}

func TestObjectGivesItsMembers(t *testing.T) {
	got, err := Object([]byte(` { "b" : [1,{"x":2}, "y,}"] , "a\u00e9":{} ,"c": null } `))
	want := map[string]json.RawMessage{"b": []byte(`[1,{"x":2}, "y,}"]`), "aé": []byte(`{}`), "c": []byte(`null`)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %s (%v)", got, err)
	}
	for _, text := range []string{`[{"a":1}]`, `3`, `"a"`, `null`} {
		if _, err := Object([]byte(text)); err == nil || err.Error() != "it is not a JSON object" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// orNothing is -1 for null.
type orNothing float64

func (o *orNothing) UnmarshalJSON(text []byte) error {
	if *o = -1; string(text) == "null" {
		return nil
	}
	return json.Unmarshal(text, (*float64)(o))
}

func TestDecodeTakesExactlyTheFields(t *testing.T) {
	var count int
	var name string
	var share orNothing
	var extra json.RawMessage
	fields := []Field{{Name: "count", Value: &count}, {Name: "name", Value: &name, Optional: true},
		{Name: "share", Value: &share, Optional: true}, {Name: "extra", Value: &extra, Optional: true}}
	if err := Decode([]byte(`{"share":0.5,"count":7,"extra":{"a":1}}`), fields); err != nil || count != 7 || name != "" ||
		share != 0.5 || string(extra) != `{"a":1}` {
		t.Errorf("got %v, %q, %v, %s (%v)", count, name, share, extra, err)
	}
	if err := Decode([]byte(`{"count":7,"share":null}`), fields); err != nil || share != -1 {
		t.Errorf("got %v (%v)", share, err)
	}
	for text, want := range map[string]string{
		`{"Count":7}`:              `it has the unknown field "Count"`,
		`{"count":7,"more":1}`:     `it has the unknown field "more"`,
		`{}`:                       "the field count is missing",
		`{"count":null}`:           "the field count is null",
		`{"count":1.5}`:            "the field count is 1.5",
		`{"count":1e2}`:            "the field count is 1e2",
		`{"count":true}`:           "the field count is true",
		`{"count":1,"name":["a"]}`: `the field name is ["a"]`,
	} {
		if err := Decode([]byte(text), fields); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	count, extra := 7, json.RawMessage(`{"a<b":[1]}`)
	fields := []Field{{Name: "count", Value: &count}, {Name: "extra", Value: &extra}}
	text := Encode(fields)
	if want := `{"count":7,"extra":{"a<b":[1]}}`; string(text) != want {
		t.Fatalf("got %s, want %s", text, want)
	}
	count, extra = 0, nil
	if err := Decode(text, fields); err != nil || count != 7 || string(extra) != `{"a<b":[1]}` {
		t.Errorf("got %d, %s (%v)", count, extra, err)
	}
}

// FuzzCheck: no text ends the program, and a strict object has the members that encoding/json reads.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{`{"a":[1,"\ud83d\ude00"],"b":{"c":null}}`, `[[],{}]`, `"\u`, `{"a":1,"a":2}`, `1e999`,
		` {"\u0061\\" : {"b":","}  ,"}":[{"a":1}] } `, `{"a":-1E400}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Object(text)
		var want map[string]json.RawMessage
		if err == nil && (json.Unmarshal(text, &want) != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
