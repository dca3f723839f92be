package work

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Progress is shared with the caller, as fewlabel_progress in fewlabel.h; fields are read and written atomically.
type Progress struct {
	Cancel    int64  // set by the caller: Stop, or another value to be cancelled
	Step      int64  // outer steps done
	Objective uint64 // bits of a float64
	Level     uint64 // bits of a float64: temperature or weight of the unlabeled rows
	Switched  int64  // labels changed in the step
	Passes    uint64 // bits of a float64
}

// Stop in Progress.Cancel asks for an end after the outer step under way, with what has been learned so far.
const Stop = 2

// Job is one run of the engine: its workers, its progress and its account of the work done.
type Job struct {
	*Pool
	Group    *Group // nil on one machine
	progress *Progress
	silent   bool         // publishes nothing
	visited  atomic.Int64 // non-zeros read so far
}

// NewJob makes a job; progress may be nil.
func NewJob(threads int, progress *Progress) *Job {
	return &Job{Pool: NewPool(threads), progress: cmp.Or(progress, &Progress{})}
}

// Silent is a job with the same workers and cancel flag that reports no progress and counts its own non-zeros.
func (j *Job) Silent() *Job {
	return &Job{Pool: j.Pool, Group: j.Group, progress: j.progress, silent: true}
}

// Local is Silent for work that every machine repeats; a cancel takes effect at the next reduction.
func (j *Job) Local() *Job {
	local := j.Silent()
	if j.Group != nil {
		local.Group, local.progress = nil, &Progress{}
	}
	return local
}

// Check panics with fault.ErrCancelled, which Guard turns into that error, if the caller has cancelled the run. It is
// called once a product with the data. A machine of a group leaves with the others, at the next reduction.
func (j *Job) Check() {
	if j.Group == nil && j.votes()[cancelled] {
		panic(&Panic{Value: fault.ErrCancelled})
	}
}

// Stopped reports whether the caller, of a group any, has asked to stop after this outer step.
func (j *Job) Stopped() bool {
	if j.Group != nil {
		return j.Group.stopped
	}
	return j.votes()[stopped]
}

func (j *Job) votes() votes {
	wish := atomic.LoadInt64(&j.progress.Cancel)
	return votes{cancelled: wish != 0 && wish != Stop, stopped: wish == Stop}
}

// CountAndCheck counts non-zeros read by a product and looks at the cancel flag.
func (j *Job) CountAndCheck(nonZeros int64) {
	j.visited.Add(nonZeros)
	j.Check()
}

func (j *Job) Visited() int64 { return j.visited.Load() }

func (j *Job) Report(step int, objective, level float64, switched int, passes float64) {
	if j.silent {
		return
	}
	atomic.StoreUint64(&j.progress.Objective, math.Float64bits(objective))
	atomic.StoreUint64(&j.progress.Level, math.Float64bits(level))
	atomic.StoreInt64(&j.progress.Switched, int64(switched))
	atomic.StoreUint64(&j.progress.Passes, math.Float64bits(passes))
	atomic.StoreInt64(&j.progress.Step, int64(step))
}

const (
	blockLength = 1024
	shortLength = 8192 // a second thread is not worth its while for a few operations on this many numbers
)

// Stripes calls task for blocks of 0 ... n-1, rows or entries of a vector; on one thread where there are few.
func (p *Pool) Stripes(n int, task func(lo, hi int)) { p.forFew(n).blocks(n, task) }

// forFew has the calling goroutine only for a few operations.
func (p *Pool) forFew(operations int) *Pool {
	if operations <= shortLength {
		return alone
	}
	return p
}

var alone = NewPool(1)

func (p *Pool) blocks(n int, task func(lo, hi int)) {
	p.Run((n+blockLength-1)/blockLength, func(b int) { task(b*blockLength, min(n, (b+1)*blockLength)) })
}

// Every is Stripes, one row at a time; a row is many operations.
func (p *Pool) Every(n int, task func(i int)) {
	p.blocks(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			task(i)
		}
	})
}

// Total adds a few numbers over 0 ... n-1, cut into blocks of fixed size: add puts the sums over lo ... hi-1 of one
// block into its dst (zero at the start), and the blocks are added to dst in order. More numbers are more work.
func (p *Pool) Total(n int, dst []float64, add func(lo, hi int, dst []float64)) {
	p.forFew(n*len(dst)).total(n, dst, add)
}

func (p *Pool) total(n int, dst []float64, add func(lo, hi int, dst []float64)) {
	parts := make([]float64, (n+blockLength-1)/blockLength*len(dst))
	p.blocks(n, func(lo, hi int) {
		k := lo / blockLength * len(dst)
		add(lo, hi, parts[k:k+len(dst)])
	})
	clear(dst)
	for k := 0; k < len(parts); k += len(dst) {
		floats.Add(dst, parts[k:k+len(dst)])
	}
}

// Sum is Total over rows: it adds the rows of all machines.
func (j *Job) Sum(n int, dst []float64, add func(lo, hi int, dst []float64)) {
	j.total(n, dst, add)
	j.Reduce(dst)
}

// SumRows is Sum, one row at a time; scratch [width] is room for a row.
func (j *Job) SumRows(n, width int, dst []float64, add func(i int, dst, scratch []float64)) {
	j.Sum(n, dst, func(lo, hi int, dst []float64) {
		scratch := make([]float64, width)
		for i := lo; i < hi; i++ {
			add(i, dst, scratch)
		}
	})
}

// Reduce adds the sums of other machines to these.
func (j *Job) Reduce(sums []float64) {
	if j.Group != nil {
		j.Group.reduce(sums, j.votes())
	}
}

// ReduceDeferred is Reduce together with the next reduction; until then the sums are those of this machine.
func (j *Job) ReduceDeferred(sums []float64) {
	if j.Group != nil {
		j.Group.later = append(j.Group.later, sums)
	}
}

// Count is the sum of a whole number over all machines.
func (j *Job) Count(n int) int {
	count := []float64{float64(n)}
	j.Reduce(count)
	return int(count[0])
}

// Range is the least and the largest number of all machines.
func (j *Job) Range(least, largest float64) (low, high float64) {
	ends := []float64{-least, largest}
	j.Largest(ends)
	return -ends[0], ends[1]
}

// Largest sets each number to the largest of all machines.
func (j *Job) Largest(numbers []float64) {
	if j.Group == nil {
		return
	}
	for part := range slices.Chunk(numbers, 1<<16) {
		for k, number := range j.amongAll(part, j.Group.Rank*len(part), j.Group.Size*len(part)) {
			part[k%len(part)] = max(part[k%len(part)], number)
		}
	}
}

// Gather puts the numbers of all machines one behind the other, by rank; first is the place of this machine's.
func (j *Job) Gather(numbers []float64) (all []float64, first int) {
	if j.Group == nil {
		return numbers, 0
	}
	lengths := j.amongAll([]float64{float64(len(numbers))}, j.Group.Rank, j.Group.Size)
	first = int(floats.Sum(lengths[:j.Group.Rank]))
	return j.amongAll(numbers, first, int(floats.Sum(lengths))), first
}

// amongAll puts the numbers of every machine at a place of its own.
func (j *Job) amongAll(numbers []float64, place, length int) []float64 {
	all := make([]float64, length)
	copy(all[place:], numbers)
	j.Reduce(all)
	return all
}
