package labeling

import (
	"math"
	"slices"

	"github.com/fewlabel/fewlabel/engine/vector"
	"github.com/fewlabel/fewlabel/engine/work"
)

// maxMovers of a pair of classes are tried from labels; then soft labels are faster.
const maxMovers = 128

// withCounts is transport for the rows of all machines, from labels with the counts have.
//
//	Problem  as in transport; every machine has a part of the rows, which may be empty
//	Symbols  as in transport; S rows of all classes beyond their counts; k movers kept of every pair of classes
//	Source   ours: of every pair of classes (a, b) all machines get from each the k = S + 2 rows of a that move to b at
//	         the least cost, and run transport on these. Potentials are proven for all rows where every arc of the class
//	         graph is at most as long as the k-th move of any machine: the rows left out cost more
//	Stops    a proof; without one k grows fourfold up to limit: then it gives nil
//	Cost     m² numbers and k m² rows of each machine at most; on one machine as transport, which needs no k
func withCounts(job *work.Job, labels []int32, costs []float64, counts, have []int, keep, limit int) *classGraph {
	if job.Group == nil {
		return transport(labels, costs, counts)
	}
	for ; keep <= limit; keep *= 4 {
		if g := nearBorders(job, labels, costs, counts, have, keep); g != nil {
			return g
		}
	}
	return nil
}

// Counts turns shares, which need not sum to 1, into whole counts that sum to n by the largest remainders, the first of
// equal ones first; a class with share 0 gets no row. Remainders that differ by rounding alone count as equal.
func Counts(shares []float64, n int) []int {
	total, left := vector.Sum(shares), n
	counts, remainders, order := make([]int, len(shares)), make([]float64, len(shares)), []int(nil)
	for y, share := range shares {
		if share > 0 {
			due := math.Round(share/total*float64(n)*1e9) / 1e9
			counts[y] = int(due)
			remainders[y] = math.Round((due - math.Floor(due)) * 1e8)
			left -= counts[y]
			order = append(order, y)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(remainders[b]) - int(remainders[a]) })
	for _, y := range order[:left] {
		counts[y]++
	}
	return counts
}

// countsOf counts the rows of each class over all machines; labels below 0 are none.
func countsOf(job *work.Job, labels []int32, classes int) []int {
	sums, counts := make([]float64, classes), make([]int, classes)
	for _, y := range labels {
		if y >= 0 {
			sums[y]++
		}
	}
	job.Reduce(sums)
	for y, sum := range sums {
		counts[y] = int(sum)
	}
	return counts
}

// surplusOf is the number of rows that classes have beyond their counts.
func surplusOf(have, counts []int) (surplus int) {
	for y, count := range counts {
		surplus += max(0, have[y]-count)
	}
	return surplus
}

// nearBorders runs transport on the cheapest movers of all machines, and takes over its labels; without a proof for all
// rows it gives nil and leaves labels as they are. have are the counts before.
func nearBorders(job *work.Job, labels []int32, costs []float64, counts, have []int, keep int) *classGraph {
	m := len(counts)
	movers, limits := cheapestMovers(job, labels, costs, m, keep)
	var sent []float64 // 1 + m numbers for each mover: its label and its costs
	for _, i := range movers {
		sent = append(append(sent, float64(labels[i])), costs[int(i)*m:(int(i)+1)*m]...)
	}
	sent, first := job.Gather(sent)
	moved, movedCosts := []int32(nil), []float64(nil)
	fixed := slices.Clone(have) // counts of the rows left out
	for row := range slices.Chunk(sent, 1+m) {
		moved, movedCosts = append(moved, int32(row[0])), append(movedCosts, row[1:]...)
		fixed[int(row[0])]--
	}
	free := make([]int, m)
	for y := range free {
		if free[y] = counts[y] - fixed[y]; free[y] < 0 || free[y] == 0 && fixed[y] > 0 {
			return nil
		}
	}
	g := transport(moved, movedCosts, free)
	for _, a := range g.live {
		for _, b := range g.live {
			if a != b && g.length[a*m+b] > limits[a*m+b] {
				return nil
			}
		}
	}
	for k, i := range movers {
		labels[i] = moved[first/(1+m)+k]
	}
	return g
}

// cheapestMovers are the cheapest rows of this machine for each pair of classes, and its least limit of all machines.
func cheapestMovers(job *work.Job, labels []int32, costs []float64, m, keep int) (rows []int32, limits []float64) {
	borders := slices.Repeat([]border{{limit: math.Inf(1), keep: keep}}, m*m)
	for a := range m {
		borders[a*m+a].limit = math.Inf(-1)
	}
	for i, a := range labels {
		row := costs[i*m : (i+1)*m]
		offer(borders[int(a)*m:], int32(i), row[a], row)
	}
	for k := range borders {
		b := &borders[k]
		if b.sort(); len(b.movers) > keep {
			b.trim()
		}
		for _, c := range b.movers {
			rows = append(rows, c.row)
		}
		limits = append(limits, b.limit)
	}
	for _, machine := range job.Each(limits...) {
		for k, limit := range machine {
			limits[k] = min(limits[k], limit)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows), limits
}
