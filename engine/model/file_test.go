package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/memory"
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

func readBytes(file []byte) (Model, error) { return read(bytes.NewReader(file), int64(len(file))) }

func TestSaveAndLoad(t *testing.T) {
	extreme, bare := randomModel(2, 7), randomModel(2, 3*chunk+1)
	extreme.Coef[3], extreme.Coef[4], extreme.Coef[5] = math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64
	bare.Metadata, bare.Warnings = []byte("null"), []warning.Warning{}
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

func TestSameModelSameBytes(t *testing.T) {
	if !bytes.Equal(encoding(t, randomModel(3, 1000)), encoding(t, randomModel(3, 1000))) {
		t.Error("one model gives two files")
	}
}

func TestSaveMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	m := randomModel(2, 3)
	for metadata, want := range map[string]string{
		"{": "unexpected end of JSON input", "\"caf\xe9\"": "it is not UTF-8",
		`{"a":1,"a":2}`: `the name "a" stands twice in an object at byte 7`,
	} {
		m.Metadata = []byte(metadata)
		wantFault(t, Save(path, m, nil), fault.BadArgument, "metadata cannot be kept in a model file: "+want)
	}
	m.Metadata = []byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))
	wantFault(t, Save(path, m, nil), fault.BadArgument,
		"metadata cannot be kept in the description of a model: there are more than 64 levels at byte 312")
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
	wantFault(t, err, fault.IO, "cannot read "+folder+": it is a directory: give the path of a file")
}

// parts gives the header and the values of a file.
func parts(file []byte) (header string, values []byte) {
	end := 8 + binary.LittleEndian.Uint64(file)
	return string(file[8:end]), file[end:]
}

func checksum(values []byte) string { return fmt.Sprintf("%x", sha256.Sum256(values)) }

// sealed makes a file from a header and values, with the right checksum where old is one in the header.
func sealed(header, old string, values []byte) []byte {
	header = strings.Replace(header, old, checksum(values), 1)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+string(values)...)
}

// withValue is the file of a model in which a value is another.
func withValue(t testing.TB, m Model, at int, value float64) []byte {
	header, values := parts(encoding(t, m))
	old := checksum(values)
	binary.LittleEndian.PutUint64(values[8*at:], math.Float64bits(value))
	return sealed(header, old, values)
}

// wantRefusal takes the start of the message only: what follows can come from a decoder's own words.
func wantRefusal(t testing.TB, file []byte, message string) {
	t.Helper()
	if m, err := readBytes(file); m != nil || err == nil || !strings.HasPrefix(err.Error(), message) {
		t.Errorf("got %v and the error\n\t%v\nwant\n\t%v", m, err, message)
	}
}

func TestLoadDamagedFiles(t *testing.T) {
	good := encoding(t, randomModel(2, 7))
	changed := bytes.Clone(good)
	changed[len(good)-60] ^= 0x80
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "it has only 0 bytes"},
		{"text", []byte("label,feature\n1,2\n"), "it is cut short or of another format: its header would have 7306"},
		{"cut in the header", good[:100], "it is cut short or of another format: its header would have "},
		{"a byte less", good[:len(good)-1], `the tensor "intercept" has the bytes 72 to 80: from 72, a multiple of 8 up to 79 is possible`},
		{"a byte more", append(bytes.Clone(good), 1), "its tensors have 80 bytes, and there are 81"},
		{"a byte of a value", changed, "the checksum does not match the values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantRefusal(t, c.file, c.want)
			path := filepath.Join(t.TempDir(), "model")
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.BadData || !strings.HasPrefix(f.Message, path+" is not a valid model file: ") {
				t.Errorf("got %v, want a fault.BadData", err)
			}
		})
	}
}

func TestEveryFlippedBitOfAValueAndEveryCutIsNoticed(t *testing.T) {
	good := encoding(t, randomModel(2, 3))
	header, _ := parts(good)
	for at := range good {
		wantRefusal(t, good[:at], "")
		for bit := 0; bit < 8 && at >= 8+len(header); bit++ {
			file := bytes.Clone(good)
			file[at] ^= 1 << bit
			wantRefusal(t, file, "the checksum does not match")
		}
	}
}

