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
// awake for a moment, as in a fit the next run comes soon.
type Pool struct {
	threads int
	current atomic.Pointer[round]
	awake   []atomic.Bool // [threads] of helper k; the caller is number 0
}

// NewPool makes a pool; threads below 1 count as 1, more than the machine runs at a time as that many.
func NewPool(threads int) *Pool {
	threads = max(1, min(threads, runtime.GOMAXPROCS(0)))
	return &Pool{threads: threads, awake: make([]atomic.Bool, threads)}
}

func (p *Pool) Threads() int { return p.threads }

type round struct {
	task     func(i int)
	batches  []batch // one a thread
	finished atomic.Int64
	caught   atomic.Pointer[Panic]
}

// batch is the consecutive tasks that a thread begins with: in every round their memory is in the cache of its core.
type batch struct {
	next atomic.Int64
	end  int64
	_    [48]byte // a cache line each
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
	r := &round{task: task, batches: make([]batch, p.threads)}
	for k := range r.batches {
		r.batches[k].next.Store(int64(k * n / p.threads))
		r.batches[k].end = int64((k + 1) * n / p.threads)
	}
	p.current.Store(r)
	for k := 1; k < min(p.threads, n); k++ {
		if p.awake[k].CompareAndSwap(false, true) {
			Go(func() { p.help(k) }, func(*Panic) { p.awake[k].Store(false) })
		}
	}
	r.work(0)
	// Not Gosched: a call from C has locked this goroutine to its thread, and giving that up costs two wakings.
	for begun := time.Now(); r.finished.Load() < int64(n); yield() {
		if time.Since(begun) > patience {
			time.Sleep(10 * time.Microsecond)
		}
	}
	if failure := r.caught.Load(); failure != nil {
		panic(failure)
	}
}

// help is helper k, which joins one round after the other.
func (p *Pool) help(k int) {
	var last *round
	for idle := time.Now(); time.Since(idle) < patience; yield() {
		if r := p.current.Load(); r != last {
			last = r
			r.work(k)
			idle = time.Now()
		}
	}
}

// work does the tasks of thread k's batch, then those that are left of the other batches.
func (r *round) work(k int) {
	for step := range r.batches {
		b := &r.batches[(k+step)%len(r.batches)]
		for i := b.next.Add(1) - 1; i < b.end; i = b.next.Add(1) - 1 {
			r.do(int(i))
		}
	}
}

// do runs one task and keeps its panic; after a panic the remaining tasks are only counted.
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
	}
	return &Panic{Value: value, Stack: string(debug.Stack())}
}

// Guard turns a panic in f or in a worker into an error. A fault in memory goes on: who lent the memory knows which.
func Guard[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if failure := Recovered(recover()); failure != nil {
			if _, ok := failure.Value.(MemoryFault); ok {
				panic(failure)
			}
			err = failure.Defect()
		}
	}()
	return f()
}

// MemoryFault is the value of a panic that comes from a fault in memory, there, and not from a nil pointer.
type MemoryFault interface{ Addr() uintptr }

// Defect is the panic as an error: a defect of fewlabel, unless it is the end of a run that Check or a Group wants.
func (p *Panic) Defect() error {
	if end, ok := p.Value.(*fault.Error); ok {
		return end
	}
	return fault.Defect("internal error of fewlabel, please report it: %v", p)
}
