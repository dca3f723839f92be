package files

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/fewlabel/fewlabel/engine/enginetest/faulttest"
	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
	"github.com/fewlabel/fewlabel/engine/work"
)

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(text string) []byte {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	w.Write([]byte(text))
	w.Close()
	return file.Bytes()
}

func zstandard(text string) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

func rowLists(d *Data) (rows []string) {
	for i := range d.Rows {
		row := ""
		for _, label := range d.Labels[d.LabelIndptr[i]:d.LabelIndptr[i+1]] {
			row += fmt.Sprint(label, ",")
		}
		for k := d.Indptr[i]; k < d.Indptr[i+1]; k++ {
			row += fmt.Sprint(" ", d.Indices[k], ":", d.Values[k])
		}
		rows = append(rows, row)
	}
	return rows
}

func TestReadForms(t *testing.T) {
	for _, c := range []struct {
		name, text string
		options    ReadOptions
		features   int
		want       []string
	}{
		{"plain", "1 1:0.5 3:2\n-1 2:1e-3\n", ReadOptions{}, 3, []string{"1, 0:0.5 2:2", "-1, 1:0.001"}},
		{"no newline at the end", "1 1:0.5\n-1 2:1", ReadOptions{}, 2, []string{"1, 0:0.5", "-1, 1:1"}},
		{"windows", "1 1:0.5\r\n-1 2:1\r\n\r\n", ReadOptions{}, 2, []string{"1, 0:0.5", "-1, 1:1"}},
		{"tabs and spaces", "  1\t 1:0.5  \t2:1 \n", ReadOptions{}, 2, []string{"1, 0:0.5 1:1"}},
		{"comments", "# head 1:2\n1 1:0.5 # tail 7:7\n2 2:1#tight\n  # alone\n", ReadOptions{}, 2,
			[]string{"1, 0:0.5", "2, 1:1"}},
		{"blank lines", "\n1 1:1\n\n \t\n2 1:2\n\n", ReadOptions{}, 1, []string{"1, 0:1", "2, 0:2"}},
		{"row without features", "1\n2 2:1\n", ReadOptions{}, 2, []string{"1,", "2, 1:1"}},
		{"qid", "1 qid:3 1:0.5\n2 qid:x 2:1\n", ReadOptions{}, 2, []string{"1, 0:0.5", "2, 1:1"}},
		{"several labels", "1,2 1:1\n 2:1\n3\n", ReadOptions{}, 2, []string{"1,2, 0:1", " 1:1", "3,"}},
		{"order and repetition are kept", "1 3:1 1:2 3:4\n", ReadOptions{}, 3, []string{"1, 2:1 0:2 2:4"}},
		{"zeros are kept", "1 1:0 2:-0.0\n", ReadOptions{}, 2, []string{"1, 0:0 1:-0"}},
		{"from zero", "1 0:1 4:2\n", ReadOptions{ZeroBased: true}, 5, []string{"1, 0:1 4:2"}},
		{"more features than seen", "1 2:1\n", ReadOptions{Features: 9}, 9, []string{"1, 1:1"}},
		{"largest number", "1 2147483647:1\n", ReadOptions{}, math.MaxInt32, []string{"1, 2147483646:1"}},
		{"leading zeros", "01 0000000000000000000002:1\n", ReadOptions{}, 2, []string{"1, 1:1"}},
		{"nothing", "", ReadOptions{}, 0, nil},
		{"only comments", "# a\n\n# b", ReadOptions{Features: 4}, 4, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadRows(writeFile(t, "rows", []byte(c.text)), c.options)
			if err != nil {
				t.Fatal(err)
			}
			checkShape(t, got)
			if rows := rowLists(got); !reflect.DeepEqual(rows, c.want) || got.Features != c.features {
				t.Errorf("got %d features and rows %q, want %d and %q", got.Features, rows, c.features, c.want)
			}
		})
	}
}

