package work

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/enginetest/worktest"
	"github.com/fewlabel/fewlabel/engine/fault"
)

// run lets so many machines run a part each, with calls of Sum as sum makes them, and returns their errors.
func run(
	t *testing.T, size int, sum func(ranks *worktest.Ranks, rank, call int, values []float64) error,
	part func(job *Job) error,
) []error {
	t.Helper()
	ranks, out := worktest.NewRanks(size), make([]error, size)
	ranks.Run(t, func(rank int) {
		call, job := 0, NewJob(1, nil)
		job.Group = &Group{Rank: rank, Size: size, Sum: func(values []float64) error {
			call++
			return sum(ranks, rank, call, values)
		}}
		out[rank] = job.Group.Run(func() error {
			_, err := Guard(func() (any, error) { return nil, part(job) })
			return err
		})
	})
	return out
}

func plain(ranks *worktest.Ranks, rank, _ int, values []float64) error {
	return ranks.Sum(rank, values)
}

// someReductions are few and many numbers, and what Job makes of them.
func someReductions(job *Job) error {
	for _, n := range []int{1, frameLength - firstSum, frameLength - firstSum + 1, 1000} {
		sums := make([]float64, n)
		job.Sum(10, sums, func(lo, hi int, dst []float64) { dst[n-1] += float64((hi - lo) * (1 + job.Group.Rank)) })
		if want := 10 * job.Group.Size * (job.Group.Size + 1) / 2; sums[n-1] != float64(want) {
			return errors.New("a wrong sum")
		}
	}
	all, first := job.Gather(slices.Repeat([]float64{float64(job.Group.Rank)}, job.Group.Rank))
	if rank, size := job.Group.Rank, job.Group.Size; first != rank*(rank-1)/2 || len(all) != size*(size-1)/2 {
		return errors.New("a wrong place")
	}
	low, high := job.Range(float64(job.Group.Rank), math.Inf(1))
	if job.Count(2) != 2*job.Group.Size || low != 0 || !math.IsInf(high, 1) ||
		len(all) != first+job.Group.Rank && all[first+job.Group.Rank] != float64(job.Group.Rank+1) {
		return errors.New("a wrong number")
	}
	return nil
}

func TestMachinesAddTheirSums(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		for rank, err := range run(t, size, plain, someReductions) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
	}
}

// Whatever a machine does between two reductions, the others learn of it at the next one.
func TestAllMachinesLeaveTogether(t *testing.T) {
	ends := map[string]struct {
		end  func(job *Job) error
		says string
	}{
		"an error":         {func(*Job) error { return fault.Data("bad rows") }, "failed on rank 1 of 3"},
		"a panic":          {func(*Job) error { panic("oh") }, "failed on rank 1 of 3"},
		"cancel":           {func(j *Job) error { j.progress.Cancel = 1; return nil }, "cancelled"},
		"another length":   {func(j *Job) error { j.Reduce(make([]float64, 7)); return nil }, "the ranks differ"},
		"a sum more":       {func(j *Job) error { j.Count(1); return nil }, "the ranks differ"},
		"an early end":     {func(*Job) error { return errEarly }, "the ranks differ"},
		"another checksum": {func(j *Job) error { j.Group.last++; return nil }, "the ranks differ"},
	}
	for name, c := range ends {
		for _, size := range []int{3, frameLength - firstSum, 500} {
			errs := run(t, 3, plain, func(job *Job) error {
				job.Count(1)
				if job.Group.Rank == 1 {
					if err := c.end(job); errors.Is(err, errEarly) {
						return nil
					} else if err != nil {
						return err
					}
				}
				for range 3 {
					job.Reduce(make([]float64, size))
				}
				return nil
			})
			for rank, err := range errs {
				own := rank == 1 && (name == "an error" || name == "a panic")
				if err == nil || !own && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, %d numbers: rank %d says %v", name, size, rank, err)
				}
			}
		}
	}
}

var errEarly = errors.New("early")

