// Package work runs blocks of rows on several goroutines and adds their sums in a fixed order.
//
// How the rows are cut into blocks depends on the data only, never on the number of threads, and block sums are added
// in block order: a computation gives the same bits on any number of threads.
package work

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Pool runs tasks on at most Threads goroutines at a time.
type Pool struct {
	threads int
}

// NewPool makes a pool; threads below 1 count as 1.
func NewPool(threads int) *Pool { return &Pool{threads: max(1, threads)} }

// Threads is the number of goroutines that work at a time.
func (p *Pool) Threads() int { return p.threads }

// Run calls task(0) ... task(n-1), each once, in no particular order, and waits for all of them. The calling goroutine
// works too: it need not wait for another to wake up. A panic in a task does not end the process: it is raised again in
// the calling goroutine as a *Panic once the other tasks are done.
func (p *Pool) Run(n int, task func(i int)) {
	helpers := min(p.threads, n) - 1
	if helpers < 1 {
		for i := range n {
			task(i)
		}
		return
	}
	var next atomic.Int64
	var caught atomic.Pointer[Panic]
	var wait sync.WaitGroup
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n || caught.Load() != nil {
				return
			}
			task(i)
		}
	}
	note := func(failure *Panic) {
		if failure != nil {
			caught.CompareAndSwap(nil, failure)
		}
	}
	for range helpers {
		wait.Add(1)
		Go(work, func(failure *Panic) { note(failure); wait.Done() })
	}
	func() {
		defer func() { note(Recovered(recover())) }()
		work()
	}()
	wait.Wait()
	if failure := caught.Load(); failure != nil {
		panic(failure)
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
