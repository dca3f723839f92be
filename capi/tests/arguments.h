/* Random arguments for calls.c: the state of a thread that calls, its dice, and what it hands over. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <math.h>

#include "../functions.h"
#include "check.h"

enum { MOST_ROWS = 24, MOST_FEATURES = 10, MOST_VALUES = 6 * MOST_ROWS, MOST_CLASSES = 5 };
enum { MOST_STRIDE = MOST_FEATURES + 2, MOST_TABLE = MOST_ROWS * MOST_STRIDE };
enum { MOST_PARTS = 6, MOST_LIVE = 12, MOST_STALE = 32, N_OUTPUTS = 5, ROOM = 8192, FENCE = 64, PATTERN = 0xA5 };
enum { N_STATUSES = FEWLABEL_NO_MEMORY + 1 };

/* The functions, and the declarations of their arguments, of the table of the library. */
#define NUMBER(function, is_long) CALL_##function,
#define IN_WORDS(function, is_long) #function,
#define DECLARATION(type, name) #type " " #name ";"
#define DECLARATIONS(function, is_long) function##_ARGUMENTS(DECLARATION),
enum function { FUNCTIONS(NUMBER) };
static const char *const function_name[] = {FUNCTIONS(IN_WORDS)};
static const char *const arguments_of[] = {FUNCTIONS(DECLARATIONS)};
enum { N_FUNCTIONS = sizeof function_name / sizeof *function_name };

static int takes(int function, const char *declaration) { return strstr(arguments_of[function], declaration) != NULL; }

