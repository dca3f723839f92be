/* A problem whose fit takes seconds, and the time. */
#ifndef LONG_H
#define LONG_H

#include <time.h>

#include "check.h"

enum { LONG_ROWS = 200000, LONG_FEATURES = 20000, PER_ROW = 30 };

typedef struct {
  int32_t *indptr, *indices, *labels;
  float *values;
  fewlabel_rows rows;
} long_problem;

static uint32_t dice(uint32_t sides) {
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33) % sides;
}

static fewlabel_rows sparse_rows_of(const long_problem *p) {
  const fewlabel_rows rows = FEWLABEL_SPARSE_ROWS(LONG_ROWS, LONG_FEATURES, (int64_t)LONG_ROWS * PER_ROW, p->indptr,
                                                  p->indices, p->values);
  return rows;
}

static void make_long_problem(long_problem *p) {
  int64_t i, n_values = (int64_t)LONG_ROWS * PER_ROW;
  p->indptr = malloc((LONG_ROWS + 1) * sizeof *p->indptr);
  p->indices = malloc((size_t)n_values * sizeof *p->indices);
  p->values = malloc((size_t)n_values * sizeof *p->values);
  p->labels = malloc(LONG_ROWS * sizeof *p->labels);
  for (i = 0; i <= LONG_ROWS; i++) p->indptr[i] = (int32_t)(i * PER_ROW);
  for (i = 0; i < n_values; i++) {
    p->indices[i] = (int32_t)dice(1 + dice(LONG_FEATURES));
    p->values[i] = 0.2f;
  }
  for (i = 0; i < LONG_ROWS; i++) p->labels[i] = i < 100 ? (int32_t)(i % 2) : -1;
  p->rows = sparse_rows_of(p);
}

static void free_long_problem(long_problem *p) {
  free(p->indptr);
  free(p->indices);
  free(p->values);
  free(p->labels);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_ms(long milliseconds) {
  struct timespec t;
  t.tv_sec = milliseconds / 1000;
  t.tv_nsec = milliseconds % 1000 * 1000000;
  nanosleep(&t, NULL);
}

#endif
