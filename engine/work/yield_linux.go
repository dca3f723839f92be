package work

import (
	"syscall"
	"time"
)

// patience is how long the caller waits for helpers before it sleeps, and a helper for work before it ends. A sleep
// takes a millisecond at least, and waking a thread a tenth of one: a fifth of the time of a fit on two threads.
const patience = 2 * time.Millisecond

// yield lets another thread of the machine, if one waits, run on this core.
func yield() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
