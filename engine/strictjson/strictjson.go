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
	"math"
	"regexp"
	"slices"
	"strconv"
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

// scanner walks once through a text that is known to be JSON.
type scanner struct {
	text    []byte
	at      int
	names   []map[string]bool // of each open object; nil for an array
	name    string            // the newest of the outermost object
	start   int               // of its value
	members []Member          // of the outermost object
}

func scan(text []byte) ([]Member, error) {
	if at := notUTF8(text); at >= 0 {
		return nil, fmt.Errorf("byte %d is not UTF-8", at)
	}
	if !json.Valid(text) {
		var ignored json.RawMessage
		return nil, json.Unmarshal(text, &ignored)
	}
	s := scanner{text: text}
	for s.at < len(text) {
		if err := s.step(); err != nil {
			return nil, fmt.Errorf("%w at byte %d", err, s.at)
		}
	}
	return s.members, nil
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

// step takes a bracket, a string, a number, or one byte of anything else.
func (s *scanner) step() error {
	switch c := s.text[s.at]; {
	case c == '"':
		return s.string()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == '{' || c == '[':
		if len(s.names) == maxDepth {
			return fmt.Errorf("there are more than %d levels", maxDepth)
		}
		s.names = append(s.names, nil)
		if c == '{' {
			s.names[len(s.names)-1] = map[string]bool{}
		}
	case c == '}' || c == ']':
		s.endValue()
		s.names = s.names[:len(s.names)-1]
	case c == ',':
		s.endValue()
	}
	s.at++
	return nil
}

// endValue keeps a member of the outermost object.
func (s *scanner) endValue() {
	if len(s.names) == 1 && s.start > 0 {
		s.members = append(s.members, Member{s.name, bytes.TrimSpace(s.text[s.start:s.at])})
		s.start = 0
	}
}

func (s *scanner) string() error {
	end := s.at + 1
	for ; s.text[end] != '"'; end++ {
		if s.text[end] == '\\' {
			end++
		}
	}
	word := s.text[s.at : end+1]
	if loneSurrogate(word) {
		return errors.New("there is half of a surrogate pair")
	}
	next := end + 1
	for next < len(s.text) && bytes.IndexByte([]byte(" \t\r\n"), s.text[next]) >= 0 {
		next++
	}
	if next < len(s.text) && s.text[next] == ':' {
		if err := s.addName(word); err != nil {
			return err
		}
		if len(s.names) == 1 {
			s.start = next + 1
		}
		end = next
	}
	s.at = end + 1
	return nil
}

func (s *scanner) addName(word []byte) error {
	name := string(word[1 : len(word)-1])
	if bytes.IndexByte(word, '\\') >= 0 {
		if err := json.Unmarshal(word, &name); err != nil {
			return err
		}
	}
	known := s.names[len(s.names)-1]
	if known[name] {
		return fmt.Errorf("the name %.40q stands twice in an object", name)
	}
	known[name] = true
	if len(s.names) == 1 {
		s.name = name
	}
	return nil
}

// escapes are whole pairs of surrogates, halves, and the starts of all others.
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// loneSurrogate looks for a \u escape that is half a character.
func loneSurrogate(word []byte) bool {
	return bytes.Contains(word, []byte(`\u`)) &&
		slices.ContainsFunc(escapes.FindAll(word, -1), func(escape []byte) bool { return len(escape) == len(`\uXXXX`) })
}

func (s *scanner) number() error {
	end := s.at
	for end < len(s.text) && bytes.IndexByte([]byte("+-.0123456789eE"), s.text[end]) >= 0 {
		end++
	}
	if value, _ := strconv.ParseFloat(string(s.text[s.at:end]), 64); math.IsInf(value, 0) {
		return fmt.Errorf("the number %.40s is too large", s.text[s.at:end])
	}
	s.at = end
	return nil
}
