//go:build !amd64

package rows

// There are no loops: useLoops is false.

func inLoops[I index, V value](*Weights, int) rowDecider[I, V] {
	panic("rows: no loop for this processor")
}

func inOrderLoop[I index, V value]([]int, []I, []V, []float64, float64, []float64, int) bool {
	panic("rows: no loop for this processor")
}
