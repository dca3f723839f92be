package work

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
)

func TestRunDoesEveryTaskOnce(t *testing.T) {
	worktest.Processors(t, 8)
	for _, threads := range []int{1, 2, 7} {
		counts, pool := make([]atomic.Int32, 100), NewPool(threads)
		if pool.Threads() != threads {
			t.Fatalf("%d threads where %d were asked for", pool.Threads(), threads)
		}
		pool.Run(len(counts), func(i int) { counts[i].Add(1) })
		for i := range counts {
			if counts[i].Load() != 1 {
				t.Fatalf("%d threads: task %d ran %d times", threads, i, counts[i].Load())
			}
		}
	}
}

func TestPanicInAWorkerBecomesAnError(t *testing.T) {
	worktest.Processors(t, 8)
	for _, threads := range []int{1, 4} {
		_, err := Guard(func() (any, error) {
			NewPool(threads).Run(50, func(i int) {
				if i == 31 {
					panic("row 31 fell over")
				}
			})
			return nil, nil
		})
		var found *fault.Error
		if !errors.As(err, &found) || found.Kind != fault.Internal || !strings.Contains(err.Error(), "row 31 fell over") {
			t.Errorf("%d threads: got %v", threads, err)
		}
	}
}

func TestNilPointerInAWorkerBecomesAnError(t *testing.T) {
	var nothing *Job
	_, err := Guard(func() (any, error) { NewPool(2).Run(4, func(int) { nothing.CountAndCheck(1) }); return nil, nil })
	if err == nil {
		t.Error("no error")
	}
}

func TestCancelIsAnErrorOfItsOwn(t *testing.T) {
	progress := &Progress{Cancel: 1}
	for _, threads := range []int{1, 3} {
		job := NewJob(threads, progress)
		_, err := Guard(func() (any, error) { job.Run(8, func(int) { job.Check() }); return nil, nil })
		if !errors.Is(err, fault.ErrCancelled) {
			t.Errorf("%d threads: got %v", threads, err)
		}
	}
}

func TestSumHasTheSameBitsOnAnyNumberOfThreads(t *testing.T) {
	worktest.Processors(t, 8)
	const n = shortLength + 3*blockLength + 17
	var reference [2]float64
	for _, threads := range []int{1, 2, 5} {
		var got [2]float64
		NewJob(threads, nil).Sum(n, got[:], func(lo, hi int, dst []float64) {
			for i := lo; i < hi; i++ {
				dst[0]++
				dst[1] += math.Sin(float64(i))
			}
		})
		if threads == 1 {
			reference = got
		}
		if got != reference || got[0] != n {
			t.Errorf("%d threads: %v, on one thread %v", threads, got, reference)
		}
	}
}
