package model

import (
	"bytes"
	"runtime"
	"testing"
)

// FuzzLoad: any bytes give a sound model or a fault.BadData, and take memory in proportion to the file. Behind a right
// checksum (sealed) the fuzzer reaches the header and the arrays; otherwise it works on the whole file.
func FuzzLoad(f *testing.F) {
	for _, m := range []Model{
		randomModel(1, 1), randomModel(2, 7), randomModel(3, 4), randomChain(2, 3), randomStructure(2, 3),
		randomStructure(1, 3),
	} {
		file := encoding(f, m)
		header, data := unseal(file)
		f.Add(header, data, true)
		f.Add(file, []byte{}, false)
	}
	f.Add([]byte("{}"), []byte{}, true)
	f.Add([]byte(`{"kind":"chain","n_tags":2147483647,"n_features":1}`), bytes.Repeat([]byte{1}, 40), true)
	f.Add([]byte(`{"kind":"linear","n_classes":3,"warnings":[{},{},{"values":{"a":1}}],"metadata":[[[[[]]]]]}`), []byte{}, true)
	f.Add([]byte(magic), []byte{}, false)
	f.Fuzz(func(t *testing.T, header, data []byte, sealed bool) {
		file := append(bytes.Clone(header), data...)
		if sealed {
			file = seal(header, data)
		}
		before := allocated()
		m, err := readBytes(file)
		// The header a few times over, the values, and a buffer.
		if most := 1<<20 + 100*uint64(len(header)) + 3*uint64(len(data)); allocated()-before > most && sealed {
			t.Fatalf("a file of %d bytes took %d bytes of memory", len(file), allocated()-before)
		}
		if err != nil {
			wantBadData(t, file)
			return
		}
		if err := Check(m); err != nil {
			t.Fatal(err)
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
