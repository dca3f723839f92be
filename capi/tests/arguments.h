/* Random arguments for calls.c: the state of a thread that calls, its dice, and what it hands over. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <math.h>

#include "check.h"

enum { MOST_ROWS = 24, MOST_FEATURES = 10, MOST_VALUES = 6 * MOST_ROWS, MOST_CLASSES = 5 };
enum { MOST_STRIDE = MOST_FEATURES + 2, MOST_TABLE = MOST_ROWS * MOST_STRIDE };
enum { MOST_LIVE = 12, MOST_STALE = 32, N_OUTPUTS = 5, ROOM = 8192, FENCE = 64, PATTERN = 0xA5 };
enum { NO_HANDLE, MODEL, DATA, CHAIN };
enum { N_STATUSES = FEWLABEL_NO_MEMORY + 1 };

enum { OPTIONS, FIT, FIT_DENSE, CLASS_PRIOR, CLASS_PRIOR_DENSE, SHAPE, REPORT, ARRAY, DECISION, PREDICT, DECISION_DENSE,
       PREDICT_DENSE, DECISION_WITH, ASSEMBLE, SAVE, LOAD, READ, SIZES, COPY, WRITE, STRUCTURE, SEQUENCE_OPTIONS,
       SEQUENCE_FIT, SEQUENCE_ASSEMBLE, SEQUENCE_DECODE, SEQUENCE_SCORES, FREE, N_FUNCTIONS };
static const char *const function_name[] = {"options", "fit", "fit_dense", "class_prior", "class_prior_dense", "shape",
                                            "report", "array", "decision", "predict", "decision_dense",
                                            "predict_dense", "decision_with", "assemble", "save", "load",
                                            "svmlight_read", "svmlight_shape", "svmlight_copy", "svmlight_write",
                                            "structure", "sequence_options", "sequence_fit", "sequence_assemble",
                                            "sequence_decode", "sequence_scores", "free"};

/* Everything that calls only read. The arrays have 8 bytes for each element, whatever type is promised. */
typedef struct {
  int64_t indptr[MOST_ROWS + 1], indices[MOST_VALUES], lengths[MOST_ROWS];
  double values[MOST_VALUES], weights[MOST_ROWS], shares[MOST_CLASSES];
  int32_t labels[MOST_ROWS];
  fewlabel_csr rows;
  double table[MOST_TABLE]; /* of the dense rows, or weights */
  fewlabel_dense dense;
  char text[400]; /* options or a description */
} inputs;

/* Everything that calls write, with a fence behind it. */
typedef union {
  double aligned;
  unsigned char bytes[ROOM + FENCE];
} output;

/* One thread that calls. Its handles and files are its own. */
typedef struct {
  uint64_t state, seed;
  long n_calls, k;
  int alone;        /* no other thread has handles */
  int n_sequences;
  int spoiled;      /* an argument of the call is wrong, or may be */
  int wrong_handle; /* the handle of the call is not live, or of the other kind */
  int64_t live[MOST_LIVE], n_features[MOST_LIVE], stale[MOST_STALE];
  int kind[MOST_LIVE], n_live, n_stale, faults;
  char models[2][40], data[2][40], garbage[40]; /* paths */
  inputs in, before;
  output out[N_OUTPUTS], message;
  char *message_at; /* the error buffer of the call */
  int64_t message_size;
  long count[N_FUNCTIONS][N_STATUSES];
} caller;

/* ---- Dice -------------------------------------------------------------------------------------------------------- */

static int below(caller *c, int sides) {
  c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((c->state >> 33) % (uint64_t)sides);
}

static int one_in(caller *c, int n) { return below(c, n) == 0; }

/* Now and then something is wrong, and then the call may fail. */
static int spoil(caller *c, int n) { return one_in(c, n) ? c->spoiled = 1 : 0; }

#define ONE_OF(c, array) ((array)[below(c, (int)(sizeof(array) / sizeof *(array)))])

static int64_t odd_size(caller *c) {
  static const int64_t odd[] = {-1, 0, 1, 3, INT64_MIN, INT64_MAX, INT64_C(1) << 48, INT32_MIN, INT32_MAX};
  return ONE_OF(c, odd);
}

