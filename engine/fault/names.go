package fault

import (
	"strconv"
	"strings"
)

// Names are those of the classes, for messages; nil: they have numbers only.
type Names []string

func (n Names) Of(class int) string {
	if class < len(n) {
		return n[class]
	}
	return strconv.Itoa(class)
}

func (n Names) List(classes []int) string {
	names := make([]string, len(classes))
	for k, class := range classes {
		names[k] = n.Of(class)
	}
	return strings.Join(names, ", ")
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
