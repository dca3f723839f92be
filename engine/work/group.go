package work

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Group is the machines that share the rows of one run, as one of them sees it: each does the same work on rows of its
// own, and sums over rows are those of all.
//
//	Problem  no machine may wait for one that has failed, and none may go on with other numbers than the others
//	Method   every reduction begins with a frame of frameLength numbers: votes, for an end above all; the place of each
//	         machine, that is their number and its rank; a digest of the reduction's number and length and all results
//	         so far. Every machine knows the sums of places 0 ... Size-1 and of equal digests. All get the same sums, and
//	         so leave at the same reduction. Short sums travel in the frame, longer vectors behind it, deferred sums with
//	         the next ones. The frame has a call of its own: who has failed does not know how many numbers the others add
//	Misses   a machine that ends, whose Sum fails or changes a frame: what carries the sums has to notify the others
//	Cost     a call of Sum for each frame and for each vector that does not fit into it
type Group struct {
	Rank, Size int
	// Sum turns values into their sums over all machines, with the same bits on each. It is not called after an error.
	Sum func(values []float64) error

	done    uint64      // reductions
	last    uint64      // checksum of what is alike on all machines: that of Begin, and all results
	stopped bool        // a machine has asked to stop
	over    bool        // no machine waits for this one any more
	later   [][]float64 // sums that travel with the next ones
	frame   [frameLength]float64
}

// The fields of a frame; the first ones are votes.
const (
	failed = iota
	abandoned
	cancelled
	stopped
	whoFailed
	place
	digest
	firstSum
	frameLength = 128
)

// votes are what a machine wants: an end of the run, of the part that is tried, or soon.
type votes [stopped + 1]bool

// Shares reports whether there are other machines: one alone has nothing to add, and does what it does without a group.
func (g *Group) Shares() bool { return g != nil && g.Size != 1 }

// Begin has the first reduction compare what all machines must have alike.
func (g *Group) Begin(checksum uint64) { g.last ^= checksum }

// Run runs this machine's part, and sends the others how it ended. A result counts on all machines or on none.
func (g *Group) Run(part func() error) (err error) {
	if !g.Shares() {
		return part()
	}
	fails := true // by a panic, which goes on
	defer func() {
		if !g.over {
			g.over = true
			clear(g.frame[:])
			err = cmp.Or(err, g.agree(votes{failed: fails}, 0))
		}
	}()
	err = part()
	fails = err != nil
	return err
}

// Try runs a part that may fail on one machine alone: it then has failed on all, and the run goes on.
func Try[T any](j *Job, part func() (T, error)) (result T, err error) {
	if j.Group == nil {
		return part()
	}
	defer func() {
		switch failure := Recovered(recover()); {
		case failure == nil:
		case failure.Value != error(errAbandoned):
			panic(failure)
		case err == nil:
			err = errAbandoned
		}
	}()
	result, err = part()
	v := j.votes()
	v[abandoned] = err != nil
	j.Group.reduce(nil, v)
	return result, err
}

// reduce turns sums, and those that travel with them, into sums over all machines; it panics where the run is over.
func (g *Group) reduce(sums []float64, v votes) {
	if g.over {
		panic(&Panic{Value: fault.Defect("a reduction after the end of its run")})
	}
	clear(g.frame[:])
	var framed, vectors [][]float64
	place, length := firstSum, 0
	for _, part := range append(g.later, sums) {
		if length += len(part); len(part) > frameLength-place {
			vectors = append(vectors, part)
			continue
		}
		place += copy(g.frame[place:], part)
		framed = append(framed, part)
	}
	g.later = nil
	err := g.agree(v, length)
	place = firstSum
	for _, part := range framed {
		place += copy(part, g.frame[place:])
	}
	for _, part := range vectors {
		if err == nil {
			err = g.exchange(part)
		}
	}
	if err != nil {
		g.over = err != error(errAbandoned)
		panic(&Panic{Value: err})
	}
	g.done++
}

func (g *Group) exchange(values []float64) error {
	if err := g.Sum(values); err != nil {
		return fault.Group("the sum over the ranks has failed on rank %d of %d: %v", g.Rank, g.Size, err)
	}
	g.last = bits.RotateLeft64(g.last, 1) ^ Checksum(values)
	return nil
}

var errAbandoned = fault.Group("a part of the fit has failed on another machine")

// agree adds the frames of all machines, which reduce length numbers; it returns the end of the run, or nil.
func (g *Group) agree(v votes, length int) error {
	f, n := &g.frame, float64(g.Size)
	for k, wish := range v {
		if wish {
			f[k] = 1
		}
	}
	f[whoFailed] = f[failed] * float64(g.Rank)
	f[place] = n*n + float64(g.Rank)
	own := float64(uint32(Checksum([]float64{float64(g.done), float64(length), math.Float64frombits(g.last)})))
	f[digest] = own
	if err := g.exchange(f[:]); err != nil {
		return err
	}
	switch {
	case f[failed] == 1:
		return fault.Group("the fit has failed on rank %.0f of %d: see the error there", f[whoFailed], g.Size)
	case f[failed] > 1:
		return fault.Group("the fit has failed on ranks (%.0f of %d): see the errors there", f[failed], g.Size)
	case f[cancelled] > 0:
		return fault.ErrCancelled
	case f[abandoned] > 0:
		return errAbandoned
	case f[place] != n*(n*n+(n-1)/2):
		return fault.Group("the ranks are not 0 ... %d, each once and of size %d", g.Size-1, g.Size)
	case f[digest] != n*own && g.done == 0:
		return fault.Group("the ranks have different options, starts, numbers of features or kinds of rows (sparse and " +
			"dense)")
	case f[digest] != n*own:
		return fault.Group("the ranks differ at reduction %d: they got different results from the last sum, or run "+
			"different fits", g.done+1)
	}
	g.stopped = g.stopped || f[stopped] > 0
	return nil
}

// Checksum is a number that one changed bit changes.
func Checksum(values []float64) uint64 {
	sum := uint64(len(values))
	for _, v := range values {
		sum = bits.RotateLeft64((sum^math.Float64bits(v))*0x9e3779b97f4a7c15, 29)
	}
	return sum
}
