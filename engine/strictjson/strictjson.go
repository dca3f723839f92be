// Package strictjson reads JSON that means the same to every reader. Beyond the grammar it requires UTF-8, names that
// occur once in an object, \u escapes that are characters, numbers that are finite float64, and at most 64 levels.
// encoding/json alone takes the last of two equal names, names in other cases, and U+FFFD for what is no character;
// Python's json module takes NaN, infinite numbers and lone surrogates. Start at Object.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// maxDepth is far above what parameters, class trees and warnings need (5) and far below what a reader that recurses
// can take (about 1000 in Python).
const maxDepth = 64

// Member is a name in an object and its value.
type Member struct {
	Name  string
	Value json.RawMessage // a part of the text
}

// Field is a member that an object must have, exactly by this name, and where its value goes.
type Field struct {
	Name     string
	Value    any  // a pointer; null needs one to a json.Unmarshaler
	Optional bool // may be missing
}

// Check refuses what is not strict.
func Check(text []byte) error {
	_, err := scan(text)
	return err
}

// Object gives the members of an object in their order.
func Object(text []byte) ([]Member, error) {
	members, err := scan(text)
	if err == nil && bytes.TrimLeft(text, " \t\r\n")[0] != '{' {
		err = errors.New("it is not a JSON object")
	}
	return members, err
}

// Decode reads an object that has these fields and no others.
func Decode(text []byte, fields []Field) error {
	members, err := Object(text)
	if err != nil {
		return err
	}
	return Take(members, fields)
}

// Take fills the fields from the members.
func Take(members []Member, fields []Field) error {
	left := map[string]Field{}
	for _, field := range fields {
		left[field.Name] = field
	}
	for _, member := range members {
		field, known := left[member.Name]
		if !known {
			return fmt.Errorf("it has the unknown field %.40q", member.Name)
		}
		if err := field.set(member.Value); err != nil {
			return err
		}
		delete(left, member.Name)
	}
	for _, field := range fields {
		if _, missing := left[field.Name]; missing && !field.Optional {
			return fmt.Errorf("the field %s is missing", field.Name)
		}
	}
	return nil
}

func (f Field) set(value json.RawMessage) error {
	_, nullable := f.Value.(json.Unmarshaler)
	if err := json.Unmarshal(value, f.Value); err != nil || string(value) == "null" && !nullable {
		return fmt.Errorf("the field %s is %.40s", f.Name, value)
	}
	return nil
}

// Encode writes an object of these fields, in their order.
func Encode(fields []Field) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a json.RawMessage stays as it was given
	for k, field := range fields {
		fmt.Fprintf(&text, "%c%q:", "{,"[min(k, 1)], field.Name)
		if err := encoder.Encode(field.Value); err != nil {
			return nil, err
		}
		text.Truncate(text.Len() - 1) // Encode ends a line
	}
	return append(text.Bytes(), '}'), nil
}

// level is an open object or array.
type level struct {
	names  map[string]bool // nil for an array
	awaits bool            // the next token is a name
}

// scan reads a text token by token and gives the members of its outermost object.
func scan(text []byte) (members []Member, err error) {
	if at := notUTF8(text); at >= 0 {
		return nil, fmt.Errorf("byte %d is not UTF-8", at)
	}
	if !json.Valid(text) {
		var ignored json.RawMessage
		return nil, json.Unmarshal(text, &ignored)
	}
	decoder, open, member := json.NewDecoder(bytes.NewReader(text)), []*level{{}}, Member{}
	decoder.UseNumber()
	for last, start := 0, 0; ; last = int(decoder.InputOffset()) {
		token, err := decoder.Token()
		if err == io.EOF {
			return members, nil
		}
		now, in := int(decoder.InputOffset()), open[len(open)-1]
		word := bytes.TrimLeft(text[last:now], " \t\r\n,:")
		switch err = wrong(token, word, len(open)-1, in); {
		case err != nil:
			return nil, fmt.Errorf("%w at byte %d", err, now-len(word))
		case in.awaits && word[0] == '"':
			if in.awaits = false; len(open) == 2 {
				member.Name, start = token.(string), now
			}
			continue
		case word[0] == '{' || word[0] == '[':
			open = append(open, &level{})
			if word[0] == '{' {
				*open[len(open)-1] = level{map[string]bool{}, true}
			}
			continue
		case word[0] == '}' || word[0] == ']':
			open = open[:len(open)-1]
		}
		in = open[len(open)-1]
		if in.awaits = in.names != nil; in.awaits && len(open) == 2 { // a value has ended
			member.Value = bytes.TrimLeft(text[start:now], " \t\r\n:")
			members = append(members, member)
		}
	}
}

// wrong is what another reader would take differently of a token in an object or array.
func wrong(token json.Token, word []byte, depth int, in *level) error {
	switch v := token.(type) {
	case json.Delim:
		if depth == maxDepth && (v == '{' || v == '[') {
			return fmt.Errorf("there are more than %d levels", maxDepth)
		}
	case string:
		if loneSurrogate(word) {
			return errors.New("there is half of a surrogate pair")
		}
		if in.awaits && in.names[v] {
			return fmt.Errorf("the name %.40q stands twice in an object", v)
		}
		if in.awaits {
			in.names[v] = true
		}
	case json.Number:
		if value, _ := v.Float64(); math.IsInf(value, 0) {
			return fmt.Errorf("the number %.40s is too large", word)
		}
	}
	return nil
}

func notUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// escapes are whole pairs of surrogates, halves, and the starts of all others.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// loneSurrogate looks for a \u escape that is half a character.
func loneSurrogate(word []byte) bool {
	return bytes.Contains(word, []byte(`\u`)) &&
		slices.ContainsFunc(escapes.FindAll(word, -1), func(escape []byte) bool { return len(escape) == len(`\uXXXX`) })
}
