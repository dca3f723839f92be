package model

import (
	"bytes"
	"runtime"
	"testing"
)

// FuzzLoad: any bytes give a sound model or a fault.BadData, and take memory in proportion to the file. Behind a right
// checksum (sealed) the fuzzer reaches the header and the arrays; otherwise it works on the whole file.
func FuzzLoad(f *testing.F) {
	for _, m := range []*Linear{randomModel(1, 1), randomModel(2, 7), randomModel(3, 4)} {
		file := encoding(f, m)
		header, data := unseal(file)
		f.Add(header, data, true)
		f.Add(file, []byte{}, false)
	}
	f.Add([]byte("{}"), []byte{}, true)
	f.Add([]byte(`{"n_classes":2147483647,"n_features":1,"n_outputs":2147483647,"arrays":{"coef":{"dtype":"float64",`+
		`"length":2147483647,"bytes":20}}}`), bytes.Repeat([]byte{1}, 40), true)
	f.Add([]byte(`{"n_classes":3,"n_features":700,"n_outputs":3,"warnings":[{},{},{"values":{"a":1}}],"metadata":[[[[[]]]]]}`),
		[]byte{}, true)
	f.Add([]byte(magic), []byte{}, false)
	f.Fuzz(func(t *testing.T, header, data []byte, sealed bool) {
		file := append(bytes.Clone(header), data...)
		if sealed {
			file = seal(header, data)
		}
		before := allocated()
		m, err := readBytes(file)
		// What a decoder takes, the header a few times over, and the values that the arrays can hold.
		if most := 64<<20 + 50*uint64(len(header)) + 3*largestExpansion*uint64(len(data)); allocated()-before > most && sealed {
			t.Fatalf("a file of %d bytes took %d bytes of memory", len(file), allocated()-before)
		}
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

// allocated is how much memory was ever taken.
func allocated() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.TotalAlloc
}
