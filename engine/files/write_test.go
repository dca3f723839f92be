package files

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/rows"
)

func randomRows(t testing.TB, n, cols int) (*rows.Matrix, *Data) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(cols)))
	d := &Data{Rows: n, Features: cols, Indptr: []int64{0}, LabelIndptr: []int64{0}}
	indices := []int64{}
	for i := range n {
		for _, column := range random.Perm(cols)[:random.IntN(min(8, cols))] { // a matrix adds repeated ones up
			indices, d.Indices = append(indices, int64(column)), append(d.Indices, int32(column))
			d.Values = append(d.Values, random.NormFloat64()*math.Pow(10, float64(random.IntN(40)-20)))
		}
		d.Labels = append(d.Labels, random.NormFloat64())
		d.Indptr, d.LabelIndptr = append(d.Indptr, int64(len(d.Values))), append(d.LabelIndptr, int64(i+1))
	}
	m, err := rows.New(cols, d.Indptr, indices, d.Values)
	if err != nil {
		t.Fatal(err)
	}
	return m, d
}

func TestWriteReadsBack(t *testing.T) {
	rows, want := randomRows(t, 3000, 500)
	plain := func(head []byte) bool { return !isGzip(head) && !isZstd(head) }
	for ending, is := range map[string]func(head []byte) bool{
		"": plain, ".svm": plain, ".gz": isGzip, ".zst": isZstd, ".GZ": isGzip,
	} {
		for _, zeroBased := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "rows"+ending)
			if err := WriteRows(path, rows, want.Labels, zeroBased); err != nil {
				t.Fatal(err)
			}
			if content, err := os.ReadFile(path); err != nil || !is(content[:4]) {
				t.Errorf("a file ending in %s starts with % x (%v)", ending, content[:4], err)
			}
			got, err := ReadRows(path, ReadOptions{ZeroBased: zeroBased, Features: 500})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("ending %q, zero based %v: not what was written", ending, zeroBased)
			}
		}
	}
}

func TestWriteText(t *testing.T) {
	rows, err := rows.New(4, []int32{0, 2, 2, 3}, []int32{3, 0, 1}, []float32{0.5, 1e-7, -2})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rows")
	for _, c := range []struct {
		labels    []float64
		zeroBased bool
		want      string
	}{
		{[]float64{1, -1, 0.25}, false, "1 4:0.5 1:1.0000000116860974e-07\n-1\n0.25 2:-2\n"},
		{[]float64{1, -1, 0.25}, true, "1 3:0.5 0:1.0000000116860974e-07\n-1\n0.25 1:-2\n"},
	} {
		if err := WriteRows(path, rows, c.labels, c.zeroBased); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.want {
			t.Errorf("wrote %q, want %q", got, c.want)
		}
	}
}

func TestWriteMistakes(t *testing.T) {
	rows, d := randomRows(t, 10, 5)
	path := filepath.Join(t.TempDir(), "rows")
	d.Labels[3] = math.NaN()
	wantFault(t, WriteRows(path, rows, d.Labels, false), fault.BadData,
		"the label of row 3 is NaN: NaN and infinity are not allowed")
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused write left a file")
	}
	for _, ending := range []string{".bz2", ".xz", ".zip", ".ZIP"} {
		wantFault(t, WriteRows(path+ending, rows, make([]float64, 10), false), fault.BadArgument,
			"path ends in "+ending+", which is not written: use .gz, .zst or a name of plain text")
		if found, _ := filepath.Glob(path + "*"); found != nil {
			t.Errorf("a refused write left %v", found)
		}
	}
	nowhere := filepath.Join(path, "none", "rows")
	wantFault(t, WriteRows(nowhere, rows, make([]float64, 10), false), fault.IO, "cannot write "+nowhere+": no such file or directory")
}
