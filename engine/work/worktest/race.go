//go:build race

package worktest

// Raced reports that the race detector watches, which makes a fit about twenty times slower. Races are in what runs in
// parallel: a few short fits on many rows go through all of it, and the rest is tried with a setting for each method.
const Raced = true
