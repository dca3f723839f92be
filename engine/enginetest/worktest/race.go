//go:build race

package worktest

// Raced reports whether the race detector watches: it makes a fit about twenty times slower. Races are in what runs in
// parallel: a few short fits on many rows go through all of it, and the rest is tried with a setting for each method.
const Raced = true
