package option

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
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

// Object gives the members of a strict text.
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

// check reads strictly, but for numbers that are too large, where they are allowed: it looks for what the grammar of a
// valid text leaves open.
func check(text []byte, large bool) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	if !json.Valid(text) {
		return json.Unmarshal(text, new(json.RawMessage))
	}
	var open []map[uint64]bool // hashes of the names in each object that is open, as there can be millions
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '{', '[':
			if len(open) == maxDepth {
				return fmt.Errorf("there are more than %d levels at byte %d", maxDepth, at)
			}
			open = append(open, map[uint64]bool{})
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			end := at + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			end++
			if hasHalfPair(text[at:end]) {
				return fmt.Errorf("there is half of a surrogate pair at byte %d", at)
			}
			if bytes.HasPrefix(bytes.TrimLeft(text[end:], " \t\r\n"), colon) {
				name, names := unescaped(text[at:end]), open[len(open)-1]
				hash := maphash.Bytes(seed, name)
				if names[hash] {
					return fmt.Errorf("the name %.40q stands twice in an object at byte %d", name, at)
				}
				names[hash] = true
			}
			at = end - 1
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			word := text[at : len(text)-len(bytes.TrimLeft(text[at:], "0123456789.eE+-"))]
			if size, _ := strconv.ParseFloat(string(word), 64); math.IsInf(size, 0) && !large {
				return fmt.Errorf("the number %.40s is too large at byte %d", word, at)
			}
			at += len(word) - 1
		}
	}
	return nil
}

var seed, colon = maphash.MakeSeed(), []byte(":")

var (
	surrogate     = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
	surrogatePair = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..`)
)

func hasHalfPair(text []byte) bool {
	if !surrogate.Match(text) {
		return false
	}
	text = bytes.ReplaceAll(text, []byte(`\\`), []byte("-")) // escaped backslashes
	return surrogate.Match(surrogatePair.ReplaceAll(text, []byte("-")))
}

func unescaped(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text[1 : len(text)-1]
	}
	var plain string
	_ = json.Unmarshal(text, &plain) // valid
	return []byte(plain)
}
