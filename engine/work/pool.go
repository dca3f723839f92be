// Package work runs blocks of rows on several goroutines and adds their sums in a fixed order.
//
// How the rows are cut into blocks depends on the data only, never on the number of threads, and block sums are added
// in block order: a computation gives the same bits on any number of threads.
package work

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Pool runs tasks on at most Threads goroutines at a time: the calling one and helpers. Between two runs a helper stays
// awake for a moment: in a fit the next run comes soon, and waking a thread takes longer than many a run.
type Pool struct {
	threads int
	current atomic.Pointer[round]
	helpers atomic.Int32
}

// NewPool makes a pool; threads below 1 count as 1.
func NewPool(threads int) *Pool { return &Pool{threads: max(1, threads)} }

// Threads is the number of goroutines that work at a time.
func (p *Pool) Threads() int { return p.threads }

// round is one call of Run.
type round struct {
	n              int
	task           func(i int)
	next, finished atomic.Int64
	caught         atomic.Pointer[Panic]
}

// Run calls task(0) ... task(n-1), each once, in no particular order, and waits for all of them. A panic in a task
// does not end the process: it is raised again in the calling goroutine as a *Panic once the tasks under way are done.
func (p *Pool) Run(n int, task func(i int)) {
	if p.threads == 1 || n <= 1 {
		for i := range n {
			task(i)
		}
		return
	}
	r := &round{n: n, task: task}
	p.current.Store(r)
	for int(p.helpers.Load()) < min(p.threads, n)-1 {
		p.helpers.Add(1)
		Go(p.help, func(*Panic) { p.helpers.Add(-1) })
	}
	r.work()
	for spins := 0; r.finished.Load() < int64(n); spins++ {
		if spins < 1000 {
			runtime.Gosched()
		} else {
			time.Sleep(10 * time.Microsecond)
		}
	}
	if failure := r.caught.Load(); failure != nil {
		panic(failure)
	}
}

// stayAwake is how long a helper waits for another round before it ends.
const stayAwake = 300 * time.Microsecond

// help joins one round after the other.
func (p *Pool) help() {
	var last *round
	idle := time.Now()
	for time.Since(idle) < stayAwake {
		r := p.current.Load()
		if r == last {
			continue
		}
		last = r
		r.work()
		idle = time.Now()
	}
}

// work takes tasks of the round until none is left.
func (r *round) work() {
	for {
		i := int(r.next.Add(1)) - 1
		if i >= r.n {
			return
		}
		r.do(i)
	}
}

// do runs one task and notes a panic; after one the remaining tasks are only counted.
func (r *round) do(i int) {
	defer func() {
		if failure := Recovered(recover()); failure != nil {
			r.caught.CompareAndSwap(nil, failure)
		}
		r.finished.Add(1)
	}()
	if r.caught.Load() == nil {
		r.task(i)
	}
}

// Panic carries a panic and its stack from the goroutine where it happened.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) String() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Go starts the one kind of goroutine there is here: done is always called, with the panic if there was one.
func Go(task func(), done func(*Panic)) {
	go func() { //nolint:bare-go // the one place that may start a goroutine
		defer func() { done(Recovered(recover())) }()
		debug.SetPanicOnFault(true)
		task()
	}()
}

// Recovered turns the value of recover() into a *Panic, or nil if there was no panic.
func Recovered(value any) *Panic {
	switch v := value.(type) {
	case nil:
		return nil
	case *Panic:
		return v
	default:
		return &Panic{Value: v, Stack: string(debug.Stack())}
	}
}

// Guard calls f and turns a panic, in f or in a worker, into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if failure := Recovered(recover()); failure != nil {
			if stopped, ok := failure.Value.(error); ok && stopped == fault.ErrCancelled {
				err = stopped
				return
			}
			err = fault.Defect("internal error of fewlabel, please report it: %v", failure)
		}
	}()
	return f()
}
