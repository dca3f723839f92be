package svmlight

import (
	"bytes"
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/work"
)

// addLabels reads SVMlin's second file: one number a line. Comments and empty lines do not count.
func (d *Data) addLabels(path string, o ReadOptions, job *work.Job) error {
	o.labelsOnly = true
	labels, err := readAll(o.LabelsPath, o, usualBlock, job)
	if err != nil {
		return err
	}
	if labels.Rows != d.Rows {
		return fault.Data("%s has %d rows, but %s has %d labels", path, d.Rows, o.LabelsPath, labels.Rows)
	}
	d.Labels, d.LabelIndptr = labels.Labels, labels.LabelIndptr
	return nil
}

// onlyLabel reads a line of the file with the labels.
func (p *parser) onlyLabel(line []byte) *mistake {
	line = bytes.TrimSpace(line)
	value, length := number(line)
	switch {
	case len(line) == 0:
		return nil
	case length == len(line) && !math.IsInf(value, 0):
		p.labels = append(p.labels, value)
		p.endRow()
		return nil
	case bytes.ContainsAny(line, " \t,:"):
		return mistaken("%s: one label a line is expected", quote(line))
	default:
		return badLabel(line)
	}
}
