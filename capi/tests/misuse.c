/* Every mistake that a caller can make gives the status and the message that it should, and the library goes on.
 * VERBOSE=1 prints the messages. */
#define _DEFAULT_SOURCE /* mmap with MAP_ANONYMOUS, usleep */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

/* ---- Fitting ----------------------------------------------------------------------------------------------------- */

static int32_t fit(const problem *p, const char *options) {
  int64_t model = -7;
  int32_t status = fewlabel_fit(&p->rows, LABELS(p->labels), p->weights, 0, options, NULL, NULL, &model, ERROR);
  if (status == FEWLABEL_OK) {
    fewlabel_free(model, NULL, 0);
  } else {
    HOLDS(model == -7); /* outputs are written only on success */
  }
  return status;
}

static void null_pointers_of_a_fit(void) {
  problem p;
  int64_t model;
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL", fewlabel_fit(NULL, LABELS(p.labels), NULL, 0, NULL, NULL, NULL,
                                                            &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels is NULL", fewlabel_fit(&p.rows, NULL, NULL, 0, NULL, NULL, NULL,
                                                              &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "models is NULL",
        fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, NULL, ERROR));
  p.rows.indptr = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.indptr is NULL", fit(&p, NULL));
  good_problem(&p);
  p.rows.indices = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.indices is NULL", fit(&p, NULL));
  good_problem(&p);
  p.rows.values = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.values is NULL", fit(&p, NULL));
}

