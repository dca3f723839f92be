package memory

import (
	"math"
	"syscall"
)

// addressSpace is the limit of `ulimit -v`; infinity: none.
func addressSpace() float64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return math.Inf(1)
	}
	return float64(limit.Cur)
}