func checkShape(t testing.TB, d *Data) {
	t.Helper()
	if len(d.Indptr) != d.Rows+1 || len(d.LabelIndptr) != d.Rows+1 || d.Indptr[0] != 0 || d.LabelIndptr[0] != 0 {
		t.Fatalf("%d rows, but %d and %d row bounds", d.Rows, len(d.Indptr), len(d.LabelIndptr))
	}
	if n := int(d.Indptr[d.Rows]); n != len(d.Indices) || n != len(d.Values) {
		t.Fatalf("%d values promised, %d indices and %d values there", n, len(d.Indices), len(d.Values))
	}
	if n := int(d.LabelIndptr[d.Rows]); n != len(d.Labels) {
		t.Fatalf("%d labels promised, %d there", n, len(d.Labels))
	}
}

func TestReadMistakes(t *testing.T) {
	const noLabel = "the label %q is not a finite number (rows without labels need a file of labels)"
	const noPair, noValue = "%q is not a feature:value pair", "the value in %q is not a finite number"
	noFeature := func(least, most int) string {
		const text = "the feature number in %%q is not a whole number from %d to %d, by zero_based and n_features"
		return fmt.Sprintf(text, least, most)
	}
	plain, zero := noFeature(1, math.MaxInt32), ReadOptions{ZeroBased: true}
	for _, c := range []struct {
		text, token string // what is wrong, in the last line
		options     ReadOptions
		want        string
	}{
		{"1 1:1\nx 1:1\n", "x", ReadOptions{}, noLabel},
		{"1, 1:1\n", "1,", ReadOptions{}, noLabel},
		{"1,,2 1:1\n", "1,,2", ReadOptions{}, noLabel},
		{"nan 1:1\n", "nan", ReadOptions{}, noLabel},
		{"1,-inf 1:1\n", "1,-inf", ReadOptions{}, noLabel},
		{"1:1 2:1\n", "1:1", ReadOptions{}, noLabel},
		{"1 1:1\n" + strings.Repeat("é", 50) + "\n", strings.Repeat("é", 40), ReadOptions{}, noLabel},
		{"\x00\x01\n", "\x00\x01", ReadOptions{}, noLabel},
		{"\n# c\n1 2:1 abc\n", "abc", ReadOptions{}, noPair},
		{"1 2:1 3\n", "3", ReadOptions{}, noPair},
		{"1 2:1,5\n", "2:1,5", ReadOptions{}, noValue},
		{"1 2:\n", "2:", ReadOptions{}, noValue},
		{"1 2: 5\n", "2:", ReadOptions{}, noValue},
		{"1 2:0x10\n", "2:0x10", ReadOptions{}, noValue},
		{"1 2:NaN\n", "2:NaN", ReadOptions{}, noValue},
		{"1 2:-Infinity\n", "2:-Infinity", ReadOptions{}, noValue},
		{"1 2:1e999\n", "2:1e999", ReadOptions{}, noValue},
		{"1 x:1\n", "x:1", ReadOptions{}, plain},
		{"1 -3:1\n", "-3:1", ReadOptions{}, plain},
		{"1 1.5:1\n", "1.5:1", ReadOptions{}, plain},
		{"1 :1\n", ":1", ReadOptions{}, plain},
		{"1 0:1\n", "0:1", ReadOptions{}, plain},
		{"1 5:1\n", "5:1", ReadOptions{Features: 4}, noFeature(1, 4)},
		{"1 4:1\n", "4:1", ReadOptions{Features: 4, ZeroBased: true}, noFeature(0, 3)},
		{"1 2147483648:1\n", "2147483648:1", ReadOptions{}, plain},
		{"1 2147483647:1\n", "2147483647:1", zero, noFeature(0, math.MaxInt32-1)},
		{"1 99999999999999999999999999:1\n", "99999999999999999999999999:1", ReadOptions{}, plain},
	} {
		path := writeFile(t, "rows.svm", []byte(c.text))
		_, err := ReadRows(path, c.options)
		wantFault(t, err, fault.BadData, fmt.Sprintf("%s, line %d: "+c.want, path, strings.Count(c.text, "\n"), c.token))
	}
}

var wantFault = faulttest.Want

