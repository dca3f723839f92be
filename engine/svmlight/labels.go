package svmlight

import (
	"bytes"
	"io"
	"math"

	"github.com/fewlabel/fewlabel/engine/work"
)

// readLabels reads SVMlin's second file: one number a line. Comments and empty lines do not count.
func readLabels(o ReadOptions, job *work.Job) ([]float64, error) {
	path := o.LabelsPath
	text, err := openSource(path, o, job)
	if err != nil {
		return nil, err
	}
	defer text.close()
	var labels []float64
	var buffer []byte
	for lines := 0; ; {
		buffer, err = text.block(buffer)
		if err == io.EOF {
			return labels, nil
		}
		if err == errLongLine {
			return nil, longLine().at(path, lines+1)
		}
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(buffer) {
			lines++
			var found *mistake
			if labels, found = appendLabel(labels, line); found != nil {
				return nil, found.at(path, lines)
			}
		}
	}
}

func appendLabel(labels []float64, line []byte) ([]float64, *mistake) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return labels, nil
	}
	value, length := number(line)
	switch {
	case length == len(line) && !math.IsInf(value, 0):
		return append(labels, value), nil
	case bytes.ContainsAny(line, " \t,:"):
		return nil, mistaken("%s: one label a line is expected", quote(line))
	default:
		return nil, badLabel(line)
	}
}
