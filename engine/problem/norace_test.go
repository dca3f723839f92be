//go:build !race

package problem_test

const raced = false
