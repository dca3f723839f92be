// Package files writes files whole or not at all, and reads and writes svmlight / libsvm files: one row a line, a label
// and the row's features,
//
//	+1 3:0.25 17:1 40:-2.5e-3  # a comment
//
// SVMlin's form has the labels in a second file, one a line. A row of a multi-label set starts with several labels,
// "3,17"; without any it starts with a blank. "qid:7" tokens of ranking sets are skipped. Feature numbers may be
// unsorted and repeated. Start at ReadRows: parse.go decompresses and parses the lines.
package files

import (
	"cmp"
	"compress/gzip"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Data is a file as arrays: n rows in compressed row form and their labels.
type Data struct {
	Rows, Features int
	Indptr         []int64   // [Rows+1] row i has the entries Indptr[i] ... Indptr[i+1]-1
	Indices        []int32   // [non-zeros] counted from 0
	Values         []float64 // [non-zeros] finite
	Labels         []float64 // [labels]
	LabelIndptr    []int64   // [Rows+1] row i has the labels LabelIndptr[i] ... LabelIndptr[i+1]-1
}

// ReadOptions are what a file does not contain.
type ReadOptions struct {
	LabelsPath string // SVMlin's form: the file with the labels, one a line; "": each row starts with its labels
	ZeroBased  bool   // the first feature is number 0; otherwise it is number 1
	Features   int    // 0: the largest number found; otherwise a larger number in the file is an error

	// MaxExpansion is how many bytes of text a byte of a compressed file may give; 0: 100. The first 64 MiB are free.
	MaxExpansion int
	Progress     *work.Progress // its cancel flag ends the reading; may be nil
}

func (o ReadOptions) check() error {
	if o.Features < 0 || o.Features > math.MaxInt32 {
		return fault.Argument("n_features is %d: it must be 0 (as many as the file has) to %d", o.Features, math.MaxInt32)
	}
	if o.MaxExpansion < 0 || o.MaxExpansion > math.MaxInt32 {
		return fault.Argument("max_expansion is %d: it must be 0 (%d) to %d", o.MaxExpansion, usualExpansion, math.MaxInt32)
	}
	return nil
}

// ReadRows reads a file, plain or compressed with gzip, bzip2 or zstd (by its first bytes). Errors name file and line.
func ReadRows(path string, o ReadOptions) (*Data, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return work.Guard(func() (*Data, error) {
		job := work.NewJob(1, o.Progress)
		data, err := readFile(path, o, job, (*parser).row)
		if err != nil || o.LabelsPath == "" {
			return data, err
		}
		labels, err := readFile(o.LabelsPath, o, job, (*parser).labelsAlone)
		if err != nil {
			return nil, err
		}
		if labels.Rows != data.Rows {
			return nil, fault.Data("%s has %d rows, but %s has %d labels", path, data.Rows, o.LabelsPath, labels.Rows)
		}
		data.Labels, data.LabelIndptr = labels.Labels, labels.LabelIndptr
		return data, nil
	})
}

// WriteRows writes a file whole or not at all, compressed by its ending .gz or .zst; numbers read back as the same
// float64.
func WriteRows(path string, rows *rows.Matrix, labels []float64, zeroBased bool) error {
	for i, label := range labels {
		if math.IsNaN(label) || math.IsInf(label, 0) {
			return fault.Data("the label of row %d is %v: NaN and infinity are not allowed", i, label)
		}
	}
	return Write(path, func(file io.Writer) error {
		w, err := compressor(path, file)
		if err != nil {
			return err
		}
		return cmp.Or(writeLines(w, rows, labels, int64(firstFeature(zeroBased))), w.Close())
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

func writeLines(w io.Writer, rows *rows.Matrix, labels []float64, base int64) error {
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
