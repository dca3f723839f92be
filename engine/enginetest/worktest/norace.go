//go:build !race

package worktest

const Raced = false
