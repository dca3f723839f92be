package sample

// Need is what refuses fits for lack of memory.
var Need = &need