func TestReadSvmlinForm(t *testing.T) {
	rows := writeFile(t, "rows", []byte("1:0.5 2:1\n\n# a comment is no row\n 3:1\r\n2:1 # tail"))
	labels := writeFile(t, "labels", []byte("1\r\n0\n# comment\n-1 # tail\n\n+1\n\n"))
	got, err := ReadRows(rows, ReadOptions{LabelsPath: labels})
	if err != nil {
		t.Fatal(err)
	}
	checkShape(t, got)
	want := []string{"1, 0:0.5 1:1", "0,", "-1, 2:1", "1, 1:1"}
	if lists := rowLists(got); !reflect.DeepEqual(lists, want) {
		t.Errorf("got %q, want %q", lists, want)
	}
}

func TestReadSvmlinMistakes(t *testing.T) {
	rows, three := writeFile(t, "rows", []byte("1:0.5\n2:1\n")), writeFile(t, "labels", []byte("1\n2\n3\n"))
	_, err := ReadRows(rows, ReadOptions{LabelsPath: three})
	wantFault(t, err, fault.BadData, fmt.Sprintf("%s has 2 rows, but %s has 3 labels", rows, three))
	for _, label := range []string{"x", "inf", "1 2", "1 1:5"} {
		path := writeFile(t, "labels", []byte("1\n"+label+"\n"))
		_, err := ReadRows(rows, ReadOptions{LabelsPath: path})
		wantFault(t, err, fault.BadData, path+
			`, line 2: the label "`+label+`" is not a finite number (rows without labels need a file of labels)`)
	}
	withLabels := writeFile(t, "rows", []byte("1 2:1\n"))
	_, err = ReadRows(withLabels, ReadOptions{LabelsPath: three})
	wantFault(t, err, fault.BadData, withLabels+`, line 1: "1" is not a feature:value pair`)
}

func TestReadFilesThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	none, rows := filepath.Join(folder, "none.svm"), writeFile(t, "rows", []byte("1:1\n"))
	for _, c := range []struct {
		path    string
		options ReadOptions
		kind    fault.Kind
		want    string
	}{
		{none, ReadOptions{}, fault.IO, "cannot read " + none + ": no such file or directory"},
		{folder, ReadOptions{}, fault.IO, "cannot read " + folder + ": it is a directory: give the path of a file"},
		{rows, ReadOptions{LabelsPath: none}, fault.IO, "cannot read " + none + ": no such file or directory"},
		{rows, ReadOptions{Features: -1}, fault.BadArgument,
			"n_features is -1: it must be 0 (as many as the file has) to 2147483647"},
		{rows, ReadOptions{Features: math.MaxInt32 + 1}, fault.BadArgument,
			"n_features is 2147483648: it must be 0 (as many as the file has) to 2147483647"},
		{rows, ReadOptions{MaxExpansion: -1}, fault.BadArgument, "max_expansion is -1: it must be 0 (100) to 2147483647"},
	} {
		_, err := ReadRows(c.path, c.options)
		wantFault(t, err, c.kind, c.want)
	}
}

// randomText has rows of all kinds, one of them longer than the others together, and what they hold.
func randomText(seed uint64, rows int) (string, *Data) {
	random := rand.New(rand.NewPCG(seed, 0))
	d := &Data{Indptr: []int64{0}, LabelIndptr: []int64{0}}
	var text strings.Builder
	for i := range rows {
		for k := range random.IntN(3) {
			label := float64(random.IntN(7) - 3)
			d.Labels = append(d.Labels, label)
			text.WriteString(strings.Repeat(",", min(k, 1)) + strconv.FormatFloat(label, 'g', -1, 64))
		}
		pairs := 1 + random.IntN(6)
		if i == rows/2 {
			pairs = 6 * rows
		}
		for range pairs {
			column, value := random.IntN(5000), random.NormFloat64()
			d.Indices, d.Values = append(d.Indices, int32(column)), append(d.Values, value)
			d.Features = max(d.Features, column+1)
			fmt.Fprintf(&text, " %d:%v", column+1, value)
		}
		text.WriteString(strings.Repeat("\n", 1+random.IntN(2)))
		d.Indptr = append(d.Indptr, int64(len(d.Values)))
		d.LabelIndptr = append(d.LabelIndptr, int64(len(d.Labels)))
	}
	d.Rows = rows
	return text.String(), d
}

