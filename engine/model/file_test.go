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
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/warning"
)

func encoding(t testing.TB, m *Linear) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readBytes(file []byte) (*Linear, error) { return Read(bytes.NewReader(file), int64(len(file))) }

func TestSaveAndLoad(t *testing.T) {
	models := []*Linear{
		randomModel(1, 3), randomModel(2, 7), randomModel(2, 3*chunk+1), randomModel(5, chunk),
		{Classes: 2, Features: 1 << 20, Outputs: 1, Coef: make([]float64, 1<<20), Intercept: []float64{1},
			ClassPrior: []float64{0.5, 0.5}},
	}
	models[1].Coef[3] = math.Copysign(0, -1)
	models[1].Coef[4] = math.SmallestNonzeroFloat64
	models[1].Coef[5] = math.MaxFloat64
	models[2].Metadata, models[2].Warnings = nil, nil
	for _, want := range models {
		path := filepath.Join(t.TempDir(), "model")
		if err := want.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d classes, %d features: not what was saved", want.Classes, want.Features)
		}
		if math.Signbit(want.Coef[0]) != math.Signbit(got.Coef[0]) {
			t.Error("the sign of a zero was lost")
		}
	}
}

func TestObjectiveMayBeMissing(t *testing.T) {
	m := randomModel(2, 3)
	m.Objective = math.NaN()
	if got, err := readBytes(encoding(t, m)); err != nil || !math.IsNaN(got.Objective) {
		t.Errorf("got %v (%v), want NaN", got, err)
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
	m.Metadata = []byte("{")
	wantFault(t, m.Save(path), fault.BadArgument, "metadata is not valid JSON")
	m = randomModel(2, 3)
	m.Coef[1] = math.Inf(1)
	wantFault(t, m.Save(path), fault.Internal,
		"the model cannot be saved: coef[1] is +Inf: NaN and infinity are not allowed")
	m = randomModel(2, 3)
	m.ClassPrior = nil
	wantFault(t, m.Save(path), fault.Internal, "the model cannot be saved: class_prior has 0 values and should have 2")
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused save left a file")
	}
	nowhere := filepath.Join(path, "none", "model")
	wantFault(t, randomModel(2, 3).Save(nowhere), fault.IO, "cannot write "+nowhere+": no such file or directory")
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
		{"cut in the magic", good[:3], " is cut short: only 3 bytes are there"},
		{"cut in the preamble", good[:20], " is cut short: only 20 bytes are there"},
		{"cut in the middle", good[:100], fmt.Sprintf(" is cut short (or damaged): 100 of %d bytes are there", len(good))},
		{"last byte gone", good[:len(good)-1],
			fmt.Sprintf(" is cut short (or damaged): %d of %d bytes are there", len(good)-1, len(good))},
		{"bytes behind the end", append(bytes.Clone(good), "more"...),
			fmt.Sprintf(" is damaged: %d bytes are there, but only %d belong to it", len(good)+4, len(good))},
		{"later version", edited(func(f []byte) []byte { f[8] = 3; return f[:16] }),
			" was written by a later version of fewlabel: its file version is 3, this one reads 2. Install a newer " +
				"fewlabel to read it"},
		{"version 1", edited(func(f []byte) []byte { f[8] = 1; return f }),
			" has the file version 1, which no release of fewlabel wrote"},
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
	original, data := unseal(encoding(t, randomModel(2, 7)))
	compressed := func(values ...float64) []byte {
		var file bytes.Buffer
		if err := compress(&file, values); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	for _, c := range []struct {
		name string
		edit func(h *header, data *[]byte)
		want string
	}{
		{"no classes", func(h *header, _ *[]byte) { h.Classes = 0 }, "n_classes is 0: it must be 1 to 2147483647"},
		{"negative features", func(h *header, _ *[]byte) { h.Features = -7 }, "n_features is -7: it must be 1 to 2147483647"},
		{"outputs", func(h *header, _ *[]byte) { h.Outputs = 2 }, "n_outputs is 2: for 2 classes it must be 1"},
		{"too many weights", func(h *header, _ *[]byte) { h.Classes, h.Outputs, h.Features = maxSize, maxSize, maxSize },
			"2147483647 features and 2147483647 outputs are more than 2147483648 weights"},
		{"features do not match the array", func(h *header, _ *[]byte) { h.Features = 8 },
			"the array coef does not have the length that the shapes ask for"},
		{"a bomb", func(h *header, _ *[]byte) { h.Features, h.Arrays.Coef.Length = maxSize, maxSize },
			"the array coef cannot be decompressed: it has too few values"},
		{"fewer values", func(h *header, _ *[]byte) { h.Features, h.Arrays.Coef.Length = 8, 8 },
			"the array coef cannot be decompressed: it has too few values"},
		{"more values", func(h *header, _ *[]byte) { h.Features, h.Arrays.Coef.Length = 6, 6 },
			"the array coef cannot be decompressed: it has too many values"},
		{"no array", func(h *header, _ *[]byte) { h.Arrays.Intercept = entry{} },
			"the array intercept is missing or not of type float64"},
		{"another type", func(h *header, _ *[]byte) { h.Arrays.Coef.Dtype = "float32" },
			"the array coef is missing or not of type float64"},
		{"negative offset", func(h *header, _ *[]byte) { h.Arrays.Coef.Offset = -1 },
			"the array coef is not inside the file"},
		{"negative bytes", func(h *header, _ *[]byte) { h.Arrays.Coef.Bytes = -1 }, "the array coef is not inside the file"},
		{"behind the end", func(h *header, _ *[]byte) { h.Arrays.ClassPrior.Offset++ },
			"the array class_prior is not inside the file"},
		{"far behind the end", func(h *header, _ *[]byte) { h.Arrays.Coef.Offset = math.MaxInt64 },
			"the array coef is not inside the file"},
		{"not zstd", func(h *header, data *[]byte) { (*data)[h.Arrays.Coef.Offset] ^= 0xff },
			"the array coef cannot be decompressed"},
		{"NaN", func(h *header, data *[]byte) {
			h.Arrays.Intercept = entry{"float64", 1, int64(len(*data)), int64(len(compressed(math.NaN())))}
			*data = append(*data, compressed(math.NaN())...)
		}, "intercept[0] is NaN: NaN and infinity are not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h header
			if err := json.Unmarshal(original, &h); err != nil {
				t.Fatal(err)
			}
			changed := bytes.Clone(data)
			c.edit(&h, &changed)
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			wantInvalid(t, seal(text, changed), c.want)
		})
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

func TestLoadHeadersThatLie(t *testing.T) {
	for _, text := range []string{"", "[]", `{"n_classes":1e99}`, `{"n_classes":2}{}`, "\xff"} {
		wantInvalid(t, seal([]byte(text), nil), "its header cannot be read: ")
	}
	wantInvalid(t, seal([]byte("{}"), nil), "n_classes is 0: it must be 1 to 2147483647")
	file := preamble{headerLength: math.MaxUint32, fileLength: preambleSize + checksumSize}.bytes()
	sum := sha256.Sum256(file)
	wantInvalid(t, append(file, sum[:]...), "its header is too long")
}

func TestUnknownFieldsAreLeftAlone(t *testing.T) {
	want := randomModel(2, 7)
	text, data := unseal(encoding(t, want))
	more := append([]byte(`{"new":{"a":[1]},`), text[1:]...)
	if got, err := readBytes(seal(more, data)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v)", got, err)
	}
}

var update = flag.Bool("update", false, "write the golden files")

// Files of version 2 must stay readable: this one is kept. `go test ./engine/model -update` made it.
func TestGoldenFile(t *testing.T) {
	want := &Linear{
		Classes: 3, Features: 4, Outputs: 3,
		Coef:      []float64{0.5, -1, 0, 0.1, 0.2, 0.3, -0.125, 1e-300, 1e300, 3, 2, 1},
		Intercept: []float64{0.25, -0.5, 1.0 / 3}, ClassPrior: []float64{0.5, 0.25, 0.25},
		Method: "switching", Iterations: 7, Objective: 0.1240, Termination: "max_iter",
		Warnings: []warning.Warning{warning.NoLabel.Of(2)}, Metadata: json.RawMessage(`{"classes":["a","b","c"]}`),
	}
	path := filepath.Join("testdata", "version2.model")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o777), want.Save(path)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Load(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

// A file of half a kilobyte with a right checksum may promise a million values: 32,768 bytes from each.
func TestLoadAsksForMemoryFirst(t *testing.T) {
	defer func(old func(float64, string, string) error) { need = old }(need)
	var asked float64
	need = func(bytes float64, purpose, advice string) error {
		asked = bytes
		return fault.Memory("%s: %s", purpose, advice)
	}
	const features = 1 << 20
	_, err := readBytes(encoding(t, &Linear{Classes: 8, Features: features, Outputs: 8, Coef: make([]float64, 8*features),
		Intercept: make([]float64, 8), ClassPrior: make([]float64, 8)}))
	var f *fault.Error
	want := "the model of 1048576 features and 8 classes in the model file: load it on a machine with more memory"
	if !errors.As(err, &f) || f.Kind != fault.NoMemory || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if asked != 16*(8*features+16) {
		t.Errorf("asked for %v bytes", asked)
	}
}
