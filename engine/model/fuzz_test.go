package model

import (
	"bytes"
	"testing"
)

// FuzzLoad: any bytes give a sound model or a fault.BadData. Behind a right checksum (sealed) the fuzzer reaches the
// header and the arrays; otherwise it works on the whole file.
func FuzzLoad(f *testing.F) {
	for _, m := range []*Linear{randomModel(1, 1), randomModel(2, 7), randomModel(3, 4)} {
		file := encoding(f, m)
		header, data := unseal(file)
		f.Add(header, data, true)
		f.Add(file, []byte{}, false)
	}
	f.Add([]byte("{}"), []byte{}, true)
	f.Add([]byte(magic), []byte{}, false)
	f.Fuzz(func(t *testing.T, header, data []byte, sealed bool) {
		file := append(bytes.Clone(header), data...)
		if sealed {
			file = seal(header, data)
		}
		m, err := readBytes(file)
		if err != nil {
			wantBadData(t, file)
			return
		}
		if wrong := m.mistake(); wrong != "" {
			t.Fatal(wrong)
		}
		once := encoding(t, m)
		again, err := readBytes(once)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoding(t, again), once) {
			t.Fatal("the model changed when it was written and read")
		}
	})
}
