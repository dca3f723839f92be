//go:build coverage

/* The library of `make coverage` writes down at the end of the process which of its code has run, into the folder
 * GOCOVERDIR. A forked child cannot: it has none of the threads of Go. */
#include "_cgo_export.h"

#include <stdlib.h>
#include <unistd.h>

static pid_t loaded_by;

__attribute__((constructor)) static void remember(void) { loaded_by = getpid(); }

__attribute__((destructor)) static void write_down(void) {
  char *folder = getenv("GOCOVERDIR");
  if (folder != NULL && getpid() == loaded_by) go_write_coverage(folder);
}