func TestReadIsTheSameForAnyCompression(t *testing.T) {
	text, want := randomText(1, 300)
	middle := strings.Index(text[len(text)/3:], " ") + len(text)/3 // parts need not end at lines
	skippable := append([]byte{0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0}, "skip"...)
	files := map[string][]byte{
		"plain":        []byte(text),
		"gzip":         gzipped(text),
		"gzip members": append(gzipped(text[:middle]), gzipped(text[middle:])...),
		"zstd":         zstandard(text),
		"zstd frames":  append(skippable, append(zstandard(text[:middle]), zstandard(text[middle:])...)...),
	}
	for name, content := range files {
		path := writeFile(t, "rows", content)
		got, err := ReadRows(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: not what was written", name)
		}
	}
}

// bzipped is "1 1:0.5\n" and "-1 2:1\n", each compressed by bzip2.
const bzipped = "BZh91AY&SY\xc5\x02\xf9\x8e\x00\x00\x02X\x00\x00\x10@\x01b\x10 \x001\x0c\x01\x06\x9b@\x11\x90\xa2\xeeH\xa7\n\x12" +
	"\x18\xa0_1\xc0BZh91AY&SY2\x0e\xb9\xb9\x00\x00\x01X\x00\x00\x10@\x020\x10 \x00!\x80\x0c\x02\x05\xad\xdc]\xc9\x14\xe1B@\xc8:\xe6\xe4"

