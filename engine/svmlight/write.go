package svmlight

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Write writes rows and their labels as a svmlight file, compressed when the path ends in .gz or .zst. Without labels
// (nil) it writes SVMlin's form, rows only. Numbers are as short as they can be and still read back as the same
// float64. The file appears whole or not at all.
func Write(path string, rows *rows.Matrix, labels []float64, zeroBased bool) error {
	if labels != nil && len(labels) != rows.Rows() {
		return fault.Argument("there are %d labels for %d rows", len(labels), rows.Rows())
	}
	for i, label := range labels {
		if math.IsNaN(label) || math.IsInf(label, 0) {
			return fault.Data("the label of row %d is %v: NaN and infinity are not allowed", i, label)
		}
	}
	return wholefile.Write(path, func(file io.Writer) error {
		w, err := compressor(path, file)
		if err != nil {
			return err
		}
		if err := writeRows(w, rows, labels, ReadOptions{ZeroBased: zeroBased}.base()); err != nil {
			return err
		}
		return w.Close()
	})
}

func compressor(path string, file io.Writer) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return gzip.NewWriter(file), nil
	case strings.HasSuffix(path, ".zst"):
		// Other levels take the digits of values apart into many short matches: larger files that are slower to read.
		return zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	default:
		return plain{file}, nil
	}
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

const writeBlock = 1 << 16

func writeRows(w io.Writer, rows *rows.Matrix, labels []float64, base int) error {
	text := make([]byte, 0, 2*writeBlock)
	pair := func(col int, value float64) {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, ' ')
		}
		text = strconv.AppendInt(text, int64(col+base), 10)
		text = append(text, ':')
		text = strconv.AppendFloat(text, value, 'g', -1, 64)
	}
	for i := range rows.Rows() {
		if labels != nil {
			text = strconv.AppendFloat(text, labels[i], 'g', -1, 64)
		}
		rows.Row(i, pair)
		text = append(text, '\n')
		if len(text) >= writeBlock || i == rows.Rows()-1 {
			if _, err := w.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	return nil
}
