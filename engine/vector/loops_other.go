//go:build !amd64

package vector

func expLoop([]float64) (done int) { return 0 }

func addLoop([]float64, float64, []float64) (done int) { return 0 }

func scaleLoop([]float64, float64) (done int) { return 0 }

func maxLoop(a []float64) (largest float64, done int) { return a[0], 0 }