// Headers are not to be trusted.
func TestLoadFilesThatLie(t *testing.T) {
	header, values := parts(encoding(t, randomModel(2, 7)))
	unread := "its header cannot be read: "
	for _, c := range []struct{ name, old, new, want string }{
		{"no classes", `n_classes\":2`, `n_classes\":0`, "n_classes is 0: it must be 1 to 2147483647"},
		{"negative features", `\"n_features\":7`, `\"n_features\":-7`, "n_features is -7: it must be 1 to 2147483647"},
		{"outputs", `n_outputs\":1`, `n_outputs\":2`, "n_outputs is 2: for 2 classes it must be 1"},
		{"too many weights", `2,\"n_features\":7,\"n_outputs\":1`,
			`2147483647,\"n_features\":2147483647,\"n_outputs\":2147483647`,
			"coef would have the shape [2147483647 2147483647]: at most 2147483648 values are possible"},
		{"a feature more", `\"n_features\":7`, `\"n_features\":8`, "coef has 7 values and should have 8"},
		{"a bomb", `\"n_features\":7`, `\"n_features\":2147483647`, "coef has 7 values and should have 2147483647"},
		{"another kind", `"linear"`, `"chain"`, `arrays has "class_prior": a model of kind chain has coef, transitions, start, end`},
		{"an unknown kind", `"linear"`, `"Linear"`, `a model of the kind "Linear" is not known`},
		{"no kind", `"kind":"linear",`, ``, unread + "__metadata__: the field kind is missing"},
		{"no metadata", `"__metadata__"`, `"metadata"`, unread + "__metadata__: "},
		{"a field more", `\"n_iter`, `\"new\":1,\"n_iter`, `description: it has the unknown field "new"`},
		{"a field twice", `\"n_iter`, `\"n_iter\":1,\"n_iter`, `description: the name "n_iter" stands twice`},
		{"null", `n_iter\":12`, `n_iter\":null`, "description: the field n_iter is null"},
		{"a warning that is null", `warnings\":[{`, `warnings\":[null,{`, "description: the field warnings is "},
		{"a value that is null", `\"class\":1`, `\"class\":null`, "description: the field warnings is "},
		{"not UTF-8", "é", "\xe9", unread + "it is not UTF-8"},
		{"a space before the object", "{", " {", unread + "it does not begin with {"},
		{"no checksum", `"sha256":"`, `"sha256":"0`, "the checksum does not match the values"},
		{"a tensor twice", `"class_prior"`, `"coef"`, unread + `the name "coef" stands twice in an object at byte `},
		{"a tensor of another name", `"class_prior"`, `"prior"`, `arrays has "prior": a model of kind linear has coef, intercept, class_prior`},
		{"a tensor more", `"coef":{`, `"more":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},"coef":{`,
			`arrays has "more": a model of kind linear has coef, intercept, class_prior`},
		{"a tensor less", `"coef":{"data_offsets":[16,72],"dtype":"F64","shape":[7,1]},`, ``,
			`the tensor "intercept" has the bytes 72 to 80: from 16, a multiple of 8 `},
		{"an overlap", `[16,72]`, `[8,72]`, `the tensor "coef" has the bytes 8 to 72: from 16, a multiple of 8 `},
		{"a gap", `[16,72]`, `[24,72]`, `the tensor "coef" has the bytes 24 to 72: from 16, a multiple of 8 `},
		{"backwards", `[16,72]`, `[16,8]`, `the tensor "coef" has the bytes 16 to 8: from 16, a multiple of 8 `},
		{"part of a value", `[16,72]`, `[16,71]`, `the tensor "coef" has the bytes 16 to 71: from 16, a multiple of 8 `},
		{"behind the end", `[72,80]`, `[72,9223372036854775800]`,
			`the tensor "intercept" has the bytes 72 to 9223372036854775800: from 72, a multiple of 8 `},
		{"no offset", `[0,16]`, `[null,16]`, unread + `the tensor "class_prior": its shape or data_offsets are no `},
		{"an offset that is no size", `[0,16]`, `[-0,16]`, unread + `the tensor "class_prior": its shape or data_offsets are no `},
		{"one offset", `[0,16]`, `[16]`, unread + `the tensor "class_prior": its data_offsets are not `},
		{"float32", `"F64"`, `"F32"`, unread + `the tensor "class_prior": its dtype is "F32", not F64`},
		{"another shape", `[7,1]`, `[1,7]`, "coef has the shape [1 7] and should have [7 1]"},
		{"a list", `[7,1]`, `[7]`, "coef has the shape [7] and should have [7 1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(header, c.old) {
				t.Fatalf("the header has no %s: %s", c.old, header)
			}
			wantRefusal(t, sealed(strings.Replace(header, c.old, c.new, 1), "none", values), c.want)
		})
	}
	for _, text := range []string{"", "[]", "{}{}", "\xff"} {
		wantRefusal(t, sealed(text, "none", nil), unread)
	}
	wantRefusal(t, binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "it is cut short or of another format: ")
}

func TestValuesThatMustBeFinite(t *testing.T) {
	linear, chain := randomModel(2, 7), randomChain(2, 3) // their tensors by name: class_prior, coef; coef, end, start
	finite, forbids := "NaN and infinity are not allowed", "only numbers and -infinity, which forbids, are allowed"
	for _, c := range []struct {
		m     Model
		at    int
		value float64
		want  string
	}{
		{linear, 5, math.NaN(), "coef[3] is NaN: " + finite}, {linear, 1, math.Inf(1), "class_prior[1] is +Inf: " + finite},
		{chain, 5, math.Inf(-1), "coef[5] is -Inf: " + finite}, {chain, 7, math.NaN(), "end[1] is NaN: " + forbids},
		{chain, 9, math.NaN(), "start[1] is NaN: " + forbids}, {chain, 11, math.Inf(1), "transitions[1] is +Inf: " + forbids},
	} {
		wantRefusal(t, withValue(t, c.m, c.at, c.value), c.want)
	}
}

func TestLoadAsksForMemoryFirst(t *testing.T) {
	defer func(old func(float64, string, string) error) { memory.Need = old }(memory.Need)
	path, asked := filepath.Join(t.TempDir(), "model"), 0.0
	memory.Need = func(bytes float64, purpose, advice string) error {
		asked = bytes
		return fault.Memory("%s: %s", purpose, advice)
	}
	if err := Save(path, randomModel(8, 1000), nil); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	wantFault(t, err, fault.NoMemory, "the model in "+path+": load it on a machine with more memory")
	if asked < 16*(8*1000+16) {
		t.Errorf("asked for %v bytes", asked)
	}
}
