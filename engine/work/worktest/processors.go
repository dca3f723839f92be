// Package worktest helps to test what must not depend on the number of threads.
package worktest

import (
	"runtime"
	"testing"
)

// Processors lets Go run n goroutines at a time until the test ends, whatever the machine has. A work.Pool has no more
// threads than that: without it a machine with one core would compare one thread with itself.
func Processors(t testing.TB, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}