// A part that fails on one machine fails on all, wherever they are in it, and the run goes on.
func TestAPartMayFailOnOneMachineAlone(t *testing.T) {
	for breaks := range 4 { // reductions before; at the end of the part the others have made three
		for _, size := range []int{3, frameLength - firstSum + 1} {
			for rank, err := range run(t, 3, plain, func(job *Job) error {
				_, err := Try(job, func() (any, error) {
					for k := range 3 {
						if k == breaks && job.Group.Rank == 1 {
							job.ReduceDeferred(make([]float64, 5))
							return nil, errEarly
						}
						job.Reduce(make([]float64, size))
					}
					return nil, nil
				})
				if (err != nil) != (breaks < 3) || errors.Is(err, errEarly) != (breaks < 3 && job.Group.Rank == 1) {
					return fault.Defect("the part ended with %v", err)
				}
				return someReductions(job)
			}) {
				if err != nil {
					t.Errorf("after %d reductions of %d: rank %d says %v", breaks, size, rank, err)
				}
			}
		}
	}
}

func TestStopIsForAllMachines(t *testing.T) {
	for _, err := range run(t, 3, plain, func(job *Job) error {
		if job.Group.Rank == 2 {
			job.progress.Cancel = Stop
		}
		if job.Stopped() {
			return errors.New("before the others know")
		}
		job.Count(1)
		if !job.Stopped() {
			return errors.New("goes on")
		}
		return nil
	}) {
		if err != nil {
			t.Error(err)
		}
	}
}

// One bit of a sum that changes on its way to one machine ends the runs of all with an error, and none waits.
func TestOneChangedBitIsAnError(t *testing.T) {
	calls := 0
	run(t, 2, func(ranks *worktest.Ranks, rank, call int, values []float64) error {
		if rank == 0 {
			calls = call
		}
		return plain(ranks, rank, call, values)
	}, someReductions)
	for at := 1; at <= calls; at++ {
		for place := range frameLength {
			for _, bit := range []int{0, 31, 52, 62, 63} {
				changed := false
				errs := run(t, 2, func(ranks *worktest.Ranks, rank, call int, values []float64) error {
					err := ranks.Sum(rank, values)
					if rank == 1 && call == at {
						k := place * len(values) / frameLength
						before := values[k]
						if len(values) != frameLength || k >= firstSum && before != 0 {
							values[k] = math.Float64frombits(math.Float64bits(before) ^ 1<<bit)
							changed = values[k] != before // the sign of 0 is none
						}
					}
					return err
				}, someReductions)
				if changed && (errs[0] == nil || errs[1] == nil) {
					t.Errorf("call %d, number %d, bit %d: %v", at, place, bit, errs)
				}
			}
		}
	}
}

func TestWhatAllMachinesMustHaveAlikeIsCompared(t *testing.T) {
	for name, change := range map[string]func(g *Group){
		"different options": func(g *Group) { g.Begin(uint64(7 + g.Rank)) },
		"two with rank 0":   func(g *Group) { g.Rank = 0 },
		"a size too large":  func(g *Group) { g.Size = 3 },
		"two kinds of size": func(g *Group) { g.Size += g.Rank },
	} {
		for rank, err := range run(t, 2, plain, func(job *Job) error {
			change(job.Group)
			job.Count(1)
			return nil
		}) {
			wanted := "are not 0 ... "
			if name == "different options" {
				wanted = name
			}
			if err == nil || !strings.Contains(err.Error(), wanted) {
				t.Errorf("%s: rank %d says %v", name, rank, err)
			}
		}
	}
}

// A Sum that fails is not called again.
func TestAfterAFailedSumThereIsNoOther(t *testing.T) {
	for at := 1; at < 12; at++ {
		after := 0
		errs := run(t, 2, func(ranks *worktest.Ranks, rank, call int, values []float64) error {
			if rank == 0 && call > at {
				after++
			}
			if rank == 0 && call == at {
				ranks.Fail(errors.New("no network"))
			}
			return ranks.Sum(rank, values)
		}, someReductions)
		var failure *fault.Error
		if after > 0 || !errors.As(errs[0], &failure) || failure.Kind != fault.OtherMachine || errs[1] == nil {
			t.Errorf("call %d: %d more calls, %v", at, after, errs)
		}
	}
}
