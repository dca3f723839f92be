//go:build !linux

package work

// yield: the thread only looks again.
func yield() {}
