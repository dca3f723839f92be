// Package fault sorts errors by who has to act: the caller, the owner of the data, the operating system, or us.
package fault

import (
	"fmt"
	"strconv"
	"strings"
)

type Kind int

const (
	BadArgument  Kind = iota + 1 // the caller's mistake: an option out of range, an unknown name
	BadData                      // the data cannot be used: an index out of range, NaN, a damaged file
	Cancelled                    // the caller asked to stop
	IO                           // a file cannot be opened, read or written
	Internal                     // a defect of fewlabel
	NoMemory                     // it would take more memory than there is
	OtherMachine                 // the sum over machines has failed, or one of the others
)

type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errors by their kind. The message names the argument, the place in the data or the file, and says what was found.

func Argument(format string, a ...any) error { return &Error{BadArgument, fmt.Sprintf(format, a...)} }

func Data(format string, a ...any) error { return &Error{BadData, fmt.Sprintf(format, a...)} }

func File(format string, a ...any) error { return &Error{IO, fmt.Sprintf(format, a...)} }

func Memory(format string, a ...any) error { return &Error{NoMemory, fmt.Sprintf(format, a...)} }

func Group(format string, a ...any) error { return &Error{OtherMachine, fmt.Sprintf(format, a...)} }

func Defect(format string, a ...any) error { return &Error{Internal, fmt.Sprintf(format, a...)} }

var ErrCancelled error = &Error{Cancelled, "cancelled by the caller"}

// Names are those of the classes, for messages; nil: they have numbers only.
type Names []string

func (n Names) Of(class int) string {
	if class < len(n) {
		return n[class]
	}
	return strconv.Itoa(class)
}

// Note says what numbers of classes are, where they have no names.
func (n Names) Note() string {
	if n == nil {
		return " (class numbers start at 0)"
	}
	return ""
}

// InBrackets lists all names, the first few of many; nothing where there are none.
func (n Names) InBrackets() string {
	const most = 12
	switch {
	case n == nil:
		return ""
	case len(n) > most:
		return " (" + strings.Join(n[:most], ", ") + ", ...)"
	}
	return " (" + strings.Join(n, ", ") + ")"
}
