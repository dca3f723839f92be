package work

// Reducer adds the sums of several machines. A run on one machine has nothing to add: nil. It is the one seam that a
// distributed run would replace: every sum over rows passes through a Job's Sum, or is handed to Reduce.
type Reducer interface {
	Reduce(sums []float64)
}

const (
	rowsPerBlock = 4096
	fewRows      = 32768 // waking a second thread takes longer than a few operations on this many rows
)

// runRows runs blocks of n rows, on one thread where there are few.
func (j *Job) runRows(n int, task func(block int)) {
	blocks := (n + rowsPerBlock - 1) / rowsPerBlock
	if n > fewRows {
		j.Run(blocks, task)
		return
	}
	for b := range blocks {
		task(b)
	}
}

// Sum adds a few numbers over the rows 0 ... n-1. The rows are cut into blocks of fixed size; add puts the sums
// over rows lo ... hi-1 of one block into its dst (zero at the start), and the blocks are added to dst in order.
func (j *Job) Sum(n int, dst []float64, add func(lo, hi int, dst []float64)) {
	blocks := (n + rowsPerBlock - 1) / rowsPerBlock
	parts := make([]float64, blocks*len(dst))
	j.runRows(n, func(b int) {
		add(b*rowsPerBlock, min(n, (b+1)*rowsPerBlock), parts[b*len(dst):(b+1)*len(dst)])
	})
	clear(dst)
	for b := range blocks {
		for k := range dst {
			dst[k] += parts[b*len(dst)+k]
		}
	}
	j.Reduce(dst)
}

// Reduce adds the sums of other machines to these.
func (j *Job) Reduce(sums []float64) {
	if j.Reducer != nil {
		j.Reducer.Reduce(sums)
	}
}

// EachRow calls task for blocks of the rows 0 ... n-1.
func (j *Job) EachRow(n int, task func(lo, hi int)) {
	j.runRows(n, func(b int) { task(b*rowsPerBlock, min(n, (b+1)*rowsPerBlock)) })
}