func TestReadBzip2(t *testing.T) {
	got, err := ReadRows(writeFile(t, "rows.svm", []byte(bzipped)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lists := rowLists(got); !reflect.DeepEqual(lists, []string{"1, 0:0.5", "-1, 1:1"}) {
		t.Errorf("got %q", lists)
	}
}

func TestFilesOfOtherProgramsAreNamed(t *testing.T) {
	for magic, program := range otherPrograms {
		for _, rest := range []string{"", "and so on"} {
			path := writeFile(t, "rows", []byte(magic+rest))
			_, err := ReadRows(path, ReadOptions{})
			wantFault(t, err, fault.BadData, path+" is compressed by "+program+": unpack it first")
		}
	}
}

func TestTheFirstMistakeIsReported(t *testing.T) {
	text, _ := randomText(2, 300)
	lines := strings.SplitAfter(text, "\n")
	lines[200], lines[201], lines[250] = "1 1:first\n", "1 1:second\n", "1 1:third\n"
	text = strings.Join(lines, "")
	raw := gzipped(text)
	for _, content := range [][]byte{[]byte(text), raw[:len(raw)-1]} { // lines in front of damage count
		path := writeFile(t, "rows", content)
		_, err := ReadRows(path, ReadOptions{})
		wantFault(t, err, fault.BadData, path+`, line 201: the value in "1:first" is not a finite number`)
	}
}

func TestAChangedByteOfACompressedFile(t *testing.T) {
	text, _ := randomText(3, 300)
	for name, content := range map[string][]byte{"gzip": gzipped(text), "zstd": zstandard(text)} {
		content[len(content)/2] ^= 0x55
		path := writeFile(t, name, content)
		_, err := ReadRows(path, ReadOptions{})
		wantStart(t, err, path)
	}
}

// wantStart wants bad data and takes the start of the message only.
func wantStart(t testing.TB, err error, message string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.BadData || !strings.HasPrefix(f.Message, message) {
		t.Errorf("got the error\n\t%v\nwant\n\t%v", err, message)
	}
}

func TestReadDoesNotAllocatePerToken(t *testing.T) {
	allocations := func(rows int) float64 {
		path := writeFile(t, "rows", []byte(strings.Repeat("1,2 1:0.25 7:1e-3 9:0.1234567890123456789\n", rows)))
		return testing.AllocsPerRun(5, func() {
			if _, err := ReadRows(path, ReadOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if more := allocations(10_000) - allocations(100); more > 150 { // arrays that grow
		t.Errorf("%v allocations", more)
	}
}

func TestReadAsksForMemory(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	text, want := randomText(5, 300)
	path := writeFile(t, "rows", []byte(text))
	asked, held := 0.0, float64(12*len(want.Values)+8*len(want.Labels)+8*len(want.Indptr)+8*len(want.LabelIndptr))
	for _, most := range []float64{3 * held, held / 2} {
		memory.Need = func(bytes float64, purpose, advice string) error {
			asked = max(asked, bytes)
			if bytes > most {
				return fault.Memory("%s: %s", purpose, advice)
			}
			return nil
		}
		got, err := ReadRows(path, ReadOptions{})
		if most < held {
			wantFault(t, err, fault.NoMemory, "reading "+path+": read the file in parts, or on a machine with more memory")
		} else if err != nil || !reflect.DeepEqual(got, want) || asked < float64(12*len(want.Values)) {
			t.Errorf("%v, and %v of %v bytes were asked for", err, asked, held)
		}
	}
}

// Whether bytes behind a complete stream are another one cut short nobody can know.
func TestBytesAfterACompressedStream(t *testing.T) {
	for format, stream := range map[string][]byte{"gzip": gzipped("1 1:1\n"), "zstd": zstandard("1 1:1\n")} {
		for _, more := range []string{"x", "xy", "xyz", "1 2:1\n", "\x00\x00\x00\x00\x00", strings.Repeat("long", 99)} {
			path := writeFile(t, "rows", append(bytes.Clone(stream), more...))
			_, err := ReadRows(path, ReadOptions{})
			want := path + " cannot be decompressed: "
			if len(more) < 4 || format == "gzip" && len(more) < 10 {
				want = path + " is truncated, or a few other bytes follow the compressed data"
			}
			wantStart(t, err, want)
		}
	}
}

func TestEveryCutOfACompressedFileIsToldAsOne(t *testing.T) {
	text, _ := randomText(6, 3)
	raw, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"gzip": gzipped(text), "zstd": zstandard(text), "no checksum": raw.EncodeAll([]byte(text), nil),
		"a run": zstandard(strings.Repeat("1 ", 1<<19)), "bzip2": []byte(bzipped[:len(bzipped)-1]),
	} {
		for cut := 4; cut < len(content); cut++ {
			if cut > 60 && cut < len(content)-60 && cut%17 > 0 || name == "bzip2" && cut == strings.LastIndex(bzipped, "BZh") {
				continue
			}
			path := writeFile(t, "rows", content[:cut])
			_, err := ReadRows(path, ReadOptions{})
			if err == nil || err.Error() != path+" is truncated, or a few other bytes follow the compressed data" {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
		}
	}
}

func TestStreamsInsideOfStreamsAreNotOpened(t *testing.T) {
	path := writeFile(t, "rows", gzipped(string(zstandard("1 1:1\n"))))
	_, err := ReadRows(path, ReadOptions{})
	wantStart(t, err, path+", line 1: the label ")
}

func TestManyEmptyStreams(t *testing.T) {
	for name, empty := range map[string][]byte{"gzip": gzipped(""), "zstd": zstandard(""),
		"skippable": {0x53, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}} {
		path := writeFile(t, "rows", bytes.Repeat(empty, 100_000))
		if d, err := ReadRows(path, ReadOptions{}); err != nil || d.Rows != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a file of a few kilobytes that expands to so many MiB of rows.
func bomb(t testing.TB, megabytes int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := zstd.NewWriter(&file, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.Repeat([]byte("1 1:1 # "+strings.Repeat("x", 55)+"\n"), 1<<14) // 1 MiB
	for range megabytes {
		w.Write(rows)
	}
	w.Close()
	return file.Bytes()
}

func TestBombsEndAtTheCap(t *testing.T) {
	path := writeFile(t, "rows", bomb(t, 70))
	for _, o := range []ReadOptions{{}, {MaxExpansion: 7}} {
		before := allocated()
		_, err := ReadRows(path, o)
		wantFault(t, err, fault.BadData, fmt.Sprintf("%s gives more than %d times as much text as it has bytes, and more "+
			"than 64 MiB: if you trust it, raise max_expansion", path, cmp.Or(o.MaxExpansion, 100)))
		if taken := allocated() - before; taken > 256<<20 {
			t.Errorf("%d bytes of memory were taken", taken)
		}
	}
	d, err := ReadRows(path, ReadOptions{MaxExpansion: 1e6})
	if err != nil || d.Rows != 70<<14 {
		t.Errorf("a cap that was raised: %v", err)
	}
	if _, err := ReadRows(writeFile(t, "rows", bomb(t, 60)), ReadOptions{}); err != nil {
		t.Errorf("64 MiB are free: %v", err)
	}
	labels := writeFile(t, "rows", []byte("1:1\n"))
	_, err = ReadRows(labels, ReadOptions{LabelsPath: path})
	wantStart(t, err, path)
}

func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}

func TestLinesWithoutEnd(t *testing.T) {
	defer func(old int) { longestLine = old }(longestLine)
	longestLine = 1 << 20
	want := ", line 3: it is longer than 1048576 bytes: this is not a svmlight file"
	for _, long := range []string{strings.Repeat("1:1 ", 1<<19), strings.Repeat("x", 2<<20), strings.Repeat("1,", 1<<20)} {
		for _, content := range [][]byte{[]byte("1 1:1\n\n" + long), gzipped("1 1:1\n\n" + long)} {
			path := writeFile(t, "rows", content)
			_, err := ReadRows(path, ReadOptions{})
			wantFault(t, err, fault.BadData, path+want)
		}
	}
	labels := writeFile(t, "labels", []byte("1\n\n"+strings.Repeat("9", 3<<20)))
	_, err := ReadRows(writeFile(t, "rows", []byte("1:1\n")), ReadOptions{LabelsPath: labels})
	wantFault(t, err, fault.BadData, labels+want)
}

// A line that fits, but whose values may not: the memory is asked for first.
func TestALongLineAsksForMemory(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	memory.Need = func(bytes float64, purpose, advice string) error {
		if bytes < 16<<20 {
			return nil
		}
		return fault.Memory("%s: %s", purpose, advice)
	}
	path := writeFile(t, "rows", []byte("1 "+strings.Repeat("1:1 ", 2<<20)))
	before := allocated()
	_, err := ReadRows(path, ReadOptions{})
	wantFault(t, err, fault.NoMemory, "reading "+path+": read the file in parts, or on a machine with more memory")
	if taken := allocated() - before; taken > 64<<20 {
		t.Errorf("%d bytes of memory were taken", taken)
	}
}

func TestReadingIsCancelled(t *testing.T) {
	most := 200 * time.Millisecond
	if worktest.Raced {
		most = 2 * time.Second
	}
	for _, c := range []struct {
		name    string
		content []byte
		after   time.Duration
	}{
		{"rows", bytes.Repeat([]byte("1 1:0.25 2:0.5 3:0.75\n"), 3<<20), 20 * time.Millisecond},
		{"one line", append([]byte("1 "), bytes.Repeat([]byte("qid:1 1:0.5 "), 12<<20)...), 250 * time.Millisecond},
		{"gzip", gzipped(strings.Repeat("1 1:0.25 2:0.5 3:0.75\n", 1<<20)), 20 * time.Millisecond},
	} {
		path := writeFile(t, "rows", c.content)
		late := time.Hour
		for try := 0; try < 20 && late > most; try++ { // the quickest: other programs run as well
			late = min(late, endsAfterCancel(t, path, c.after))
		}
		if late > most {
			t.Errorf("%s: it ended %v after it was cancelled", c.name, late)
		}
	}
}

// endsAfterCancel is how long after a cancel the reading ends.
func endsAfterCancel(t *testing.T, path string, after time.Duration) time.Duration {
	t.Helper()
	progress, cancelled := &work.Progress{}, make(chan time.Time, 1)
	time.AfterFunc(after, func() {
		cancelled <- time.Now()
		atomic.StoreInt64(&progress.Cancel, 1)
	})
	if _, err := ReadRows(path, ReadOptions{Progress: progress}); err != fault.ErrCancelled {
		t.Fatalf("%s: %v", path, err)
	}
	return time.Since(<-cancelled)
}
