/* What the C tests share: a way to state what a call must answer, and a small problem that can be fitted. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewlabel.h"

enum { N_ROWS = 8, N_FEATURES = 4, N_VALUES = 16 };

/* Two groups of rows: the first half has features 0 and 1, the second half features 2 and 3; one label in each. */
typedef struct {
  int64_t indptr[N_ROWS + 1];
  int64_t indices[N_VALUES];
  double values[N_VALUES];
  int32_t labels[N_ROWS];
  double weights[N_ROWS];
  fewlabel_rows rows;
} problem;

static char error[1000];
#define ERROR error, (int64_t)sizeof error

static int failures, checks;

static void good_problem(problem *p) {
  const fewlabel_rows sparse =
      FEWLABEL_SPARSE_ROWS(N_ROWS, N_FEATURES, N_VALUES, p->indptr, p->indices, p->values);
  int i;
  memset(p, 0, sizeof *p);
  for (i = 0; i < N_ROWS; i++) {
    int first = i < N_ROWS / 2 ? 0 : 2;
    p->indptr[i + 1] = 2 * (i + 1);
    p->indices[2 * i] = first;
    p->indices[2 * i + 1] = first + 1;
    p->values[2 * i] = 1;
    p->values[2 * i + 1] = 1 + 0.01 * i;
    p->labels[i] = -1;
    p->weights[i] = 1;
  }
  p->labels[0] = 0;
  p->labels[N_ROWS - 1] = 1;
  p->rows = sparse;
}

static void complain(const char *file, int line, const char *what, const char *found) {
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, found);
  failures++;
}

/* Something that must hold. */
#define HOLDS(condition) (checks++, (condition) ? (void)0 : complain(__FILE__, __LINE__, #condition, "does not hold"))

/* A call that must succeed. */
#define WORKS(call) (checks++, (call) == FEWLABEL_OK ? (void)0 : complain(__FILE__, __LINE__, #call, error))

/* Labels of one column, without sets or probabilities. */
#define LABELS(codes) (&(const fewlabel_labels)FEWLABEL_LABELS(codes))

/* Fit, predict and free from the start to the end: what must go on working whatever happened before. */
static void library_is_usable(void) {
  problem p;
  int64_t model = 0;
  int32_t classes[N_ROWS];
  int i;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_predict(model, &p.rows, 2, classes, NULL, ERROR));
  for (i = 0; i < N_ROWS; i++) HOLDS(classes[i] == (i >= N_ROWS / 2));
  WORKS(fewlabel_free(model, ERROR));
}

/* A call that must give this status and a message with this text in it. Afterwards the library must be usable. */
#define FAILS(code, text, call) \
  (checks++, memset(error, 'x', sizeof error), expect_failure(__FILE__, __LINE__, #call, (call), #code, code, text))

static void expect_failure(const char *file, int line, const char *call, int32_t status, const char *name,
                           int32_t code, const char *text) {
  char found[1200];
  int terminated = memchr(error, '\0', sizeof error) != NULL;
  snprintf(found, sizeof found, "status %d, %s; expected %s, \"%s\"", (int)status,
           terminated ? error : "no NUL in the error buffer", name, text);
  if (status != code || !terminated || strstr(error, text) == NULL) {
    complain(file, line, call, found);
  } else if (getenv("VERBOSE") != NULL) {
    printf("%-22s %s\n", name + strlen("FEWLABEL_"), error);
  }
  library_is_usable();
}

/* Last line of a test program. */
static int conclude(const char *program) {
  HOLDS(fewlabel_live_handles() == 0);
  printf("%s: %d checks, %d failed\n", program, checks, failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
