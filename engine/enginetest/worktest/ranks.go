// Package worktest helps to test what must not depend on the number of threads.
package worktest

import (
	"cmp"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
)

// Ranks adds the numbers of several goroutines in the order of the ranks, as a network does: all get the same bits.
type Ranks struct {
	lock    sync.Mutex
	changed *sync.Cond
	parts   [][]float64 // of the call under way, by rank
	came    int
	sums    []float64
	failure error

	Calls   int         // so far, of one rank
	Lengths map[int]int // of these, by length
}

func NewRanks(size int) *Ranks {
	r := &Ranks{parts: make([][]float64, size), Lengths: map[int]int{}}
	r.changed = sync.NewCond(&r.lock)
	return r
}

// Fail lets the calls of all ranks fail from now on, as when a machine is lost.
func (r *Ranks) Fail(err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.failure = cmp.Or(r.failure, err)
	r.changed.Broadcast()
}

// Sum is work.Group.Sum of a rank.
func (r *Ranks) Sum(rank int, values []float64) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	calls := r.Calls
	r.parts[rank] = append(r.parts[rank][:0], values...)
	if r.came++; r.came == len(r.parts) {
		r.add()
	}
	for r.Calls == calls && r.failure == nil {
		r.changed.Wait()
	}
	copy(values, r.sums)
	return r.failure
}

func (r *Ranks) add() {
	r.sums = make([]float64, len(r.parts[0]))
	for _, part := range r.parts {
		if len(part) != len(r.sums) {
			r.failure = errors.New("the ranks send different lengths")
			break
		}
		floats.Add(r.sums, part)
	}
	r.came, r.Calls = 0, r.Calls+1
	r.Lengths[len(r.sums)]++
	r.changed.Broadcast()
}

// Run runs the parts of all ranks at a time; where one of them does not end, it ends the tests.
func (r *Ranks) Run(t testing.TB, part func(rank int)) {
	t.Helper()
	var running sync.WaitGroup
	for rank := range r.parts {
		running.Go(func() { part(rank) })
	}
	defer time.AfterFunc(time.Minute, func() { panic(t.Name() + ": a rank waits for ever") }).Stop()
	running.Wait()
}

// Processors lets Go run n goroutines at a time until the test ends, whatever the machine has. A work.Pool has no more
// threads than that: without it a machine with one core would compare one thread with itself.
func Processors(t testing.TB, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}
