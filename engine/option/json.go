package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

const maxDepth = 64 // parameters, class trees and warnings need 5; a recursive reader takes about 1000 in Python

// JSON means the same to every reader here. Beyond the grammar it is UTF-8, names occur once in an object, \u escapes
// are characters, numbers are finite float64, and there are at most 64 levels. encoding/json alone takes the last of
// two equal names, names in other cases, and U+FFFD for what is no character; Python's json module takes NaN, infinite
// numbers and lone surrogates.

// Field is a member that an object must have, exactly by this name, and where its value goes.
type Field struct {
	Name     string
	Value    any  // a pointer; null needs one to a json.Unmarshaler
	Optional bool // may be missing
}

func CheckJSON(text []byte) error { return check(text, false) }

// check reads strictly, but for numbers that are too large, where they are allowed.
func check(text []byte, large bool) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	if !json.Valid(text) {
		return json.Unmarshal(text, new(json.RawMessage))
	}
	s := scanner{text, large, json.NewDecoder(bytes.NewReader(text))}
	s.UseNumber()
	_, _, err := s.value(maxDepth)
	return err
}

func Object(text []byte) (map[string]json.RawMessage, error) { return object(text, false) }

func object(text []byte, large bool) (members map[string]json.RawMessage, err error) {
	if err := check(text, large); err != nil {
		return nil, err
	}
	if json.Unmarshal(text, &members) != nil || members == nil {
		return nil, errors.New("it is not a JSON object")
	}
	return members, nil
}

// Decode reads an object that has these fields and no others.
func Decode(text []byte, fields []Field) error {
	members, err := Object(text)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.ContainsFunc(fields, func(field Field) bool { return field.Name == name }) {
			return fmt.Errorf("it has the unknown field %.40q", name)
		}
	}
	for _, field := range fields {
		value, there := members[field.Name]
		_, nullable := field.Value.(json.Unmarshaler)
		switch {
		case !there && !field.Optional:
			return fmt.Errorf("the field %s is missing", field.Name)
		case there && (json.Unmarshal(value, field.Value) != nil || string(value) == "null" && !nullable):
			return fmt.Errorf("the field %s is %.40s", field.Name, value)
		}
	}
	return nil
}

// Encode writes an object of these fields, in their order; a json.RawMessage has been checked.
func Encode(fields []Field) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a json.RawMessage stays as it was given
	for k, field := range fields {
		fmt.Fprintf(&text, "%c%q:", "{,"[min(k, 1)], field.Name)
		if err := encoder.Encode(field.Value); err != nil {
			panic(err)
		}
		text.Truncate(text.Len() - 1) // Encode ends a line
	}
	return append(text.Bytes(), '}')
}

// scanner reads a valid text token by token.
type scanner struct {
	text  []byte
	large bool // numbers are allowed that no float64 holds
	*json.Decoder
}

// value reads a value of at most these levels, and gives its first token and where that begins.
func (s scanner) value(levels int) (token json.Token, at int, err error) {
	last := s.InputOffset()
	token, _ = s.Token()
	word := bytes.TrimLeft(s.text[last:s.InputOffset()], " \t\r\n,:")
	at = int(s.InputOffset()) - len(word)
	switch v := token.(type) {
	case json.Delim:
		if levels == 0 {
			return token, at, fmt.Errorf("there are more than %d levels at byte %d", maxDepth, at)
		}
		err = s.inside(v == '{', levels-1)
	case string:
		half := func(escape []byte) bool { return len(escape) == len(`\uXXXX`) }
		if bytes.Contains(word, []byte(`\u`)) && slices.ContainsFunc(escapes.FindAll(word, -1), half) {
			err = fmt.Errorf("there is half of a surrogate pair at byte %d", at)
		}
	case json.Number:
		if value, _ := v.Float64(); math.IsInf(value, 0) && !s.large {
			err = fmt.Errorf("the number %.40s is too large at byte %d", word, at)
		}
	}
	return token, at, err
}

// inside reads the rest of an object or a list.
func (s scanner) inside(object bool, levels int) error {
	names := map[json.Token]bool{}
	for s.More() {
		if object {
			name, at, err := s.value(levels)
			if err == nil && names[name] {
				err = fmt.Errorf("the name %.40q stands twice in an object at byte %d", name, at)
			}
			if names[name] = true; err != nil {
				return err
			}
		}
		if _, _, err := s.value(levels); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return err
}

// escapes are whole pairs of surrogates, halves, and the starts of all others.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)
