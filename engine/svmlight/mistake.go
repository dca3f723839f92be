package svmlight

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// mistake is something in a line that cannot be read.
type mistake struct{ what string }

func (m *mistake) at(path string, line int) error {
	return fault.Data("%s, line %d: %s", path, line, m.what)
}

func mistaken(format string, a ...any) *mistake { return &mistake{fmt.Sprintf(format, a...)} }

func longLine() *mistake {
	return mistaken("it is longer than %d bytes: this is not a svmlight file", longestLine)
}

func noLabel(word []byte) *mistake {
	return mistaken("the row starts with %s where its label was expected; rows without labels need labels_path, the file "+
		"that has them", quote(word))
}

func badLabel(word []byte) *mistake {
	for _, label := range bytes.Split(word, []byte(",")) {
		if isNotFinite(label) {
			return mistaken("the label %s is not a finite number", quote(word))
		}
	}
	return mistaken("the label %s is not a number", quote(word))
}

// badPair finds out what is wrong with a feature that features could not read.
func (p *parser) badPair(word []byte) *mistake {
	name, text, found := bytes.Cut(word, []byte(":"))
	if !found {
		if p.options.LabelsPath != "" {
			return mistaken("%s is not a feature:value pair (with labels_path the rows themselves have no labels)", quote(word))
		}
		return mistaken("%s is not a feature:value pair", quote(word))
	}
	if found := p.badFeature(name, word); found != nil {
		return found
	}
	if isNotFinite(text) {
		return mistaken("the value in %s is not finite: NaN and infinity are not allowed", quote(word))
	}
	return mistaken("the value in %s is not a number", quote(word))
}

func (p *parser) badFeature(name, word []byte) *mistake {
	feature, ok := wholeNumber(name)
	base := p.options.base()
	switch {
	case !ok:
		return mistaken("the feature number in %s is not a whole number", quote(word))
	case feature < base:
		return mistaken("the feature number in %s is 0, but the first feature is number 1 when zero_based is false; "+
			"set zero_based if this file counts from 0", quote(word))
	case feature-base > maxColumn:
		return mistaken("the feature number in %s is larger than %d, the largest possible", quote(word), maxColumn+base)
	case feature-base >= p.options.columns():
		return mistaken("the feature number in %s is larger than %d, the largest for n_features=%d", quote(word),
			p.options.columns()-1+base, p.options.Features)
	default:
		return nil
	}
}

func wholeNumber(text []byte) (value int, ok bool) {
	for _, c := range text {
		if !isDigit(c) {
			return 0, false
		}
		value = min(value*10+int(c-'0'), tooLarge)
	}
	return value, len(text) > 0
}

// isNotFinite recognizes the words for NaN and infinity and numbers too large for a float64.
func isNotFinite(text []byte) bool {
	value, length := number(text)
	if length > 0 {
		return length == len(text) && math.IsInf(value, 0)
	}
	switch strings.TrimLeft(strings.ToLower(string(text)), "+-") {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

const longestQuote = 40

// quote is the text found, shortened and with unprintable bytes escaped.
func quote(text []byte) string {
	if len(text) > longestQuote {
		return fmt.Sprintf("%q...", text[:longestQuote])
	}
	return fmt.Sprintf("%q", text)
}
