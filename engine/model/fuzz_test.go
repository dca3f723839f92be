package model

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// FuzzLoad: any bytes give a sound model or an error, and take memory in proportion to the file. With a right checksum
// in place of SUM the fuzzer reaches what is behind it.
func FuzzLoad(f *testing.F) {
	for _, m := range []Model{
		randomModel(1, 1), randomModel(2, 7), randomModel(3, 4), randomChain(2, 3), randomStructure(2, 3),
		randomStructure(1, 3),
	} {
		header, values := parts(encoding(f, m))
		f.Add(strings.Replace(header, checksum(values), "SUM", 1), values)
	}
	f.Add("{}", []byte{})
	f.Add(`{"__metadata__":{"kind":"chain","description":"{\"n_tags\":2147483647,\"n_features\":1}","sha256":"SUM"},`+
		`"coef":{"dtype":"F64","shape":[1,2147483647],"data_offsets":[0,17179869176]}}`, bytes.Repeat([]byte{1}, 40))
	f.Fuzz(func(t *testing.T, header string, values []byte) {
		file := sealed(header, "SUM", values)
		before := allocated()
		m, err := readBytes(file)
		// The header a few times over, the values, and a buffer.
		if most := 1<<20 + 200*uint64(len(header)) + 3*uint64(len(values)); allocated()-before > most {
			t.Fatalf("a file of %d bytes took %d bytes of memory", len(file), allocated()-before)
		}
		if err != nil {
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