static double odd_number(caller *c) {
  static const double odd[] = {0, -0.0, 1e300, -1e300, 1e-300, 4e-324, 1.7e308, 1e20, -1, -1e-9};
  int k = below(c, 12);
  return k == 10 ? NAN : k == 11 ? -INFINITY : odd[k % 10];
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

#define OR_NULL(c, pointer) (spoil(c, 40) ? NULL : (pointer))

static int64_t handle(caller *c, int kind) {
  static const int64_t made_up[] = {0, -1, INT64_MIN, INT64_MAX, INT64_C(1000000000000)};
  const int wrong = one_in(c, 6), start = c->n_live > 0 ? below(c, c->n_live) : 0;
  int k;
  for (k = 0; k < c->n_live; k++) {
    const int at = (start + k) % c->n_live;
    if (wrong && one_in(c, 2)) break;
    if ((c->kind[at] == kind) != wrong) {
      c->wrong_handle = c->spoiled = wrong;
      return c->live[at];
    }
  }
  c->wrong_handle = c->spoiled = 1;
  return c->n_stale > 0 && one_in(c, 2) ? c->stale[below(c, c->n_stale)] : ONE_OF(c, made_up);
}

static int place_of(const caller *c, int64_t wanted) {
  int k;
  for (k = 0; k < c->n_live; k++) {
    if (c->live[k] == wanted) return k;
  }
  return -1;
}

static const char *read_path(caller *c, char (*usual)[40]) {
  const char *const odd[] = {"", ".", "no-such-folder/f", "calls-missing", c->garbage, c->models[0], c->data[0]};
  return spoil(c, 6) ? OR_NULL(c, ONE_OF(c, odd)) : usual[below(c, 2)];
}

static const char *written_path(caller *c, char (*usual)[40]) {
  const char *const odd[] = {"", ".", "no-such-folder/f", c->garbage};
  return spoil(c, 6) ? OR_NULL(c, ONE_OF(c, odd)) : usual[below(c, 2)];
}

static int32_t threads(caller *c) {
  static const int32_t odd[] = {0, -1, INT32_MIN};
  return spoil(c, 30) ? ONE_OF(c, odd) : one_in(c, 20) ? INT32_MAX : 1 + below(c, 3);
}

static void put_integer(int64_t *array, int narrow, int at, int value) {
  if (narrow) {
    ((int32_t *)array)[at] = value;
  } else {
    array[at] = value;
  }
}

static double odd_value(caller *c) { return c->spoiled = 1, odd_number(c); }

/* Labels and weights of rows, each class with a label, and the shares of the classes. */
static void make_labels(caller *c, int n_rows, int n_classes) {
  inputs *in = &c->in;
  int i;
  for (i = 0; i < n_rows; i++) {
    in->labels[i] = i < n_classes ? i : one_in(c, 3) ? i % n_classes : -1;
    in->weights[i] = spoil(c, 400) ? odd_number(c) : below(c, 3);
  }
  for (i = 0; i < n_classes; i++) in->shares[i] = 1.0 / n_classes;
}

/* Rows of two to five classes with a word for each, in any of the types. */
static void make_rows(caller *c, int n_features) {
  static const int32_t types[] = {FEWLABEL_INT32, FEWLABEL_INT64};
  inputs *in = &c->in;
  const int n_rows = 6 + below(c, MOST_ROWS - 5), n_classes = 2 + below(c, MOST_CLASSES - 1);
  const int narrow_ends = below(c, 2), narrow_indices = below(c, 2), narrow_values = below(c, 2);
  int i, k = 0;
  memset(in, 0, sizeof *in);
  for (i = 0; i < n_rows; i++) {
    const int row_end = k + below(c, 6);
    for (; k < row_end; k++) {
      const int index = one_in(c, 2) ? i % n_classes % n_features : below(c, n_features);
      const double value = one_in(c, 400) ? odd_value(c) : below(c, 9) / 4.0 - 0.5;
      put_integer(in->indices, narrow_indices, k, index);
      if (narrow_values) {
        ((float *)in->values)[k] = (float)value;
      } else {
        in->values[k] = value;
      }
    }
    put_integer(in->indptr, narrow_ends, i + 1, k);
  }
  make_labels(c, n_rows, n_classes);
  in->rows.n_rows = n_rows;
  in->rows.n_features = n_features;
  in->rows.n_values = k;
  in->rows.indptr = in->indptr;
  in->rows.indices = in->indices;
  in->rows.values = in->values;
  in->rows.indptr_type = types[!narrow_ends];
  in->rows.index_type = types[!narrow_indices];
  in->rows.value_type = narrow_values ? FEWLABEL_FLOAT32 : FEWLABEL_FLOAT64;
}

/* Dense rows of either type, some with room behind each row. */
static void make_dense(caller *c, int n_features) {
  inputs *in = &c->in;
  const int n_rows = 6 + below(c, MOST_ROWS - 5), n_classes = 2 + below(c, MOST_CLASSES - 1);
  const int stride = n_features + below(c, MOST_STRIDE - MOST_FEATURES + 1), narrow = below(c, 2);
  int i, j;
  memset(in, 0, sizeof *in);
  for (i = 0; i < n_rows; i++) {
    for (j = 0; j < stride; j++) {
      const double value = one_in(c, 1000) ? odd_value(c) : below(c, 9) / 4.0 - 0.5 + (i % n_classes == j);
      if (narrow) {
        ((float *)in->table)[i * stride + j] = (float)value;
      } else {
        in->table[i * stride + j] = value;
      }
    }
  }
  make_labels(c, n_rows, n_classes);
  in->dense.n_rows = n_rows;
  in->dense.n_features = n_features;
  in->dense.row_stride = stride;
  in->dense.values = in->table;
  in->dense.value_type = narrow ? FEWLABEL_FLOAT32 : FEWLABEL_FLOAT64;
}

/* Weights of up to five outputs for any features that rows can have. */
static void make_weights(caller *c) {
  int k;
  for (k = 0; k < MOST_TABLE; k++) c->in.table[k] = one_in(c, 400) ? odd_number(c) : below(c, 9) - 4.0;
}

/* Spoil the rows in one way. Sizes only shrink or are impossible: a size that is too large would be a bad pointer. */
static void spoil_rows(caller *c) {
  fewlabel_csr *rows = &c->in.rows;
  const int at = below(c, (int)rows->n_rows);
  c->spoiled = 1;
  switch (below(c, 9)) {
    case 0: rows->n_rows = one_in(c, 2) ? at : -1 - at; break;
    case 1: rows->n_features = one_in(c, 2) ? odd_size(c) : 1; break;
    case 2: rows->n_values = one_in(c, 2) ? odd_size(c) : rows->n_values / 2; break;
    case 3: rows->indptr_type = below(c, 7) - 1; break;
    case 4: rows->index_type = below(c, 7) - 1; break;
    case 5: rows->value_type = below(c, 7) - 1; break;
    case 6: c->in.indptr[at] = odd_size(c); break;
    case 7: c->in.indices[at] = odd_size(c); break;
    default: *(one_in(c, 3) ? &rows->indptr : one_in(c, 2) ? &rows->indices : &rows->values) = NULL;
  }
}

/* Spoil the dense rows in one way; sizes as there. */
static void spoil_dense(caller *c) {
  fewlabel_dense *dense = &c->in.dense;
  static const int64_t impossible[] = {-1, 0, INT64_MIN, INT64_MAX, INT64_C(1) << 48};
  c->spoiled = 1;
  switch (below(c, 5)) {
    case 0: dense->n_rows = one_in(c, 2) ? below(c, (int)dense->n_rows) : ONE_OF(c, impossible); break;
    case 1: dense->n_features = one_in(c, 2) ? 1 : ONE_OF(c, impossible); break;
    case 2: dense->row_stride = one_in(c, 2) ? dense->n_features - 1 : ONE_OF(c, impossible); break;
    case 3: dense->value_type = below(c, 7) - 1; break;
    default: dense->values = NULL;
  }
}

/* The number of features of the model of a handle, if it is one. */
static int features_for(caller *c, int64_t model) {
  const int place = place_of(c, model);
  const int any = place < 0 || c->kind[place] == DATA || spoil(c, 10);
  return any ? 1 + below(c, MOST_FEATURES) : (int)c->n_features[place];
}

static void make_rows_for(caller *c, int64_t model) {
  make_rows(c, features_for(c, model));
  if (one_in(c, 4)) spoil_rows(c);
}

static void make_dense_for(caller *c, int64_t model) {
  make_dense(c, features_for(c, model));
  if (one_in(c, 4)) spoil_dense(c);
}

/* Options that may go together or not. No weight above 1e100: at 1e200 fits of many classes did not end within seconds
 * (they can be cancelled, but nothing here does). */
static void make_options(caller *c) {
  static const char *const entries[] = {
      "\"method\": \"switching\"", "\"method\": \"pair_switching\"", "\"method\": \"annealing\"", "\"method\": 3",
      "\"loss\": \"maxent\"", "\"loss\": \"crammer_singer\"", "\"loss\": \"hinge\"", "\"loss\": null",
      "\"alpha\": 1e-300", "\"alpha\": 1e300", "\"alpha\": -1", "\"alpha\": 0.1", "\"alpha\": 1e999",
      "\"unlabeled_weight\": 0", "\"unlabeled_weight\": 1e9", "\"unlabeled_weight\": 1e100", "\"balance\": \"mean\"",
      "\"balance\": \"labels\"", "\"balance\": \"share\"", "\"class_prior\": [0.5, 0.5]",
      "\"class_prior\": [0.2, 0.2, 0.2, 0.2, 0.2]", "\"class_prior\": [1e-300, 1]", "\"class_prior\": []",
      "\"class_prior\": [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]", "\"hierarchy\": [2, 3, -1, -1]",
      "\"hierarchy\": [3, 3, -1, -1]", "\"hierarchy\": [0, 0]", "\"hierarchy\": [4, 4, 5, 5, -1, -1]",
      "\"hierarchy\": []", "\"hierarchy\": [9e9]", "\"fit_intercept\": false", "\"max_switches\": 1",
      "\"max_iter\": 1", "\"max_iter\": 0", "\"max_iter\": 1e30", "\"tol\": 1e-300", "\"tol\": 1e300", "\"tol\": 0",
      "\"threads\": 3", "\"threads\": 1000000000", "\"threads\": -3", "\"random_state\": 7", "\"calibrate\": true",
      "\"aplha\": 1", "}{", "\xff"};
  char *text = c->in.text;
  int k;
  c->spoiled = 1;
  strcpy(text, one_in(c, 30) ? "[" : "{");
  for (k = below(c, 4); k >= 0; k--) {
    strcat(text, ONE_OF(c, entries));
    if (k > 0) strcat(text, ", ");
  }
  if (!one_in(c, 30)) strcat(text, "}");
}

/* Options of the class shares that are right or not. */
static void make_share_options(caller *c) {
  static const char *const texts[] = {
      "{\"n_bootstraps\": 3, \"random_state\": 5}", "{\"confidence_level\": 0.5, \"threads\": 2}",
      "{\"fit_intercept\": false}", "{\"n_bootstraps\": 1}", "{\"confidence_level\": 1}", "{\"alpha\": 1}", "{"};
  c->spoiled = 1;
  strcpy(c->in.text, ONE_OF(c, texts));
}

/* Options of a structure that are right or not. */
static void make_structure_options(caller *c) {
  static const char *const texts[] = {
      "{\"solver\": \"squared\", \"n_iter\": 2}", "{\"solver\": \"squared\", \"alpha\": 1e-300}",
      "{\"unit\": false, \"threads\": 2}", "{\"n_iter\": 0}", "{\"n_iter\": 1e9}", "{\"tol\": 0}",
      "{\"solver\": 3}", "{"};
  strcpy(c->in.text, ONE_OF(c, texts));
}

/* Lengths of sequences that make up the rows, or that do not. */
static void make_lengths(caller *c) {
  int64_t left = c->in.rows.n_rows > 0 && c->in.rows.n_rows <= MOST_ROWS ? c->in.rows.n_rows : 1;
  c->n_sequences = 0;
  while (left > 0) {
    const int64_t length = 1 + below(c, (int)(left < 5 ? left : 5));
    c->in.lengths[c->n_sequences++] = length;
    left -= length;
  }
  if (spoil(c, 15)) c->in.lengths[below(c, c->n_sequences)] = odd_size(c);
}

/* Options of sequences that may go together or not. */
static void make_sequence_options(caller *c) {
  static const char *const texts[] = {
      "{\"loss\": \"crf\", \"solver\": \"lbfgs\", \"max_iter\": 20}", "{\"loss\": \"huber\", \"solver\": \"lbfgs\"}",
      "{\"loss\": \"soft_hinge\", \"rho\": 100, \"alpha\": 1e-300}", "{\"loss\": \"huber\", \"cost\": \"zero_one\"}",
      "{\"method\": \"gradient\", \"threads\": 3}", "{\"method\": \"posterior\", \"unlabeled_weight\": 1e6}",
      "{\"method\": \"posterior\", \"class_prior\": [0.5, 0.5], \"penalty_weight\": 1e-300}",
      "{\"method\": \"posterior\", \"class_prior\": [1e-300, 1]}", "{\"method\": \"posterior\", \"solver\": \"lbfgs\"}",
      "{\"forbidden_transitions\": [0, 1]}", "{\"forbidden_transitions\": [-1, 0, 1, -1]}",
      "{\"forbidden_transitions\": [9, 1]}", "{\"forbidden_transitions\": [1]}", "{\"max_iter\": -1}",
      "{\"alpha\": 1e100}", "{\"loss\": 3}", "{"};
  c->spoiled = 1;
  strcpy(c->in.text, ONE_OF(c, texts));
}

/* A model of sequences: values, weights, shares and table are its numbers. */
static void make_chain_description(caller *c) {
  static const char *const wrong[] = {"", "{}", "{\"n_tags\": -2, \"n_features\": 3}", "{\"n_tags\": 2}",
                                      "{\"n_tags\": 2, \"n_features\": 3000000000}",
                                      "{\"n_tags\": 1e99, \"n_features\": 1}"};
  int k;
  for (k = 0; k < MOST_TABLE; k++) c->in.table[k] = spoil(c, 4000) ? odd_number(c) : below(c, 9) - 4.0;
  for (k = 0; k < MOST_ROWS; k++) c->in.weights[k] = below(c, 3);
  sprintf(c->in.text, "{\"n_tags\": %d, \"n_features\": %d}", 1 + below(c, 4), 1 + below(c, MOST_FEATURES));
  if (spoil(c, 6)) strcpy(c->in.text, ONE_OF(c, wrong));
}

/* A model's description, sometimes one that is refused, and arrays that are long enough for all that are not. */
static void make_description(caller *c) {
  static const char *const wrong[] = {"", "{}", "[]", "{\"n_classes\": -2, \"n_features\": 3}",
                                      "{\"n_classes\": 2, \"n_features\": 0}", "{\"n_classes\": 1e99}",
                                      "{\"n_classes\": 3, \"n_features\": 3000000000}", "{\"n_klasses\": 2}",
                                      "{\"n_classes\": 3, \"n_features\": 2, \"n_outputs\": 1}"};
  int k, n_classes = 1 + below(c, MOST_CLASSES);
  for (k = 0; k < MOST_VALUES; k++) c->in.values[k] = spoil(c, 2000) ? odd_number(c) : below(c, 9) - 4.0;
  for (k = 0; k < MOST_ROWS; k++) c->in.weights[k] = spoil(c, 400) ? odd_number(c) : below(c, 3);
  for (k = 0; k < MOST_CLASSES; k++) c->in.shares[k] = k < n_classes ? 1.0 / n_classes : 0;
  sprintf(c->in.text, "{\"n_classes\": %d, \"n_features\": %d}", n_classes, 1 + below(c, MOST_FEATURES));
  if (spoil(c, 6)) strcpy(c->in.text, ONE_OF(c, wrong));
}

#endif
