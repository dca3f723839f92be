package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func encoding(t testing.TB, m Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := write(&file, m, nil); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readBytes(file []byte) (Model, error) {
	return (&reader{name: "the model file", file: bytes.NewReader(file), size: int64(len(file))}).read()
}

func TestSaveAndLoad(t *testing.T) {
	extreme, bare := randomModel(2, 7), randomModel(2, 3*chunk+1)
	extreme.Coef[3], extreme.Coef[4], extreme.Coef[5] = math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64
	bare.Metadata, bare.Warnings = nil, []warning.Warning{}
	for _, want := range []Model{
		randomModel(1, 3), extreme, bare, randomModel(5, chunk), randomChain(1, 1), randomChain(4, 7),
		randomStructure(1, 3), randomStructure(3, 7),
	} {
		path := filepath.Join(t.TempDir(), "model")
		if err := Save(path, want, nil); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v is not what was saved", got)
		}
		if linear, ok := got.(*Linear); ok && want == Model(extreme) && !math.Signbit(linear.Coef[3]) {
			t.Error("the sign of a zero was lost")
		}
	}
}

func TestObjectiveMayBeMissing(t *testing.T) {
	m := randomModel(2, 3)
	m.Objective = math.NaN()
	if got, err := readBytes(encoding(t, m)); err != nil || !math.IsNaN(got.report().Objective) {
		t.Errorf("got %v (%v), want NaN", got, err)
	}
}

// JSON of Go and of Python differ in -0, which is 0 in a report.
func TestAMinusBeforeZeroIsDropped(t *testing.T) {
	header, data := unseal(encoding(t, randomModel(2, 3)))
	header = regexp.MustCompile(`"objective":[^,]*`).ReplaceAll(header, []byte(`"objective":-0.0`))
	header = bytes.Replace(header, []byte(`"class":1`), []byte(`"class":-0.0`), 1)
	got, err := readBytes(seal(header, data))
	if err != nil {
		t.Fatal(err)
	}
	if r := got.report(); math.Signbit(r.Objective) || math.Signbit(r.Warnings[0].Values["class"]) {
		t.Errorf("got %v, %v", r.Objective, r.Warnings[0].Values)
	}
}

func TestSameModelSameBytes(t *testing.T) {
	if !bytes.Equal(encoding(t, randomModel(3, 1000)), encoding(t, randomModel(3, 1000))) {
		t.Error("one model gives two files")
	}
}

func TestSaveMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	m := randomModel(2, 3)
	for metadata, want := range map[string]string{
		"{": "unexpected end of JSON input", "\"caf\xe9\"": "byte 4 is not UTF-8",
		`{"a":1,"a":2}`: `the name "a" stands twice in an object at byte 7`,
	} {
		m.Metadata = []byte(metadata)
		wantFault(t, Save(path, m, nil), fault.BadArgument, "metadata cannot be kept in a model file: "+want)
	}
	m.Metadata = []byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))
	wantFault(t, Save(path, m, nil), fault.BadArgument,
		"metadata cannot be kept in the header of a model file: there are more than 64 levels at byte 328")
	m = randomModel(2, 3)
	m.Coef[1] = math.Inf(1)
	wantFault(t, Save(path, m, nil), fault.Internal,
		"the model cannot be saved: coef[1] is +Inf: NaN and infinity are not allowed")
	m = randomModel(2, 3)
	m.ClassPrior = nil
	wantFault(t, Save(path, m, nil), fault.Internal, "the model cannot be saved: class_prior has 0 values and should have 2")
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused save left a file")
	}
	nowhere := filepath.Join(path, "none", "model")
	wantFault(t, Save(nowhere, randomModel(2, 3), nil), fault.IO, "cannot write "+nowhere+": no such file or directory")
}

func TestLoadFilesThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	none := filepath.Join(folder, "none")
	_, err := Load(none)
	wantFault(t, err, fault.IO, "cannot read "+none+": no such file or directory")
	_, err = Load(folder)
	wantFault(t, err, fault.IO, "cannot read "+folder+": it is not a regular file")
}

func TestLoadDamagedFiles(t *testing.T) {
	good := encoding(t, randomModel(2, 7))
	edited := func(edit func(file []byte) []byte) []byte { return edit(bytes.Clone(good)) }
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, " is not a fewlabel model"},
		{"text", []byte("label,feature\n1,2\n"), " is not a fewlabel model"},
		{"a pickle", []byte("\x80\x04\x95\x10"), " is not a fewlabel model"},
		{"line ends changed", bytes.ReplaceAll(good, []byte("\r\n"), []byte("\n")), " is not a fewlabel model"},
		{"cut in the magic", good[:3], " is truncated: it has only 3 bytes"},
		{"cut in the preamble", good[:20], " is truncated: it has only 20 bytes"},
		{"cut in the middle", good[:100], fmt.Sprintf(" is truncated or damaged: it has 100 of %d bytes", len(good))},
		{"last byte gone", good[:len(good)-1],
			fmt.Sprintf(" is truncated or damaged: it has %d of %d bytes", len(good)-1, len(good))},
		{"bytes behind the end", append(bytes.Clone(good), "more"...),
			fmt.Sprintf(" is damaged: it has %d bytes, but only %d belong to it", len(good)+4, len(good))},
		{"later version", edited(func(f []byte) []byte { f[8] = 4; return f[:16] }),
			" was written by a later version of fewlabel: its file version is 4, this one reads 3. Install a newer " +
				"fewlabel to read it"},
		{"version 2", edited(func(f []byte) []byte { f[8] = 2; return f }),
			" has the file version 2, which no release of fewlabel wrote"},
		{"a byte of the header", edited(func(f []byte) []byte { f[60] ^= 1; return f }),
			" is damaged: its checksum does not match its content"},
		{"a byte of an array", edited(func(f []byte) []byte { f[len(f)-60] ^= 0x80; return f }),
			" is damaged: its checksum does not match its content"},
		{"a byte of the checksum", edited(func(f []byte) []byte { f[len(f)-1] ^= 1; return f }),
			" is damaged: its checksum does not match its content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model")
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			wantFault(t, err, fault.BadData, path+c.want)
		})
	}
}

func TestEveryFlippedBitAndEveryCutIsNoticed(t *testing.T) {
	good := encoding(t, randomModel(2, 3))
	for at := range good {
		for bit := range 8 {
			file := bytes.Clone(good)
			file[at] ^= 1 << bit
			wantBadData(t, file)
		}
		wantBadData(t, good[:at])
	}
}

func wantBadData(t testing.TB, file []byte) {
	t.Helper()
	m, err := readBytes(file)
	var f *fault.Error
	if m != nil || !errors.As(err, &f) || f.Kind != fault.BadData || !strings.HasPrefix(f.Message, "the model file ") {
		t.Errorf("got %v, %v, want a fault.BadData", m, err)
	}
}

