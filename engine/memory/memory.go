// Package memory finds out how much memory the process can still take, so that a computation that cannot fit is refused
// before it begins: where the system refuses memory, Go ends the process, and where it promises too much, the system
// does. It asks Linux; elsewhere nothing is known and nothing is refused. Start at Need.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Need refuses what takes more bytes than there are. The message begins with the purpose and ends with the advice. It
// is a variable for tests.
var Need = func(bytes float64, purpose, advice string) error {
	if bytes >= negligible {
		return refusal(bytes, availableIn(os.DirFS("/")), purpose, advice)
	}
	return refusal(bytes, ofAddressSpace(os.DirFS("/"), addressSpace()), purpose, advice)
}

const negligible = 32 << 20 // bytes: to find out what is available takes longer than a small fit

func refusal(bytes, available float64, purpose, advice string) error {
	if bytes <= available {
		return nil
	}
	return fault.Memory("%s needs about %s of memory, and %s are available: %s", purpose, inWords(bytes),
		inWords(max(0, available)), advice)
}

// inWords gives bytes in the largest unit of which there is one.
func inWords(bytes float64) string {
	units, k := []string{"bytes", "KB", "MB", "GB", "TB", "PB"}, 0
	for ; bytes >= 1000 && k < len(units)-1; k++ {
		bytes /= 1000
	}
	if bytes < 10 && k > 0 {
		return fmt.Sprintf("%.1f %s", bytes, units[k])
	}
	return fmt.Sprintf("%.0f %s", bytes, units[k])
}

// availableIn is the least of what machine, control groups and address space have left; infinity if unknown.
func availableIn(root fs.FS) float64 {
	available := min(ofGroups(root), ofAddressSpace(root, addressSpace()))
	facts := table(root, "proc/meminfo") // of memory and swap space not in use, or that could be freed at once
	if left, ok := facts["MemAvailable:"]; ok {
		available = min(available, 1024*(left+facts["SwapFree:"]))
	}
	return available
}

// ofAddressSpace is what `ulimit -v` leaves and what the heap does not use, less what Go takes in large pieces.
func ofAddressSpace(root fs.FS, limit float64) float64 {
	if math.IsInf(limit, 1) {
		return limit
	}
	free := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(free)
	unused := float64(free[0].Value.Uint64() + free[1].Value.Uint64())
	pieces := heapGrows + ofThread*float64(runtime.GOMAXPROCS(0))
	return limit - 1024*table(root, "proc/self/status")["VmSize:"] + unused - pieces
}

// Address space in bytes.
const (
	heapGrows = 128 << 20 // by less than this at a time
	ofThread  = 76 << 20  // its stack, and where its C functions take memory
)

// hierarchy is one of the two forms in which Linux shows control groups.
type hierarchy struct {
	folder       string
	limit, usage string
	reclaimable  string // in memory.stat: pages of files, which the system drops first
}

// hierarchies by the second field of /proc/self/cgroup, the controllers.
var hierarchies = map[string]hierarchy{
	"":       {"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
	"memory": {"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
}

// ofGroups is what the tightest of the process's control groups leaves, as in a container.
func ofGroups(root fs.FS) float64 {
	least := math.Inf(1)
	for _, line := range lines(root, "proc/self/cgroup") {
		if parts := strings.SplitN(line, ":", 3); len(parts) == 3 { // number:controllers:path
			if h, known := hierarchies[parts[1]]; known {
				least = min(least, h.left(root, parts[2]))
			}
		}
	}
	return least
}

// left is the least of a group and those above it. In a container the group's own path may not be there.
func (h hierarchy) left(root fs.FS, group string) float64 {
	least := math.Inf(1)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		folder := path.Join(h.folder, at)
		limit, limited := number(lines(root, path.Join(folder, h.limit))[0])
		usage, known := number(lines(root, path.Join(folder, h.usage))[0])
		if limited && known {
			least = min(least, limit-usage+table(root, path.Join(folder, "memory.stat"))[h.reclaimable])
		}
		if at == "/" {
			return least
		}
	}
}

func table(root fs.FS, name string) map[string]float64 {
	facts := map[string]float64{}
	for _, line := range lines(root, name) {
		if words := strings.Fields(line); len(words) > 1 {
			if value, ok := number(words[1]); ok {
				facts[words[0]] = value
			}
		}
	}
	return facts
}

// lines of a file; an empty one if it cannot be read.
func lines(root fs.FS, name string) []string {
	text, _ := fs.ReadFile(root, name)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// number reads a word; "max" and "unlimited" are no numbers.
func number(word string) (value float64, ok bool) {
	value, err := strconv.ParseFloat(word, 64)
	return value, err == nil
}
