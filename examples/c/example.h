/* What the examples share: how they end on an error, memory, and a made-up text collection. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewlabel.h"

/* Every call gets this buffer; after a failure it holds the reason. The buffer belongs to the caller, so threads that
 * work at the same time use one each. */
static char error[1000];

/* End the program with a message if a call has failed. */
static inline void need(int32_t status, const char *what) {
  if (status == FEWLABEL_OK) return;
  fprintf(stderr, "%s: status %d: %s\n", what, (int)status, error);
  exit(EXIT_FAILURE);
}

/* End the program with a message if something does not hold. */
static inline void ensure(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  exit(EXIT_FAILURE);
}

/* Zeroed memory for `count` elements. */
#define NEW(type, count) ((type *)room_for(count, sizeof(type)))

static inline void *room_for(int64_t count, size_t size) {
  void *memory = calloc(count > 0 ? (size_t)count : 1, size);
  ensure(memory != NULL, "out of memory");
  return memory;
}

/* Rows in the form that every call takes, and a class number or -1 (no label) for each. */
typedef struct {
  int64_t *indptr;
  int32_t *indices;
  double *values;
  int32_t *labels;
  fewlabel_rows rows; /* has the sizes, and points to the arrays above */
} dataset;

static inline void new_dataset(dataset *d, int64_t n_rows, int64_t n_features, int64_t n_values) {
  d->indptr = NEW(int64_t, n_rows + 1);
  d->indices = NEW(int32_t, n_values);
  d->values = NEW(double, n_values);
  d->labels = NEW(int32_t, n_rows);
  const fewlabel_rows rows = FEWLABEL_SPARSE_ROWS(n_rows, n_features, n_values, d->indptr, d->indices, d->values);
  d->rows = rows;
}

static inline void free_dataset(dataset *d) {
  free(d->indptr);
  free(d->indices);
  free(d->values);
  free(d->labels);
}

/* ---- The made-up collection -------------------------------------------------------------------------------------- */

enum { N_WORDS = 20, VOCABULARY = 100 }; /* words of a document; different words that a topic has */

static inline int dice(int sides) {
  static uint64_t state = 42;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((state >> 33) % (uint64_t)sides);
}

static inline int by_number(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* A document of a topic: of four words one is of its topic, one of its group of topics and two are of any text. The
 * first words of a vocabulary come more often, as in any language. The row gets length 1, so that a long document
 * weighs no more than a short one. The result is the number of different words. */
static inline int draw_document(int topic, int n_topics, int topics_a_group, int32_t *indices, double *values) {
  const int group = n_topics + 1 + topic / topics_a_group;
  int words[N_WORDS], n = 0, k;
  double squares = 0;
  for (k = 0; k < N_WORDS; k++) {
    int vocabulary = k % 4 == 0 ? topic : k % 4 == 1 ? group : n_topics;
    words[k] = VOCABULARY * vocabulary + dice(1 + dice(VOCABULARY));
  }
  qsort(words, N_WORDS, sizeof *words, by_number);
  for (k = 0; k < N_WORDS; k++) {
    if (k == 0 || words[k] != words[k - 1]) values[n++] = 0;
    indices[n - 1] = words[k];
    values[n - 1] += 1; /* how often the word occurs */
  }
  for (k = 0; k < n; k++) squares += values[k] * values[k];
  for (k = 0; k < n; k++) values[k] /= sqrt(squares);
  return n;
}

/* Documents of all topics in turn, row i of topic i % n_topics; the first n_labeled have their label. */
static inline void make_documents(dataset *d, int n_rows, int n_topics, int topics_a_group, int n_labeled) {
  const int n_groups = (n_topics + topics_a_group - 1) / topics_a_group;
  int i;
  new_dataset(d, n_rows, VOCABULARY * (n_topics + 1 + n_groups), (int64_t)n_rows * N_WORDS);
  for (i = 0; i < n_rows; i++) {
    const int64_t at = d->indptr[i];
    d->indptr[i + 1] = at + draw_document(i % n_topics, n_topics, topics_a_group, d->indices + at, d->values + at);
    d->labels[i] = i < n_labeled ? i % n_topics : -1;
  }
  d->rows.n_values = d->indptr[n_rows];
}

#endif