/* Everything that calls only read. The arrays have 8 bytes for each element, whatever type is promised. */
typedef struct {
  int64_t indptr[MOST_ROWS + 1], indices[MOST_VALUES], lengths[MOST_ROWS];
  double values[MOST_VALUES], weights[MOST_ROWS], shares[MOST_CLASSES];
  int32_t labels[MOST_ROWS];
  double dense[MOST_TABLE], table[MOST_TABLE]; /* of dense rows, and weights */
  fewlabel_rows rows;
  int64_t ends[MOST_ROWS + 1];
  int32_t classes[2 * MOST_ROWS];
  double probabilities[2 * MOST_ROWS];
  fewlabel_labels known;
  fewlabel_named parts[MOST_PARTS];
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
  int n_sequences, n_parts, new_kind;
  int spoiled;      /* an argument of the call is wrong, or may be */
  int wrong_handle; /* the handle of the call is not live, or of another kind */
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

#define FILE_DATA 0 /* in place of a kind of models: a file that was read */
#define KIND(kind) (1 << (kind))
#define ANY_MODEL (KIND(FEWLABEL_LINEAR) | KIND(FEWLABEL_SEQUENCE) | KIND(FEWLABEL_STRUCTURE))

/* A handle of one of these kinds; now and then a wrong one. */
static int64_t handle(caller *c, int kinds) {
  static const int64_t made_up[] = {0, -1, INT64_MIN, INT64_MAX, INT64_C(1000000000000)};
  const int wrong = one_in(c, 6), start = c->n_live > 0 ? below(c, c->n_live) : 0;
  int k;
  for (k = 0; k < c->n_live; k++) {
    const int at = (start + k) % c->n_live;
    if (wrong && one_in(c, 2)) break;
    if (((KIND(c->kind[at]) & kinds) != 0) != wrong) {
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

static void put_number(double *array, int narrow, int at, double value) {
  if (narrow) {
    ((float *)array)[at] = (float)value;
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

static int64_t n_classes_of(const caller *c) {
  int64_t n = 0;
  while (n < MOST_CLASSES && c->in.shares[n] > 0) n++;
  return n;
}

/* Labels for a fit: one column, some with rows that may have two classes, or two columns. What is wrong is in the
 * numbers: sizes of arrays come from the rows. */
static void make_known(caller *c) {
  const fewlabel_labels plain = FEWLABEL_LABELS(OR_NULL(c, c->in.labels));
  inputs *in = &c->in;
  int i, k = 0;
  in->known = plain;
  if (in->rows.n_rows > 0 && in->rows.n_rows <= MOST_ROWS && spoil(c, 6)) {
    for (i = 0; i < MOST_ROWS; i++) {
      const int n = in->labels[i] >= 0 && !one_in(c, 100) ? 0 : below(c, 3);
      in->ends[i] = k;
      for (; k < in->ends[i] + n; k++) {
        in->classes[k] = one_in(c, 100) ? (int32_t)odd_size(c) : (k + i) % 2;
        in->probabilities[k] = one_in(c, 100) ? odd_number(c) : 0.25 * (1 + below(c, 3));
      }
    }
    in->ends[MOST_ROWS] = k;
    if (one_in(c, 20)) in->ends[below(c, MOST_ROWS)] = below(c, 3); /* the last one bounds what is read */
    in->known.indptr = in->ends;
    in->known.classes = OR_NULL(c, in->classes);
    if (one_in(c, 2)) in->known.probabilities = in->probabilities;
  } else if (in->rows.n_rows > 0 && in->rows.n_rows <= MOST_ROWS / 2 && spoil(c, 6)) {
    in->known.n_columns = one_in(c, 4) ? -below(c, 2) : 2;
  }
  if (spoil(c, 10)) in->known.n_classes = one_in(c, 2) ? odd_size(c) : n_classes_of(c);
  memcpy(&c->before, in, sizeof *in);
}

/* Sparse rows of two to five classes with a word for each, in any of the types. */
static void make_sparse(caller *c, int n_rows, int n_classes, int n_features) {
  inputs *in = &c->in;
  const int narrow_ends = below(c, 2), narrow_indices = below(c, 2), narrow_values = below(c, 2);
  int i, k = 0;
  for (i = 0; i < n_rows; i++) {
    const int row_end = k + below(c, 6);
    for (; k < row_end; k++) {
      const int index = one_in(c, 2) ? i % n_classes % n_features : below(c, n_features);
      const double value = one_in(c, 400) ? odd_value(c) : below(c, 9) / 4.0 - 0.5;
      put_integer(in->indices, narrow_indices, k, index);
      put_number(in->values, narrow_values, k, value);
    }
    put_integer(in->indptr, narrow_ends, i + 1, k);
  }
  in->rows.kind = FEWLABEL_SPARSE;
  in->rows.n_values = k;
  in->rows.indptr = in->indptr;
  in->rows.indices = in->indices;
  in->rows.values = in->values;
  in->rows.indptr_type = narrow_ends ? FEWLABEL_INT32 : FEWLABEL_INT64;
  in->rows.index_type = narrow_indices ? FEWLABEL_INT32 : FEWLABEL_INT64;
  in->rows.value_type = narrow_values ? FEWLABEL_FLOAT32 : FEWLABEL_FLOAT64;
}

/* Dense rows of either type, some with room behind each row. */
static void make_dense(caller *c, int n_rows, int n_classes, int n_features) {
  inputs *in = &c->in;
  const int stride = n_features + below(c, MOST_STRIDE - MOST_FEATURES + 1), narrow = below(c, 2);
  int i, j;
  for (i = 0; i < n_rows; i++) {
    for (j = 0; j < stride; j++) {
      const double value = one_in(c, 1000) ? odd_value(c) : below(c, 9) / 4.0 - 0.5 + (i % n_classes == j);
      put_number(in->dense, narrow, i * stride + j, value);
    }
  }
  in->rows.kind = FEWLABEL_DENSE;
  in->rows.row_stride = stride;
  in->rows.values = in->dense;
  in->rows.value_type = narrow ? FEWLABEL_FLOAT32 : FEWLABEL_FLOAT64;
}

static void make_rows(caller *c, int n_features) {
  const int n_rows = 6 + below(c, MOST_ROWS - 5), n_classes = 2 + below(c, MOST_CLASSES - 1);
  (one_in(c, 2) ? make_sparse : make_dense)(c, n_rows, n_classes, n_features);
  make_labels(c, n_rows, n_classes);
  c->in.rows.n_rows = n_rows;
  c->in.rows.n_features = n_features;
}

/* Weights of up to five outputs for any features that rows can have. */
static void make_weights(caller *c) {
  int k;
  for (k = 0; k < MOST_TABLE; k++) {
    c->in.table[k] = one_in(c, 400) ? odd_number(c) : below(c, 9) - 4.0;
    if (!(fabs(c->in.table[k]) < 1e100)) c->spoiled = 1; /* scores may not be finite */
  }
}

/* Spoil the rows in one way. Sizes only shrink or are impossible: a size that is too large would be a bad pointer. */
static void spoil_sparse(caller *c) {
  fewlabel_rows *rows = &c->in.rows;
  const int at = below(c, (int)rows->n_rows);
  switch (below(c, 10)) {
    case 0: rows->n_rows = one_in(c, 2) ? at : -1 - at; break;
    case 1: rows->n_features = one_in(c, 2) ? odd_size(c) : 1; break;
    case 2: rows->n_values = one_in(c, 2) ? odd_size(c) : rows->n_values / 2; break;
    case 3: rows->indptr_type = below(c, 7) - 1; break;
    case 4: rows->index_type = below(c, 7) - 1; break;
    case 5: rows->value_type = below(c, 7) - 1; break;
    case 6: c->in.indptr[at] = odd_size(c); break;
    case 7: c->in.indices[at] = odd_size(c); break;
    case 8: rows->kind = 3 + below(c, 3); break;
    default: *(one_in(c, 3) ? &rows->indptr : one_in(c, 2) ? &rows->indices : &rows->values) = NULL;
  }
}

/* Spoil dense rows in one way; sizes as there. */
static void spoil_dense(caller *c) {
  fewlabel_rows *rows = &c->in.rows;
  static const int64_t impossible[] = {-1, 0, INT64_MIN, INT64_MAX, INT64_C(1) << 48};
  switch (below(c, 6)) {
    case 0: rows->n_rows = one_in(c, 2) ? below(c, (int)rows->n_rows) : ONE_OF(c, impossible); break;
    case 1: rows->n_features = one_in(c, 2) ? 1 : ONE_OF(c, impossible); break;
    case 2: rows->row_stride = one_in(c, 2) ? rows->n_features - 1 : ONE_OF(c, impossible); break;
    case 3: rows->value_type = below(c, 7) - 1; break;
    case 4: rows->kind = one_in(c, 2) ? FEWLABEL_SPARSE : -1; break;
    default: rows->values = NULL;
  }
}

/* The number of features of the model of a handle, if it is one. */
static int features_for(caller *c, int64_t model) {
  const int place = place_of(c, model);
  const int any = place < 0 || c->kind[place] == FILE_DATA || spoil(c, 10);
  return any ? 1 + below(c, MOST_FEATURES) : (int)c->n_features[place];
}

static void make_rows_for(caller *c, int64_t model) {
  make_rows(c, features_for(c, model));
  if (spoil(c, 4)) (c->in.rows.kind == FEWLABEL_DENSE ? spoil_dense : spoil_sparse)(c);
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
      "\"threads\": 3", "\"threads\": 1000000000", "\"threads\": -3", "\"calibrate\": true",
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
      "{\"loss\": \"crf\", \"max_iter\": 20}", "{\"loss\": \"soft_hinge\", \"rho\": 100, \"alpha\": 1e-300}",
      "{\"method\": \"gradient\", \"threads\": 3}", "{\"method\": \"posterior\", \"unlabeled_weight\": 1e6}",
      "{\"method\": \"posterior\", \"class_prior\": [0.5, 0.5], \"penalty_weight\": 1e-300}",
      "{\"method\": \"posterior\", \"class_prior\": [1e-300, 1]}",
      "{\"forbidden_transitions\": [0, 1]}", "{\"forbidden_transitions\": [-1, 0, 1, -1]}",
      "{\"forbidden_transitions\": [9, 1]}", "{\"forbidden_transitions\": [1]}", "{\"max_iter\": 0}",
      "{\"alpha\": 1e100}", "{\"loss\": 3}", "{"};
  c->spoiled = 1;
  strcpy(c->in.text, ONE_OF(c, texts));
}

static void add_part(caller *c, const char *name, const double *values, int length) {
  const fewlabel_named part = {name, values, length};
  c->in.parts[c->n_parts++] = part;
}

/* Parts and description of a model: numbers of `table` and `shares`. */
static void make_model(caller *c, int kind) {
  const int k = 1 + below(c, MOST_CLASSES), d = 1 + below(c, MOST_FEATURES), outputs = k > 2 ? k : 1;
  const double *table = c->in.table;
  char *text = c->in.text;
  int i;
  c->n_parts = 0;
  for (i = 0; i < MOST_TABLE; i++) c->in.table[i] = spoil(c, 4000) ? odd_number(c) : below(c, 9) - 4.0;
  for (i = 0; i < MOST_CLASSES; i++) c->in.shares[i] = i < k ? 1.0 / k : 0;
  if (kind == FEWLABEL_SEQUENCE) {
    sprintf(text, "{\"n_tags\": %d, \"n_features\": %d}", k, d);
    add_part(c, "coef", table, d * k);
    add_part(c, "transitions", table + 100, k * k);
    add_part(c, "start", table + 200, k);
    add_part(c, "end", table + 210, k);
  } else if (kind == FEWLABEL_STRUCTURE) {
    const int h = 1 + below(c, 3);
    sprintf(text, "{\"n_features\": %d, \"n_components\": %d}", d, h);
    add_part(c, "components", table, d * h);
  } else {
    sprintf(text, "{\"n_classes\": %d, \"n_features\": %d}", k, d);
    add_part(c, "coef", table, d * outputs);
    add_part(c, "intercept", table + 100, outputs);
    add_part(c, "class_prior", c->in.shares, k);
  }
}

/* A description that is refused, or a part with a wrong name, place or length: only shorter, as for rows. */
static void spoil_model(caller *c) {
  static const char *const wrong[] = {"", "{}", "[]", "{\"n_classes\": -2, \"n_features\": 3}", "{\"n_tags\": 2}",
                                      "{\"n_classes\": 2, \"n_features\": 0}", "{\"n_classes\": 1e99}",
                                      "{\"n_classes\": 3, \"n_features\": 3000000000}", "{\"n_klasses\": 2}",
                                      "{\"n_classes\": 3, \"n_features\": 2, \"n_outputs\": 1}",
                                      "{\"n_tags\": 2, \"n_features\": 3000000000}"};
  static const int64_t impossible[] = {-1, 0, INT64_MIN, INT64_MAX, INT64_C(1) << 48};
  fewlabel_named *part = &c->in.parts[below(c, c->n_parts)];
  c->spoiled = 1;
  switch (below(c, 6)) {
    case 0: part->name = one_in(c, 2) ? NULL : "none"; break;
    case 1: part->values = NULL; break;
    case 2: part->length = one_in(c, 2) ? part->length - 1 : ONE_OF(c, impossible); break;
    case 3: part->name = c->in.parts[0].name; break;
    case 4: c->n_parts -= 1; break;
    default: strcpy(c->in.text, ONE_OF(c, wrong));
  }
}

#endif
