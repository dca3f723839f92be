package work

import (
	"math"
	"sync/atomic"

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
	silent   bool          // publishes nothing
	visited  *atomic.Int64 // non-zeros read so far
}

// NewJob makes a job; progress may be nil.
func NewJob(threads int, progress *Progress) *Job {
	if progress == nil {
		progress = &Progress{}
	}
	return &Job{Pool: NewPool(threads), progress: progress, visited: &atomic.Int64{}}
}

// Silent is a job beside this one: same workers and cancel flag, no progress, an account of its own.
func (j *Job) Silent() *Job {
	return &Job{Pool: j.Pool, Group: j.Group, progress: j.progress, silent: true, visited: &atomic.Int64{}}
}

// Local is Silent for what every machine does by itself, alike. It is not cancelled: the next reduction is.
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

// votes are the caller's wishes.
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
