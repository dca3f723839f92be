package svmlight

import (
	"compress/gzip"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/wholefile"
)

// Write writes rows and their labels as a svmlight file, compressed when the path ends in .gz or .zst, and refuses
// endings of other programs. Numbers are as short as they can be and still read back as the same float64. The file
// appears whole or not at all.
func Write(path string, rows *rows.Matrix, labels []float64, zeroBased bool) error {
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
		if err := writeRows(w, rows, labels, int64(firstFeature(zeroBased))); err != nil {
			return err
		}
		return w.Close()
	})
}

func compressor(path string, file io.Writer) (io.WriteCloser, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		return gzip.NewWriter(file), nil
	case ".zst":
		// Other levels take the digits of values apart into many short matches: larger files that are slower to read.
		return zstd.NewWriter(file, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case ".bz2", ".xz", ".lzma", ".zip", ".7z", ".lz4", ".lz", ".z", ".rar", ".tgz", ".gzip", ".zstd":
		return nil, fault.Argument("path ends in %s, which is not written: use .gz, .zst or a name of plain text",
			filepath.Ext(path))
	}
	return struct {
		io.Writer
		io.Closer
	}{file, io.NopCloser(nil)}, nil
}

func writeRows(w io.Writer, rows *rows.Matrix, labels []float64, base int64) error {
	var text []byte
	pair := func(col int, value float64) {
		text = strconv.AppendInt(append(text, ' '), int64(col)+base, 10)
		text = strconv.AppendFloat(append(text, ':'), value, 'g', -1, 64)
	}
	for i, label := range labels {
		text = strconv.AppendFloat(text[:0], label, 'g', -1, 64)
		rows.Row(i, pair)
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}