static void starts_of_a_fit(void) {
  problem p;
  int64_t first, model = -7, one_feature;
  const double coef = 1, intercept = 0, prior[2] = {0.5, 0.5};
  const fewlabel_named parts[] = {{"coef", &coef, 1}, {"intercept", &intercept, 1}, {"class_prior", prior, 2}};
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &first, ERROR));
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, first, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_assemble(FEWLABEL_LINEAR, "{\"n_classes\": 2, \"n_features\": 1}", parts, 3, &one_feature, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "start has 1 features",
        fewlabel_fit(&p.rows, LABELS(p.labels), NULL, one_feature, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_free(one_feature, ERROR));
  WORKS(fewlabel_free(first, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "", fewlabel_fit(&p.rows, LABELS(p.labels), NULL, first, NULL, NULL, NULL, &model,
                                              ERROR));
}

static void dense_rows(void) {
  float values[4 * 3] = {1, 0, 9, 0, 1, 9, 1, 0, 9, 0, 1, 9}; /* two features, rows three values apart */
  fewlabel_rows rows = FEWLABEL_DENSE_ROWS(4, 2, values);
  int32_t labels[4] = {0, 1, -1, -1}, classes[4];
  const double coef[2] = {1, -1}, zero = 0;
  double decisions[4], sums[4];
  int64_t model = -7;
  int i;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL",
        fewlabel_fit(NULL, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.values = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.values is NULL",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.values = values;
  rows.row_stride = 1;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.row_stride is 1",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.row_stride = INT64_MAX;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.row_stride is 9223372036854775807",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.row_stride = 3;
  rows.kind = 3;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.kind is 3: use FEWLABEL_SPARSE or FEWLABEL_DENSE",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.kind = FEWLABEL_DENSE;
  rows.value_type = 9;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.value_type is 9",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  rows.value_type = FEWLABEL_FLOAT32;
  values[3] = NAN;
  FAILS(FEWLABEL_BAD_DATA, "row 1 has the value NaN",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  values[3] = 0;
  HOLDS(model == -7);
  WORKS(fewlabel_fit(&rows, LABELS(labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_predict(model, &rows, 1, NULL, decisions, ERROR));
  WORKS(fewlabel_predict(model, &rows, 2, classes, NULL, ERROR));
  WORKS(fewlabel_decision_with(&rows, coef, &zero, 1, 1, 1, sums, ERROR));
  for (i = 0; i < 4; i++) HOLDS(sums[i] == values[3 * i] - values[3 * i + 1]);
  HOLDS(classes[0] == 0 && classes[1] == 1 && classes[2] == 0 && classes[3] == 1);
  HOLDS(decisions[0] < 0 && decisions[1] > 0 && decisions[2] == decisions[0]);
  rows.n_rows = 0;
  FAILS(FEWLABEL_BAD_DATA, "no rows", fewlabel_predict(model, &rows, 2, classes, NULL, ERROR));
  WORKS(fewlabel_free(model, ERROR));
}

static int32_t class_prior(const problem *p, const char *options, int64_t n_classes) {
  double shares[2] = {-7, -7}, lower[2], upper[2];
  const fewlabel_labels labels = {p->labels, 1, n_classes, NULL, NULL, NULL};
  int32_t status = fewlabel_class_prior(&p->rows, &labels, p->weights, options, shares, lower, upper, NULL, 0, ERROR);
  HOLDS((status == FEWLABEL_OK) == (shares[0] != -7));
  return status;
}

static void class_shares(void) {
  problem p;
  double shares[3];
  int64_t indptr[N_ROWS + 1] = {0};
  fewlabel_labels labels = FEWLABEL_LABELS(p.labels);
  good_problem(&p);
  labels.n_classes = 2;
  FAILS(FEWLABEL_BAD_ARGUMENT, "shares is NULL",
        fewlabel_class_prior(&p.rows, &labels, NULL, NULL, NULL, NULL, NULL, NULL, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL",
        fewlabel_class_prior(NULL, &labels, NULL, NULL, shares, NULL, NULL, NULL, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels is NULL",
        fewlabel_class_prior(&p.rows, NULL, NULL, NULL, shares, NULL, NULL, NULL, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is 1: use 2 or more", class_prior(&p, NULL, 1));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is 0: use 2 or more", class_prior(&p, NULL, 0));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is 9223372036854775807", class_prior(&p, NULL, INT64_MAX));
  labels.n_columns = 0;
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.n_columns is 0: use 1",
        fewlabel_class_prior(&p.rows, &labels, NULL, NULL, shares, NULL, NULL, NULL, 0, ERROR));
  labels.n_columns = 1;
  labels.indptr = indptr;
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.indptr is given: use NULL",
        fewlabel_class_prior(&p.rows, &labels, NULL, NULL, shares, NULL, NULL, NULL, 0, ERROR));
  labels.indptr = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown option \"alpha\"", class_prior(&p, "{\"alpha\": 1}", 2));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_bootstraps is 1: it must be at least 2", class_prior(&p, "{\"n_bootstraps\": 1}", 2));
  FAILS(FEWLABEL_BAD_ARGUMENT, "confidence_level is 0: it must be above 0",
        class_prior(&p, "{\"confidence_level\": 0}", 2));
  FAILS(FEWLABEL_BAD_ARGUMENT, "confidence_level is 1: it must be at most",
        class_prior(&p, "{\"confidence_level\": 1}", 2));
  FAILS(FEWLABEL_BAD_ARGUMENT, "random_state is null", class_prior(&p, "{\"random_state\": null}", 2));
  p.labels[0] = p.labels[N_ROWS - 1] = -1;
  FAILS(FEWLABEL_BAD_DATA, "no row has a label", class_prior(&p, NULL, 2));
  good_problem(&p);
  p.labels[0] = 2;
  FAILS(FEWLABEL_BAD_DATA, "labels of row 0 is 2, but there are 2 classes", class_prior(&p, NULL, 2));
  labels.n_classes = 3;
  FAILS(FEWLABEL_BAD_DATA, "class 0 has no labeled row",
        fewlabel_class_prior(&p.rows, &labels, NULL, NULL, shares, NULL, NULL, NULL, 0, ERROR));
}

static void weights_of_the_caller(void) {
  problem p;
  double coef[2 * N_FEATURES] = {1, 1, 0, 0, 0, 0, 1, 1}, intercept[2] = {0.5, -0.5}, decisions[2 * N_ROWS];
  good_problem(&p);
  WORKS(fewlabel_decision_with(&p.rows, coef, intercept, 2, 0, 1, decisions, ERROR));
  HOLDS(decisions[0] == 2.5 && decisions[1] == -0.5 && decisions[2 * N_ROWS - 2] == 0.5);
  WORKS(fewlabel_decision_with(&p.rows, coef, intercept, 1, 1, 1, decisions, ERROR));
  HOLDS(decisions[0] == 2.5 && decisions[N_ROWS - 1] == 0.5);
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL",
        fewlabel_decision_with(NULL, coef, intercept, 2, 0, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "coef is NULL",
        fewlabel_decision_with(&p.rows, NULL, intercept, 2, 0, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "intercept is NULL",
        fewlabel_decision_with(&p.rows, coef, NULL, 2, 0, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "decisions is NULL",
        fewlabel_decision_with(&p.rows, coef, intercept, 2, 0, 1, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_outputs is 0",
        fewlabel_decision_with(&p.rows, coef, intercept, 0, 0, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_outputs is 9223372036854775807",
        fewlabel_decision_with(&p.rows, coef, intercept, INT64_MAX, 0, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "by_feature is 2: use 0 or 1",
        fewlabel_decision_with(&p.rows, coef, intercept, 2, 2, 1, decisions, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is 0",
        fewlabel_decision_with(&p.rows, coef, intercept, 2, 0, 0, decisions, ERROR));
  p.indices[3] = N_FEATURES;
  FAILS(FEWLABEL_BAD_DATA, "row 1 has index 4",
        fewlabel_decision_with(&p.rows, coef, intercept, 2, 1, 1, decisions, ERROR));
  good_problem(&p);
  p.values[2] = NAN; /* of row 1 */
  FAILS(FEWLABEL_BAD_DATA, "row 1 has the value NaN",
        fewlabel_decision_with(&p.rows, coef, intercept, 1, 0, 1, decisions, ERROR));
  p.values[2] = 1e308;
  coef[0] = coef[1] = coef[2] = coef[3] = 10;
  FAILS(FEWLABEL_BAD_DATA, "decisions overflow: scale your features (the largest value of X is 1e+308 in row 1",
        fewlabel_decision_with(&p.rows, coef, intercept, 1, 0, 1, decisions, ERROR));
  good_problem(&p);
  coef[0] = NAN;
  FAILS(FEWLABEL_BAD_DATA, "coef or intercept has NaN or infinity",
        fewlabel_decision_with(&p.rows, coef, intercept, 1, 0, 1, decisions, ERROR));
}

static void counts_and_types(void) {
  problem p;
  good_problem(&p);
  p.rows.n_rows = -3;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.n_rows is -3", fit(&p, NULL));
  p.rows.n_rows = INT64_MAX;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.n_rows is 9223372036854775807", fit(&p, NULL));
  p.rows.n_rows = 0;
  FAILS(FEWLABEL_BAD_DATA, "no rows", fit(&p, NULL));
  good_problem(&p);
  p.rows.n_features = -1;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.n_features is -1", fit(&p, NULL));
  p.rows.n_features = 0;
  FAILS(FEWLABEL_BAD_DATA, "n_features is 0", fit(&p, NULL));
  good_problem(&p);
  p.rows.n_values = -1;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.n_values is -1", fit(&p, NULL));
  good_problem(&p);
  p.rows.index_type = 7;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.index_type is 7: use FEWLABEL_INT32 or FEWLABEL_INT64", fit(&p, NULL));
  good_problem(&p);
  p.rows.value_type = 0;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.value_type is 0: use FEWLABEL_FLOAT32 or FEWLABEL_FLOAT64", fit(&p, NULL));
}

static void bad_rows(void) {
  problem p;
  good_problem(&p);
  p.indptr[3] = 3;
  FAILS(FEWLABEL_BAD_DATA, "at row 2", fit(&p, NULL)); /* 0 2 4 3: decreasing */
  good_problem(&p);
  p.indptr[0] = 1;
  FAILS(FEWLABEL_BAD_DATA, "indptr[0] is 1", fit(&p, NULL));
  good_problem(&p);
  p.indptr[4] = 1000; /* too large in the middle, right at the end */
  FAILS(FEWLABEL_BAD_DATA, "1000", fit(&p, NULL));
  good_problem(&p);
  p.indptr[N_ROWS] = INT64_C(1) << 31;
  FAILS(FEWLABEL_BAD_DATA, "rows.indptr[8] is 2147483648: the rows do not end inside the 16 values", fit(&p, NULL));
  p.indptr[N_ROWS] = -5;
  FAILS(FEWLABEL_BAD_DATA, "rows.indptr[8] is -5", fit(&p, NULL));
  good_problem(&p);
  p.indices[5] = N_FEATURES;
  FAILS(FEWLABEL_BAD_DATA, "row 2", fit(&p, NULL));
  p.indices[5] = -1;
  FAILS(FEWLABEL_BAD_DATA, "row 2", fit(&p, NULL));
  p.indices[5] = INT64_MIN;
  FAILS(FEWLABEL_BAD_DATA, "row 2", fit(&p, NULL));
  good_problem(&p);
  p.values[7] = NAN;
  FAILS(FEWLABEL_BAD_DATA, "row 3", fit(&p, NULL));
  p.values[7] = -INFINITY;
  FAILS(FEWLABEL_BAD_DATA, "row 3", fit(&p, NULL));
}

static void bad_rows_of_narrow_types(void) {
  static const int32_t indptr[] = {0, 1, 2}, falling[] = {0, 2, 1};
  static const int32_t indices[] = {0, 1}, outside[] = {0, INT32_MIN};
  static const float values[] = {1, 2}, infinite[] = {1, INFINITY};
  problem p;
  good_problem(&p);
  p.rows.n_rows = p.rows.n_features = p.rows.n_values = 2;
  p.rows.indptr = indptr;
  p.rows.indices = indices;
  p.rows.values = values;
  p.rows.indptr_type = FEWLABEL_INT32;
  p.rows.index_type = FEWLABEL_INT32;
  p.rows.value_type = FEWLABEL_FLOAT32;
  p.labels[1] = 1;
  WORKS(fit(&p, NULL));
  p.rows.indptr = falling;
  FAILS(FEWLABEL_BAD_DATA, "indptr", fit(&p, NULL));
  p.rows.indptr = indptr;
  p.rows.indices = outside;
  FAILS(FEWLABEL_BAD_DATA, "row 1", fit(&p, NULL));
  p.rows.indices = indices;
  p.rows.values = infinite;
  FAILS(FEWLABEL_BAD_DATA, "row 1", fit(&p, NULL));
}

static void bad_labels_and_weights(void) {
  problem p;
  good_problem(&p);
  p.labels[0] = p.labels[N_ROWS - 1] = -1;
  FAILS(FEWLABEL_BAD_DATA, "no row has a label", fit(&p, NULL));
  good_problem(&p);
  p.labels[2] = -9000;
  FAILS(FEWLABEL_BAD_DATA, "labels of row 2 is -9000", fit(&p, NULL));
  good_problem(&p);
  p.weights[6] = -1;
  FAILS(FEWLABEL_BAD_DATA, "weights of row 6 is -1", fit(&p, NULL));
  p.weights[6] = NAN;
  FAILS(FEWLABEL_BAD_DATA, "weights of row 6 is NaN", fit(&p, NULL));
}

static void bad_options(void) {
  problem p;
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "\"aplha\"; there are ", fit(&p, "{\"aplha\": 1}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "alpha is 0", fit(&p, "{\"alpha\": 0}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "alpha is -2", fit(&p, "{\"alpha\": -2}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "alpha is 1e999: it is too large", fit(&p, "{\"alpha\": 1e999}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "alpha", fit(&p, "{\"alpha\": \"much\"}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_prior sums to 0.9", fit(&p, "{\"class_prior\": [0.5, 0.4]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_prior of class 0 is 1.5", fit(&p, "{\"class_prior\": [1.5, -0.5]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_prior", fit(&p, "{\"class_prior\": \"even\"}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is 0", fit(&p, "{\"threads\": 0}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "method is \"guessing\"", fit(&p, "{\"method\": \"guessing\"}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_names[1] is \"a\\x00b\": a text must not have a NUL character",
        fit(&p, "{\"class_names\": [\"null\", \"a\\u0000b\"]}"));
  HOLDS(fit(&p, "{\"class_names\": [\"null\", \"a\"]}") == FEWLABEL_OK);
  FAILS(FEWLABEL_BAD_ARGUMENT, "JSON", fit(&p, "alpha=1"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "JSON", fit(&p, "{\"alpha\": 1"));
}

/* ---- Memory that is not there ------------------------------------------------------------------------------------ */

static void wrong_pointers(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  problem p;
  int64_t model;
  int32_t status;
  char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  HOLDS(memory != MAP_FAILED);
  HOLDS(mprotect(memory + page, page, PROT_NONE) == 0);
  good_problem(&p);
  /* 2^31 values promised, all good indices but the last are there. The values are longer, so the indices end first. */
  p.rows.n_values = p.indptr[N_ROWS] = INT64_C(1) << 31;
  p.rows.indices = memory + page - (N_VALUES - 1) * sizeof(int64_t);
  memcpy(memory + page - (N_VALUES - 1) * sizeof(int64_t), p.indices, (N_VALUES - 1) * sizeof(int64_t));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.indices: the memory of element", fit(&p, NULL));
  good_problem(&p);
  p.rows.values = memory + page - 2 * sizeof(double);
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.values: the memory of element", fit(&p, NULL));
  good_problem(&p);
  p.rows.indptr = (void *)8;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.indptr is 0x8, which is not a valid address", fit(&p, NULL));
  p.rows.indptr = (const void *)(UINTPTR_MAX - 15);
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.indptr is 0xfffffffffffffff0, which is not the address of", fit(&p, NULL));
  good_problem(&p);
  status = fewlabel_fit(&p.rows, LABELS((int32_t *)(memory + page)), NULL, 0, NULL, NULL, NULL, &model, ERROR);
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.codes: the memory of element 0",
        fewlabel_fit(&p.rows, LABELS((int32_t *)(memory + page)), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  /* The status comes through even if the message cannot be written. */
  HOLDS(status ==
        fewlabel_fit(&p.rows, LABELS((int32_t *)(memory + page)), NULL, 0, NULL, NULL, NULL, &model, memory + page,
                     100));
  FAILS(FEWLABEL_BAD_ARGUMENT, "path: the memory", fewlabel_load(memory + page, &model, ERROR));
  munmap(memory, 2 * page);
}

/* Dense rows in a file that somebody cuts off while they are fitted. */
typedef struct {
  fewlabel_progress progress;
  int file;
} cut;

static void *cut_off(void *argument) {
  cut *c = argument;
  while (__atomic_load_n(&c->progress.step, __ATOMIC_SEQ_CST) < 1) usleep(100);
  HOLDS(ftruncate(c->file, 0) == 0);
  return NULL;
}

static void file_cut_off_during_a_fit(void) {
  enum { N = 200000, D = 50 }; /* many, so that the fit is not over before the file is cut off */
  const size_t size = (size_t)N * D * sizeof(float);
  fewlabel_rows rows = FEWLABEL_DENSE_ROWS(N, D, (const float *)NULL);
  int32_t *labels = malloc(N * sizeof *labels);
  cut c = {{0, 0, 0, 0, 0, 0}, open("misuse.rows", O_RDWR | O_CREAT | O_TRUNC, 0600)};
  pthread_t thread;
  int64_t model;
  float *values;
  int i;
  HOLDS(c.file >= 0 && ftruncate(c.file, (off_t)size) == 0);
  values = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c.file, 0);
  HOLDS(values != MAP_FAILED);
  for (i = 0; i < N * D; i++) values[i] = (float)((i * 7919L + i / D % 2 * (i % D) * 50) % 1000) / 1000;
  for (i = 0; i < N; i++) labels[i] = i < 100 ? i % 2 : -1;
  rows.values = values;
  HOLDS(pthread_create(&thread, NULL, cut_off, &c) == 0);
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows.values: the memory of element",
        fewlabel_fit(&rows, LABELS(labels), NULL, 0, "{\"threads\": 2}", &c.progress, NULL, &model, ERROR));
  pthread_join(thread, NULL);
  munmap(values, size);
  close(c.file);
  remove("misuse.rows");
  free(labels);
}

/* ---- Models ------------------------------------------------------------------------------------------------------ */

static int64_t good_model(void) {
  problem p;
  int64_t model = 0;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  return model;
}

static void misused_models(void) {
  int64_t needed, model = good_model();
  int32_t classes[N_ROWS];
  double numbers[N_ROWS];
  char text[4];
  problem p;
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "classes and decisions are both NULL",
        fewlabel_predict(model, &p.rows, 1, NULL, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL", fewlabel_predict(model, NULL, 1, classes, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is 0", fewlabel_predict(model, &p.rows, 0, classes, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is -1", fewlabel_predict(model, &p.rows, -1, NULL, numbers, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "name is NULL", fewlabel_array(model, NULL, FEWLABEL_FLOAT64, numbers, 4, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "values is NULL", fewlabel_array(model, "coef", FEWLABEL_FLOAT64, NULL, 4, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "length is 3: \"coef\" has 4 values",
        fewlabel_array(model, "coef", FEWLABEL_FLOAT64, numbers, 3, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "type is 1: use FEWLABEL_FLOAT64",
        fewlabel_array(model, "coef", FEWLABEL_INT32, classes, 4, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "type is 2: use FEWLABEL_INT32 or FEWLABEL_FLOAT64",
        fewlabel_array(model, "transduction", FEWLABEL_INT64, numbers, N_ROWS, ERROR));
  WORKS(fewlabel_array(model, "transduction", FEWLABEL_INT32, classes, N_ROWS, ERROR));
  HOLDS(classes[0] == 0 && classes[N_ROWS - 1] == 1);
  FAILS(FEWLABEL_BAD_ARGUMENT, "length is -1", fewlabel_array(model, "coef", FEWLABEL_FLOAT64, numbers, -1, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "name is \"coefs\": a linear classifier has coef",
        fewlabel_array(model, "coefs", FEWLABEL_FLOAT64, numbers, 4, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "needed is NULL", fewlabel_report(model, NULL, 0, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "text_size is 4: the text takes", fewlabel_report(model, text, 4, &needed, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "needed is NULL", fewlabel_options(FEWLABEL_LINEAR, NULL, 0, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "text_size is -4", fewlabel_options(FEWLABEL_SEQUENCE, text, -4, &needed, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "kind is 4: use FEWLABEL_LINEAR, FEWLABEL_SEQUENCE or FEWLABEL_STRUCTURE",
        fewlabel_options(4, NULL, 0, &needed, ERROR));
  WORKS(fewlabel_options(FEWLABEL_STRUCTURE, NULL, 0, &needed, ERROR));
  p.rows.n_features = N_FEATURES + 1;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows have 5 features, the model has 4",
        fewlabel_predict(model, &p.rows, 1, classes, NULL, ERROR));
  p.rows.n_features = N_FEATURES - 1;
  FAILS(FEWLABEL_BAD_DATA, "row", fewlabel_predict(model, &p.rows, 1, NULL, numbers, ERROR));
  WORKS(fewlabel_free(model, ERROR));
}

static void wrong_handles(void) {
  int64_t live = fewlabel_live_handles(), needed, data, sizes[4], model = good_model(), stale = good_model();
  int32_t classes[N_ROWS];
  double numbers[N_ROWS];
  problem p;
  good_problem(&p);
  HOLDS(fewlabel_live_handles() == live + 2);
  WORKS(fewlabel_free(stale, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "a handle that was freed", fewlabel_free(stale, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "model is", fewlabel_predict(stale, &p.rows, 1, classes, NULL, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "model is", fewlabel_predict(stale, &p.rows, 1, NULL, numbers, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "handle is", fewlabel_report(stale, NULL, 0, &needed, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "handle is", fewlabel_array(stale, "coef", FEWLABEL_FLOAT64, numbers, 4, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "model is", fewlabel_save(stale, "never-written", NULL, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "handle is 0, which is no handle", fewlabel_free(0, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "handle is -1", fewlabel_free(-1, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "model is 1000000000000",
        fewlabel_predict(INT64_C(1000000000000), &p.rows, 1, classes, NULL, ERROR));
  WORKS(fewlabel_svmlight_write("misuse.svmlight", &p.rows, p.weights, 0, ERROR));
  WORKS(fewlabel_svmlight_read("misuse.svmlight", NULL, 0, 0, 0, NULL, &data, sizes, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of a data set", fewlabel_predict(data, &p.rows, 1, classes, NULL, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "start is",
        fewlabel_fit(&p.rows, LABELS(p.labels), NULL, data, NULL, NULL, NULL, &needed, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "a data set has indptr, indices, values, labels, label_indptr",
        fewlabel_array(data, "coef", FEWLABEL_FLOAT64, numbers, 4, ERROR));
  WORKS(fewlabel_free(data, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  HOLDS(fewlabel_live_handles() == live);
  remove("misuse.svmlight");
}

static void tiny_error_buffers(void) {
  const char whole[] = "handle is 0, which is no handle";
  char buffer[64];
  int64_t size;
  for (size = 0; size < (int64_t)sizeof buffer; size++) {
    size_t kept = size == 0 ? 0 : (size_t)size - 1 < strlen(whole) ? (size_t)size - 1 : strlen(whole);
    memset(buffer, 'x', sizeof buffer);
    HOLDS(fewlabel_free(0, buffer, size) == FEWLABEL_BAD_HANDLE);
    HOLDS(memcmp(buffer, whole, kept) == 0);
    if (size > 0) HOLDS(buffer[kept] == '\0');
    if (size <= (int64_t)strlen(whole)) HOLDS(buffer[size] == 'x');
  }
  HOLDS(fewlabel_free(0, NULL, 0) == FEWLABEL_BAD_HANDLE);
  HOLDS(fewlabel_free(0, NULL, 100) == FEWLABEL_BAD_HANDLE);
  HOLDS(fewlabel_free(0, buffer, -1) == FEWLABEL_BAD_HANDLE);
}

/* The features of a problem's rows are its auxiliary problems, too: each hides itself. */
static int32_t structure(const problem *p, const char *options, int64_t n_components) {
  static const int64_t ends[] = {0, 1, 2, 3, 4}, features[] = {0, 1, 2, 3};
  static const double ones[] = {1, 1, 1, 1};
  static const int32_t hides[] = {0, 1, 2, 3};
  const fewlabel_rows hidden = FEWLABEL_SPARSE_ROWS(4, N_FEATURES, 4, ends, features, ones);
  double components[2 * N_FEATURES], strengths[2], objective[3] = {-7, -7, -7};
  int64_t model = -7;
  int32_t status = fewlabel_structure_fit(&p->rows, &p->rows, &hidden, hides, NULL, n_components, options, NULL, &model,
                                          ERROR);
  HOLDS((status == FEWLABEL_OK) == (model != -7));
  if (status == FEWLABEL_OK) { /* features of one group of rows go together */
    WORKS(fewlabel_array(model, "components", FEWLABEL_FLOAT64, components, n_components * N_FEATURES, ERROR));
    WORKS(fewlabel_array(model, "strengths", FEWLABEL_FLOAT64, strengths, n_components, ERROR));
    WORKS(fewlabel_array(model, "history.objective", FEWLABEL_FLOAT64, objective, options == NULL ? 0 : 3, ERROR));
    HOLDS(components[0] * components[1] > 0 && components[2] * components[3] > 0);
    HOLDS(components[0] * components[2] < 0 && strengths[0] > 0);
    HOLDS(options == NULL ? objective[0] == -7 : objective[1] <= objective[0]);
    WORKS(fewlabel_free(model, ERROR));
  }
  return status;
}

static void structures(void) {
  static const int32_t groups[] = {0, 0, 1, 5};
  problem p;
  fewlabel_rows wrong;
  int64_t model = -7;
  good_problem(&p);
  wrong = p.rows;
  WORKS(structure(&p, NULL, 1));
  WORKS(structure(&p, "{\"solver\": \"squared\", \"n_iter\": 3, \"unit\": false}", 1));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_components is 0: use 1 or more", structure(&p, NULL, 0));
  FAILS(FEWLABEL_BAD_ARGUMENT, "there are 4 auxiliary problems", structure(&p, NULL, 5));
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown option \"alfa\"", structure(&p, "{\"alfa\": 1}", 1));
#define FIT(labels, hidden, groups, model) \
  fewlabel_structure_fit(&p.rows, labels, hidden, NULL, groups, 1, NULL, NULL, model, ERROR)
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels is NULL", FIT(NULL, NULL, NULL, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "model is NULL", FIT(&p.rows, NULL, NULL, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "groups[3] is 5", FIT(&p.rows, NULL, groups, &model));
  wrong.value_type = 0;
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.value_type is 0", FIT(&wrong, NULL, NULL, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hidden.value_type is 0", FIT(&p.rows, &wrong, NULL, &model));
  wrong = p.rows;
  wrong.n_features = 2;
  FAILS(FEWLABEL_BAD_DATA, "labels: row 4 has index 2", FIT(&wrong, NULL, NULL, &model));
  HOLDS(model == -7);
}

int main(void) {
  structures();
  null_pointers_of_a_fit();
  starts_of_a_fit();
  dense_rows();
  class_shares();
  weights_of_the_caller();
  counts_and_types();
  bad_rows();
  bad_rows_of_narrow_types();
  bad_labels_and_weights();
  bad_options();
  misused_models();
  wrong_handles();
  tiny_error_buffers();
  /* Tools that watch memory report these accesses, which are on purpose. */
  if (getenv("NO_WRONG_POINTERS") == NULL) {
    wrong_pointers();
    file_cut_off_during_a_fit();
  }
  return conclude("misuse");
}