// seal makes a file with the right magic, version, lengths and checksum around any header and arrays.
func seal(header, data []byte) []byte {
	length := preambleSize + len(header) + len(data) + checksumSize
	file := preamble{headerLength: uint32(len(header)), fileLength: uint64(length)}.bytes()
	file = append(append(file, header...), data...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

// unseal gives the header and the arrays of a file.
func unseal(file []byte) (header, data []byte) {
	end := preambleSize + binary.LittleEndian.Uint32(file[12:])
	return file[preambleSize:end], file[end : len(file)-checksumSize]
}

// Files that pass the checksum are not to be trusted either.
func TestLoadFilesThatLie(t *testing.T) {
	header, data := unseal(encoding(t, randomModel(2, 7)))
	notANumber := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	for _, c := range []struct{ name, old, new, want string }{
		{"no classes", `"n_classes":2`, `"n_classes":0`, "n_classes is 0: it must be 1 to 2147483647"},
		{"negative features", `:7`, `:-7`, "n_features is -7: it must be 1 to 2147483647"},
		{"outputs", `"n_outputs":1`, `"n_outputs":2`, "n_outputs is 2: for 2 classes it must be 1"},
		{"too many weights", `2,"n_features":7,"n_outputs":1`, `2147483647,"n_features":2147483647,"n_outputs":2147483647`,
			"coef would have 2147483647 x 2147483647 values: at most 2147483648 are possible"},
		{"a feature more", `:7`, `:8`, "its arrays have 80 bytes, and its sizes ask for 88"},
		{"a feature less", `:7`, `:6`, "its arrays have 80 bytes, and its sizes ask for 72"},
		{"a bomb", `:7`, `:2147483647`, "its arrays have 80 bytes, and its sizes ask for 17179869200"},
		{"another kind", `"linear"`, `"chain"`, `its header cannot be read: it has the unknown field "n_classes"`},
		{"an unknown kind", `"linear"`, `"Linear"`, `it holds a model of the unknown kind "Linear"`},
		{"no kind", `"kind":"linear",`, ``, "it does not say which kind of model it holds"},
		{"a kind that is no text", `"linear"`, `1`, "it does not say which kind of model it holds"},
		{"a field more", `{`, `{"new":1,`, `its header cannot be read: it has the unknown field "new"`},
		{"a field in capitals", `"n_iter"`, `"N_iter"`, `its header cannot be read: it has the unknown field "N_iter"`},
		{"a field twice", `"n_iter"`, `"n_iter":1,"n_iter"`,
			`its header cannot be read: the name "n_iter" stands twice in an object at byte `},
		{"a field missing", `"n_iter":12,`, ``, "its header cannot be read: the field n_iter is missing"},
		{"null", `"n_iter":12`, `"n_iter":null`, "its header cannot be read: the field n_iter is null"},
		{"warnings of another form", `"kind":"small_share"`, `"Kind":"small_share"`,
			"its header cannot be read: the field warnings is "},
		{"a warning that is null", `"warnings":[{`, `"warnings":[null,{`, "its header cannot be read: the field warnings is "},
		{"a value that is null", `"class":1`, `"class":null`, "its header cannot be read: the field warnings is "},
		{"not UTF-8", "é", "\xe9", "its header cannot be read: byte "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !bytes.Contains(header, []byte(c.old)) {
				t.Fatalf("the header has no %s", c.old)
			}
			wantInvalid(t, seal(bytes.Replace(header, []byte(c.old), []byte(c.new), 1), data), c.want)
		})
	}
	for at, want := range map[int]string{3: "coef[3]", 7: "intercept[0]", 9: "class_prior[1]"} {
		changed := bytes.Clone(data)
		copy(changed[8*at:], notANumber)
		wantInvalid(t, seal(header, changed), want+" is NaN: NaN and infinity are not allowed")
	}
}

// wantInvalid takes the start of the message only: what follows can come from a decoder's own words.
func wantInvalid(t testing.TB, file []byte, message string) {
	t.Helper()
	_, err := readBytes(file)
	var f *fault.Error
	message = "the model file is not a valid model file: " + message
	if !errors.As(err, &f) || f.Kind != fault.BadData || !strings.HasPrefix(f.Message, message) {
		t.Errorf("got the error\n\t%v\nwant\n\t%v", err, message)
	}
}

func TestOnlyScoresOfAChainMayForbid(t *testing.T) {
	header, data := unseal(encoding(t, randomChain(2, 3)))
	for _, c := range []struct {
		at    int
		value float64
		want  string
	}{
		{5, math.Inf(-1), "coef[5] is -Inf: NaN and infinity are not allowed"},
		{7, math.Inf(1), "transitions[1] is +Inf: only numbers and -infinity, which forbids, are allowed"},
		{11, math.NaN(), "start[1] is NaN: only numbers and -infinity, which forbids, are allowed"},
		{13, math.NaN(), "end[1] is NaN: only numbers and -infinity, which forbids, are allowed"},
	} {
		changed := bytes.Clone(data)
		binary.LittleEndian.PutUint64(changed[8*c.at:], math.Float64bits(c.value))
		wantInvalid(t, seal(header, changed), c.want)
	}
}

func TestLoadHeadersThatLie(t *testing.T) {
	for _, text := range []string{"", "[]", `{"kind":"linear"}{}`, `{"kind":"linear"}`, "\xff"} {
		wantInvalid(t, seal([]byte(text), nil), "its header cannot be read: ")
	}
	wantInvalid(t, seal([]byte("{}"), nil), "it does not say which kind of model it holds")
	file := preamble{headerLength: math.MaxUint32, fileLength: preambleSize + checksumSize}.bytes()
	sum := sha256.Sum256(file)
	wantInvalid(t, append(file, sum[:]...), "its header is too long")
}

var update = flag.Bool("update", false, "write the golden files")

// Files of version 3 must stay readable: these are kept. `go test ./engine/model -update` made them.
func TestGoldenFiles(t *testing.T) {
	linear := &Linear{
		Classes: 3, Features: 4, Outputs: 3,
		Coef:      []float64{0.5, -1, 0, 0.1, 0.2, 0.3, -0.125, 1e-300, 1e300, 3, 2, 1},
		Intercept: []float64{0.25, -0.5, 1.0 / 3}, ClassPrior: []float64{0.5, 0.25, 0.25},
		Report: Report{Method: "switching", Iterations: 7, Objective: 0.1240, Termination: "max_iter",
			Warnings: []warning.Warning{{Kind: "no_label", Values: map[string]float64{"class": 2}, Text: "class 2 has a " +
				"share in class_prior but no labeled row, so it gets the rows that fit the other classes least. Label some " +
				"rows of this class"}}, Metadata: json.RawMessage(`{"classes":["a","b","c"]}`)},
	}
	chain := &Chain{
		Tags: 2, Features: 3, Coef: []float64{0.5, -1, 0, 0.1, 1e-300, 1e300}, Transitions: []float64{0.25, math.Inf(-1), 3, -2},
		Start: []float64{1.0 / 3, math.Inf(-1)}, End: []float64{0, -0.125},
		Report: Report{Method: "crf", Iterations: 10, Objective: 0.1240, Termination: "epochs",
			Warnings: []warning.Warning{}, Metadata: json.RawMessage(`{"tags":["O","B"]}`)},
	}
	structure := &Structure{
		Features: 3, Components: 2, Groups: 2, Theta: []float64{0.6, 0, 1, 0, 1e-300, -1},
		GroupOf: []float64{0, 1, 0},
		Report: Report{Method: "squared", Iterations: 2, Objective: 0.1240, Termination: "max_iter",
			Warnings: []warning.Warning{}, Metadata: json.RawMessage(`{"words":["a","b","c"]}`)},
	}
	for name, want := range map[string]Model{
		"version3.model": linear, "version3-chain.model": chain, "version3-structure.model": structure,
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o777), Save(path, want, nil)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Load(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v (%v), want %+v", got, err, want)
		}
	}
}

func TestLoadAsksForMemoryFirst(t *testing.T) {
	defer func(old func(float64, string, string) error) { need = old }(need)
	var asked float64
	need = func(bytes float64, purpose, advice string) error {
		asked = bytes
		return fault.Memory("%s: %s", purpose, advice)
	}
	_, err := readBytes(encoding(t, randomModel(8, 1000)))
	var f *fault.Error
	want := "the model in the model file: load it on a machine with more memory"
	if !errors.As(err, &f) || f.Kind != fault.NoMemory || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if asked != 16*(8*1000+16) {
		t.Errorf("asked for %v bytes", asked)
	}
}
