//go:build !amd64

package vector

func expLoop([]float64) bool { return false }
