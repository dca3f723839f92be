//go:build coverage

package main

// #include "capi.h"
import "C"

import (
	"fmt"
	"os"
	"runtime/coverage"
)

// go_write_coverage writes the counters of a library built with -cover into a folder. See coverage.c.
//
//export go_write_coverage
func go_write_coverage(folder *C.char) {
	for _, write := range []func(string) error{coverage.WriteMetaDir, coverage.WriteCountersDir} {
		if err := write(C.GoString(folder)); err != nil {
			fmt.Fprintln(os.Stderr, "coverage:", err)
		}
	}
}
