//go:build !linux

package work

import "time"

// patience is shorter where a thread that waits keeps a core from other programs.
const patience = 100 * time.Microsecond

func yield() {}
