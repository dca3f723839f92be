package memory

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fewlabel/fewlabel/engine/enginetest/faulttest"
	"github.com/fewlabel/fewlabel/engine/fault"
)

const meminfo = "MemTotal:       24684092 kB\nMemFree:  100 kB\nMemAvailable:   4000000 kB\nSwapFree:  1000 kB\n"

func TestTheLeastOfAllLimits(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"nothing known": {nil, math.Inf(1)},
		"the machine":   {map[string]string{"proc/meminfo": meminfo}, 4001000 * 1024},
		"version 2": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "7\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "700\n",
			"sys/fs/cgroup/a/memory.stat": "anon 600\ninactive_file 50\n"}, 350},
		"version 2 in a container": {map[string]string{"proc/self/cgroup": "0::/host/path\n",
			"sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "400\n"}, 600},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes":    "5000\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes":    "3000\n",
			"sys/fs/cgroup/memory/x/memory.stat":              "cache 2\ninactive_file 9\ntotal_inactive_file 500\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":      "8000\n",
			"sys/fs/cgroup/cpu,cpuacct/memory.limit_in_bytes": "1\n"}, 2500},
		"nonsense": {map[string]string{"proc/meminfo": "MemAvailable:\nx y z\n", "proc/self/cgroup": "what\n0::/../..\n"}, math.Inf(1)},
	} {
		root := fstest.MapFS{}
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := availableIn(root); got != c.want {
			t.Errorf("%s: %v bytes, should be %v", name, got, c.want)
		}
	}
}

func TestAddressSpaceKeepsRoomForThreads(t *testing.T) {
	root := fstest.MapFS{"proc/self/status": {Data: []byte("Name:\tx\nVmSize:\t 1000 kB\n")}}
	if got := ofAddressSpace(root, math.Inf(1)); !math.IsInf(got, 1) {
		t.Errorf("%v bytes without a limit", got)
	}
	room, taken := 3e9-1024000-float64(heapGrows+ofThread*runtime.GOMAXPROCS(0)), make([]byte, 500<<20)
	if got := ofAddressSpace(root, 3e9); got < room || got > room+400<<20 {
		t.Errorf("%v bytes, should be %v beside what the heap does not use", got, room)
	}
	runtime.KeepAlive(taken)
	runtime.GC() // what is free again stays with the heap
	if got := ofAddressSpace(root, 3e9); got < room+400<<20 {
		t.Errorf("%v bytes, should be %v and 500 MB of the heap", got, room)
	}
}

func TestThisMachineHasSome(t *testing.T) {
	got := availableIn(os.DirFS("/"))
	if runtime.GOOS == "linux" && math.IsInf(got, 1) {
		t.Error("nothing is known on Linux")
	}
	if !(got > 1<<20) {
		t.Errorf("%v bytes", got)
	}
}

func TestRefusal(t *testing.T) {
	if err := refusal(100, 100, "x", "y"); err != nil {
		t.Error(err)
	}
	err := refusal(12.34e9, 999e6, "a fit of 20 classes", "take fewer")
	faulttest.Want(t, err, fault.NoMemory,
		"a fit of 20 classes needs about 12 GB of memory, and 999 MB are available: take fewer")
	for bytes, want := range map[float64]string{0: "0 bytes", 999: "999 bytes", 1500: "1.5 KB", 3e20: "300000 PB"} {
		if got := inWords(bytes); got != want {
			t.Errorf("%v is %q, should be %q", bytes, got, want)
		}
	}
	if err := Need(1e30, "everything", "take less"); err != nil && !strings.HasPrefix(err.Error(), "everything needs") {
		t.Error(err)
	}
}
