package files

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
)

// FuzzRead: any bytes give data that rows accepts or a fault.BadData, the same when compressed; and what was read is
// read back from what Write makes of it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"1 1:0.5 3:2\n-1 2:1e-3\n", "1,2 1:1\n 2:1\n\n3", "# c\r\n1 qid:3 1:0.5 # x\r\n",
		"1:0.5\n\n2:7\n", "1 0:1\n", "1 1:nan",
		string(gzipped("1 1:0.5\n")), string(zstandard("1 1:0.5\n")), "\x28\xb5\x2f\xfd", "\x1f\x8b", bzipped, "BZh9",
	} {
		f.Add([]byte(text), false, uint16(0))
	}
	f.Add([]byte("1 0:1 7:2\n"), true, uint16(8))
	f.Fuzz(func(t *testing.T, content []byte, zeroBased bool, features uint16) {
		path := writeFile(t, "rows", content)
		o := ReadOptions{ZeroBased: zeroBased, Features: int(features)}
		one, err := ReadRows(path, o)
		if err != nil {
			if found, ok := errors.AsType[*fault.Error](err); !ok || found.Kind != fault.BadData {
				t.Fatalf("the error %v is not a fault.BadData", err)
			}
			return
		}
		if isGzip(content) || isZstd(content) || bytes.HasPrefix(content, []byte("BZh")) {
			return
		}
		if two, err := ReadRows(writeFile(t, "rows", gzipped(string(content))), o); err != nil || !reflect.DeepEqual(one, two) {
			t.Fatalf("plain: %v; compressed: %v, %v", one, two, err)
		}
		checkShape(t, one)
		readBack(t, one)
	})
}

// readBack writes the rows with the row number as label and compares.
func readBack(t *testing.T, d *Data) {
	if d.Rows == 0 || d.Features == 0 {
		return
	}
	indices := make([]int64, len(d.Indices))
	for k, column := range d.Indices {
		indices[k] = int64(column)
	}
	rows, err := rows.New(d.Features, d.Indptr, indices, d.Values)
	if err != nil {
		t.Fatal(err)
	}
	if rows.NonZeros() < len(d.Values) {
		return // a matrix adds repeated features up
	}
	labels := make([]float64, d.Rows)
	for i := range labels {
		labels[i] = float64(i)
	}
	path := filepath.Join(t.TempDir(), "again")
	if err := WriteRows(path, rows, labels, false); err != nil {
		t.Fatal(err)
	}
	again, err := ReadRows(path, ReadOptions{Features: d.Features})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Indices, d.Indices) || !slices.Equal(again.Values, d.Values) ||
		!slices.Equal(again.Indptr, d.Indptr) || !slices.Equal(again.Labels, labels) {
		t.Fatalf("wrote %v, read %v", d, again)
	}
}
