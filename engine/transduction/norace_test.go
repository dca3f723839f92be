//go:build !race

package transduction

const raced = false
