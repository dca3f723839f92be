/* More than two classes: a fit, its arrays, decisions, a class tree, a model file, and what is refused. Works in the
 * current folder. */
#include <math.h>

#include "check.h"

enum { K = 3, ROWS_A_CLASS = 6, MANY_ROWS = K * ROWS_A_CLASS, MANY_FEATURES = 2 * K };

#define CLASSES_FILE "classes-test.safetensors"

/* Class c has the features 2c and 2c + 1; the first row of each class has its label. */
typedef struct {
  int64_t indptr[MANY_ROWS + 1];
  int32_t indices[2 * MANY_ROWS];
  double values[2 * MANY_ROWS];
  int32_t labels[MANY_ROWS];
  fewlabel_rows rows;
} many_problem;

static void many_classes(many_problem *p) {
  const fewlabel_rows sparse =
      FEWLABEL_SPARSE_ROWS(MANY_ROWS, MANY_FEATURES, 2 * MANY_ROWS, p->indptr, p->indices, p->values);
  int i;
  memset(p, 0, sizeof *p);
  for (i = 0; i < MANY_ROWS; i++) {
    p->indptr[i + 1] = 2 * (i + 1);
    p->indices[2 * i] = 2 * (i / ROWS_A_CLASS);
    p->indices[2 * i + 1] = 2 * (i / ROWS_A_CLASS) + 1;
    p->values[2 * i] = 1;
    p->values[2 * i + 1] = 1 + 0.01 * i;
    p->labels[i] = i % ROWS_A_CLASS == 0 ? i / ROWS_A_CLASS : -1;
  }
  p->rows = sparse;
}

static int64_t fitted(const many_problem *p, const char *options) {
  int64_t model = 0;
  WORKS(fewlabel_fit(&p->rows, LABELS(p->labels), NULL, 0, options, NULL, NULL, &model, ERROR));
  return model;
}

/* Rows that can have one class are labeled rows, bit for bit; a row without its set of classes has none that is not
 * in the set. */
static void weak_labels(void) {
  many_problem p;
  double coef[2][MANY_FEATURES * K], probabilities[MANY_ROWS * K];
  int32_t codes[MANY_ROWS], classes[MANY_ROWS * K], transduction[MANY_ROWS];
  int64_t indptr[MANY_ROWS + 1] = {0}, model;
  const fewlabel_labels labels = {codes, 1, K, indptr, classes, NULL};
  fewlabel_labels wrong = labels;
  int i, k;
  many_classes(&p);
  for (i = 0; i < MANY_ROWS; i++) {
    codes[i] = i == 0 ? p.labels[i] : -1;
    indptr[i + 1] = indptr[i];
    if (i > 0 && p.labels[i] >= 0) classes[indptr[i + 1]++] = p.labels[i];
  }
  model = fitted(&p, NULL);
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef[0], MANY_FEATURES * K, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_fit(&p.rows, &labels, NULL, 0, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef[1], MANY_FEATURES * K, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  HOLDS(memcmp(coef[0], coef[1], sizeof coef[0]) == 0);
  for (i = 0; i < MANY_ROWS; i++) { /* row 1 is of class 1 or 2 */
    codes[i] = p.labels[i];
    indptr[i + 1] = i == 0 ? 0 : 2;
  }
  for (k = 0; k < 2; k++) classes[k] = k + 1, probabilities[k] = 0.5;
  for (k = 0; k < 2; k++) {
    wrong.probabilities = k == 0 ? NULL : probabilities;
    wrong.n_classes = k == 0 ? K : 0;
    WORKS(fewlabel_fit(&p.rows, &wrong, NULL, 0, NULL, NULL, NULL, &model, ERROR));
    WORKS(fewlabel_array(model, "transduction", FEWLABEL_INT32, transduction, MANY_ROWS, ERROR));
    WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef[k], MANY_FEATURES * K, ERROR));
    WORKS(fewlabel_free(model, ERROR));
    HOLDS(transduction[1] != 0);
  }
  HOLDS(memcmp(coef[0], coef[1], sizeof coef[0]) == 0);
  model = -7;
#define REFUSES(code, text) \
  FAILS(code, text, fewlabel_fit(&p.rows, &wrong, NULL, 0, NULL, NULL, NULL, &model, ERROR)); \
  wrong = labels
  wrong.n_columns = 0;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.n_columns is 0: use 1 to");
  wrong.n_columns = 2;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is 3, but each of several columns has two classes");
  wrong.n_columns = wrong.n_classes = 2;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.indptr is given, but there are 2 columns");
  wrong.n_classes = 1;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is 1: use 2 or more, or 0");
  wrong.n_classes = MANY_ROWS + 1;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.n_classes is ");
  wrong.n_classes = 2;
  REFUSES(FEWLABEL_BAD_DATA, "classes of row 1 has 2: it must be 0 to 1");
  wrong.codes = NULL;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.codes is NULL");
  wrong.classes = (int32_t *)1;
  REFUSES(FEWLABEL_BAD_ARGUMENT, "labels.classes is 0x1");
  for (k = 0; k < 3; k++) {
    probabilities[1] = k == 0 ? 0 : k == 1 ? NAN : INFINITY;
    wrong.probabilities = probabilities;
    REFUSES(FEWLABEL_BAD_DATA, "probabilities of row 1 has ");
  }
  k = codes[0];
  codes[0] = -6; /* describes class 4: without n_classes there are five, of which 0 and 3 have no row */
  wrong.n_classes = 0;
  REFUSES(FEWLABEL_BAD_DATA, "class 0 has no labeled row");
  codes[0] = k;
  classes[1] = 1;
  REFUSES(FEWLABEL_BAD_DATA, "classes of row 1 has class 1 twice");
  codes[1] = -3;
  REFUSES(FEWLABEL_BAD_DATA, "row 1 has the label -3 and weak labels");
  codes[1] = 1;
  REFUSES(FEWLABEL_BAD_DATA, "row 1 has the label 1 and weak labels");
  indptr[3] = 1;
  REFUSES(FEWLABEL_BAD_DATA, "labels.indptr[3] is 1: it must start at 0 and not decrease");
  indptr[0] = 1;
  REFUSES(FEWLABEL_BAD_DATA, "labels.indptr[0] is 1");
  HOLDS(model == -7);
}

static int32_t refused(const many_problem *p, const char *options) {
  int64_t model = 0;
  return fewlabel_fit(&p->rows, LABELS(p->labels), NULL, 0, options, NULL, NULL, &model, ERROR);
}

static void report_has(int64_t model, const char *text) {
  char report[2000];
  int64_t needed;
  WORKS(fewlabel_report(model, report, sizeof report, &needed, ERROR));
  if (strstr(report, text) == NULL) complain(__FILE__, __LINE__, text, report);
}

/* Every row is of its class, by the class numbers, by the largest decision and by the decisions computed here. */
static void finds_the_classes(int64_t model, const many_problem *p) {
  int32_t classes[MANY_ROWS];
  double decisions[MANY_ROWS * K], coef[MANY_FEATURES * K], intercept[K];
  int i, j, c;
  WORKS(fewlabel_predict(model, &p->rows, 2, classes, decisions, ERROR));
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, MANY_FEATURES * K, ERROR));
  WORKS(fewlabel_array(model, "intercept", FEWLABEL_FLOAT64, intercept, K, ERROR));
  for (i = 0; i < MANY_ROWS; i++) {
    HOLDS(classes[i] == i / ROWS_A_CLASS);
    for (c = 0; c < K; c++) {
      double sum = intercept[c];
      for (j = 2 * i; j < 2 * i + 2; j++) sum += p->values[j] * coef[p->indices[j] * K + c];
      HOLDS(fabs(sum - decisions[i * K + c]) < 1e-12);
      HOLDS(decisions[i * K + c] <= decisions[i * K + classes[i]]);
    }
  }
}

static void arrays_of_a_fit(int64_t model, const many_problem *p) {
  double transduction[MANY_ROWS], shares[K], soft[MANY_ROWS * K];
  int i, c;
  WORKS(fewlabel_array(model, "transduction", FEWLABEL_FLOAT64, transduction, MANY_ROWS, ERROR));
  WORKS(fewlabel_array(model, "class_prior", FEWLABEL_FLOAT64, shares, K, ERROR));
  WORKS(fewlabel_array(model, "label_distributions", FEWLABEL_FLOAT64, soft, MANY_ROWS * K, ERROR));
  for (c = 0; c < K; c++) HOLDS(fabs(shares[c] - 1.0 / K) < 1e-12);
  for (i = 0; i < MANY_ROWS; i++) {
    double sum = 0;
    for (c = 0; c < K; c++) sum += soft[i * K + c];
    HOLDS(fabs(sum - 1) < 1e-9);
    HOLDS(transduction[i] == i / ROWS_A_CLASS);
    if (p->labels[i] >= 0) HOLDS(soft[i * K + p->labels[i]] == 1);
  }
  FAILS(FEWLABEL_BAD_ARGUMENT, "length is 6: \"coef\" has 18 values",
        fewlabel_array(model, "coef", FEWLABEL_FLOAT64, soft, MANY_FEATURES, ERROR));
}

static void every_loss_and_method(void) {
  static const char *const options[] = {
      NULL,
      "{\"method\": \"switching\"}",
      "{\"loss\": \"maxent\", \"threads\": 2}",
      "{\"loss\": \"crammer_singer\", \"method\": \"switching\"}",
      "{\"hierarchy\": [3, 3, -1, -1]}",
      "{\"hierarchy\": [3, 3, 4, 4, -1], \"loss\": \"maxent\"}",
      "{\"hierarchy\": null, \"class_prior\": [0.34, 0.33, 0.33]}",
  };
  many_problem p;
  size_t i;
  many_classes(&p);
  for (i = 0; i < sizeof options / sizeof *options; i++) {
    int64_t model = fitted(&p, options[i]);
    report_has(model, "\"n_classes\":3,\"n_features\":6,\"n_outputs\":3");
    report_has(model, "\"n_classes\":3,\"n_features\":6,\"n_outputs\":3");
    report_has(model, "\"history.share_distance\"");
    finds_the_classes(model, &p);
    if (i == 0) arrays_of_a_fit(model, &p);
    WORKS(fewlabel_free(model, ERROR));
  }
}

static void two_classes_have_one_decision(void) {
  static const char *const options[] = {NULL, "{\"loss\": \"maxent\"}", "{\"hierarchy\": [2, 3, -1, -1]}"};
  problem p;
  double decisions[N_ROWS];
  size_t k;
  int i;
  good_problem(&p);
  for (k = 0; k < sizeof options / sizeof *options; k++) {
    int64_t model = 0;
    WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, options[k], NULL, NULL, &model, ERROR));
    report_has(model, "\"n_classes\":2,\"n_features\":4,\"n_outputs\":1");
    report_has(model, "\"n_classes\":2,\"n_features\":4,\"n_outputs\":1");
    WORKS(fewlabel_predict(model, &p.rows, 1, NULL, decisions, ERROR));
    for (i = 0; i < N_ROWS; i++) HOLDS((decisions[i] > 0) == (i >= N_ROWS / 2));
    WORKS(fewlabel_free(model, ERROR));
  }
}

#define SIZES "{\"n_classes\": 3, \"n_features\": 6}"

static void a_file_keeps_them(void) {
  fewlabel_named parts[] = {{"class_prior", NULL, K}, {"intercept", NULL, K}, {"coef", NULL, MANY_FEATURES * K}};
  many_problem p;
  int64_t model, loaded = 0, assembled = 0;
  double decisions[MANY_ROWS * K], same[MANY_ROWS * K], coef[MANY_FEATURES * K], intercept[K], shares[K];
  many_classes(&p);
  model = fitted(&p, "{\"hierarchy\": [3, 3, -1, -1]}");
  WORKS(fewlabel_save(model, CLASSES_FILE, "{\"parents\": [3, 3, -1, -1]}", ERROR));
  WORKS(fewlabel_load(CLASSES_FILE, &loaded, ERROR));
  report_has(loaded, "\"n_classes\":3,\"n_features\":6,\"n_outputs\":3");
  report_has(loaded, "\"parents\":[3,3,-1,-1]");
  finds_the_classes(loaded, &p);
  WORKS(fewlabel_predict(model, &p.rows, 1, NULL, decisions, ERROR));
  WORKS(fewlabel_predict(loaded, &p.rows, 1, NULL, same, ERROR));
  HOLDS(memcmp(decisions, same, sizeof same) == 0);
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, MANY_FEATURES * K, ERROR));
  WORKS(fewlabel_array(model, "intercept", FEWLABEL_FLOAT64, intercept, K, ERROR));
  WORKS(fewlabel_array(model, "class_prior", FEWLABEL_FLOAT64, shares, K, ERROR));
  parts[0].values = shares, parts[1].values = intercept, parts[2].values = coef;
  WORKS(fewlabel_assemble(FEWLABEL_LINEAR, SIZES, parts, 3, &assembled, ERROR));
  WORKS(fewlabel_predict(assembled, &p.rows, 1, NULL, same, ERROR));
  HOLDS(memcmp(decisions, same, sizeof same) == 0);
  WORKS(fewlabel_free(assembled, ERROR));
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  remove(CLASSES_FILE);
}

static void a_class_without_labels(void) {
  many_problem p;
  int64_t model;
  many_classes(&p);
  p.labels[2 * ROWS_A_CLASS] = -1;
  model = fitted(&p, "{\"class_prior\": [0.34, 0.33, 0.33]}");
  report_has(model, "\"n_classes\":3");
  report_has(model, "{\"kind\":\"no_label\",\"values\":{\"class\":2},\"text\":\"class 2 has a share");
  WORKS(fewlabel_free(model, ERROR));
  p.labels[ROWS_A_CLASS] = -1;
  p.labels[2 * ROWS_A_CLASS] = 2;
  FAILS(FEWLABEL_BAD_DATA, "class 1 has no labeled row: label one, or give class_prior", refused(&p, NULL));
}

/* The same shares as those of one fit, in either form of the rows; the interval is around them. */
static void shares_without_a_fit(void) {
  many_problem p;
  double table[MANY_ROWS * MANY_FEATURES] = {0}, fit[K], alone[K], shares[K], lower[K], upper[K];
  char said[4096];
  const fewlabel_rows dense = FEWLABEL_DENSE_ROWS(MANY_ROWS, MANY_FEATURES, table);
  fewlabel_labels labels = FEWLABEL_LABELS(p.labels);
  int64_t model;
  int i, c;
  labels.n_classes = K;
  many_classes(&p);
  for (i = 0; i < 2 * MANY_ROWS; i++) table[i / 2 * MANY_FEATURES + p.indices[i]] = p.values[i];
  for (i = 0; i < MANY_ROWS; i++) {
    if (i % ROWS_A_CLASS < 3 + i / ROWS_A_CLASS) p.labels[i] = i / ROWS_A_CLASS;
  }
  model = fitted(&p, "{\"method\": \"annealing\"}");
  WORKS(fewlabel_array(model, "class_prior", FEWLABEL_FLOAT64, fit, K, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_class_prior(&p.rows, &labels, NULL, NULL, alone, NULL, NULL, NULL, 0, ERROR));
  WORKS(fewlabel_class_prior(&p.rows, &labels, NULL, "{\"threads\": 2}", shares, lower, upper, NULL, 0, ERROR));
  for (c = 0; c < K; c++) {
    HOLDS(alone[c] == fit[c] && shares[c] == fit[c]);
    HOLDS(0 <= lower[c] && lower[c] < shares[c] && shares[c] < upper[c] && upper[c] <= 1);
  }
  WORKS(fewlabel_fit(&dense, LABELS(p.labels), NULL, 0, "{\"method\": \"annealing\"}", NULL, NULL, &model, ERROR));
  WORKS(fewlabel_array(model, "class_prior", FEWLABEL_FLOAT64, fit, K, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_class_prior(&dense, &labels, NULL, NULL, shares, NULL, upper, NULL, 0, ERROR));
  for (c = 0; c < K; c++) HOLDS(shares[c] == fit[c]);
  many_classes(&p); /* one label of each class: nothing can be held out */
  WORKS(fewlabel_class_prior(&p.rows, &labels, NULL, NULL, shares, lower, upper, said, sizeof said, ERROR));
  for (c = 0; c < K; c++) HOLDS(fabs(shares[c] - 1.0 / K) < 1e-15 && lower[c] == 0 && upper[c] == 1);
  HOLDS(strcmp(said, "[]") == 0);
  FAILS(FEWLABEL_BAD_ARGUMENT, "warnings_size is 2: the text takes 3 bytes",
        fewlabel_class_prior(&p.rows, &labels, NULL, NULL, shares, NULL, NULL, said, 2, ERROR));
}

/* A column's model is that of its separate fit, bit for bit; a column of one class is constant. */
static void several_columns(void) {
  many_problem p;
  double coef[2][MANY_FEATURES];
  int32_t labels[2 * MANY_ROWS];
  const fewlabel_labels columns = {labels, 2, 0, NULL, NULL, NULL};
  int64_t models[2] = {-7, -7}, alone;
  int i;
  many_classes(&p);
  for (i = 0; i < MANY_ROWS; i++) {
    if (p.labels[i] == 2) p.labels[i] = 0;
    labels[2 * i] = p.labels[i];
    labels[2 * i + 1] = i == 0 ? 0 : -1;
  }
  WORKS(fewlabel_fit(&p.rows, &columns, NULL, 0, "{\"threads\": 2}", NULL, NULL, models, ERROR));
  alone = fitted(&p, "{\"class_prior\": \"labels\"}");
  WORKS(fewlabel_array(models[0], "coef", FEWLABEL_FLOAT64, coef[0], MANY_FEATURES, ERROR));
  WORKS(fewlabel_array(alone, "coef", FEWLABEL_FLOAT64, coef[1], MANY_FEATURES, ERROR));
  HOLDS(memcmp(coef[0], coef[1], sizeof coef[0]) == 0);
  WORKS(fewlabel_array(models[1], "coef", FEWLABEL_FLOAT64, coef[1], MANY_FEATURES, ERROR));
  for (i = 0; i < MANY_FEATURES; i++) HOLDS(coef[1][i] == 0);
  WORKS(fewlabel_free(alone, ERROR));
  alone = models[1];
  WORKS(fewlabel_free(models[0], ERROR));
  models[0] = -7;
#define REFUSES_COLUMNS(code, text, start, options) \
  FAILS(code, text, fewlabel_fit(&p.rows, &columns, NULL, start, options, NULL, NULL, models, ERROR))
  REFUSES_COLUMNS(FEWLABEL_BAD_ARGUMENT, "class_prior of column 1 is 1.5", 0, "{\"class_prior\": [0.5, 1.5]}");
  REFUSES_COLUMNS(FEWLABEL_BAD_ARGUMENT, "class_prior has 3 entries", 0, "{\"class_prior\": [0.5, 0.2, 0.3]}");
  REFUSES_COLUMNS(FEWLABEL_BAD_ARGUMENT, "start is a model, but labels.n_columns is 2", alone, NULL);
  labels[2 * 3 + 1] = 2;
  REFUSES_COLUMNS(FEWLABEL_BAD_DATA, "labels of row 3 in column 1 is 2", 0, NULL);
  WORKS(fewlabel_free(alone, ERROR));
  HOLDS(models[0] == -7);
}

/* 20 labeled rows are enough for a temperature, 3 are not. */
static void calibrated_fits(void) {
  enum { PER_CLASS = 10, ROWS = 2 * PER_CLASS + 4 };
  double table[2 * ROWS];
  int32_t labels[ROWS];
  const fewlabel_rows rows = FEWLABEL_DENSE_ROWS(ROWS, 2, table);
  many_problem p;
  int64_t model;
  int i;
  for (i = 0; i < ROWS; i++) {
    table[2 * i] = i % 2 + 0.01 * i;
    table[2 * i + 1] = 1 - i % 2;
    labels[i] = i < 2 * PER_CLASS ? i % 2 : -1;
  }
  WORKS(fewlabel_fit(&rows, LABELS(labels), NULL, 0, "{\"calibrate\": true}", NULL, NULL, &model, ERROR));
  report_has(model, "\"calibration_temperature\":0.");
  report_has(model, "\"calibration_smoothing\":0.0196");
  report_has(model, "\"n_held_out\":20");
  WORKS(fewlabel_free(model, ERROR));
  many_classes(&p);
  model = fitted(&p, "{\"calibrate\": true}");
  report_has(model, "\"calibration_temperature\":null,\"calibration_smoothing\":null,\"n_held_out\":null");
  report_has(model, "\"kind\":\"calibration_failed\"");
  WORKS(fewlabel_free(model, ERROR));
}

static void refusals(void) {
  many_problem p;
  many_classes(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_prior has 2 shares, but there are 3 classes",
        refused(&p, "{\"class_prior\": [0.5, 0.5]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown option \"random_state\"", refused(&p, "{\"random_state\": 7}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hierarchy is 7: it must be an array of integers", refused(&p, "{\"hierarchy\": 7}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hierarchy has 2 nodes, but there are 3 classes",
        refused(&p, "{\"hierarchy\": [-1, -1]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hierarchy: node 1 has the parent 9, which is not a node",
        refused(&p, "{\"hierarchy\": [-1, 9, -1]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hierarchy: class 0 is the parent of node 1, but a class must be a leaf",
        refused(&p, "{\"hierarchy\": [-1, 0, -1]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "is its own ancestor", refused(&p, "{\"hierarchy\": [3, -1, -1, 4, 3]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "hierarchy: node 3 has no class below it",
        refused(&p, "{\"hierarchy\": [-1, -1, -1, -1]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "balance is \"mean\"", refused(&p, "{\"loss\": \"maxent\", \"balance\": \"mean\"}"));
  p.labels[4] = MANY_ROWS;
  FAILS(FEWLABEL_BAD_DATA, "labels of row 4 is 18", refused(&p, NULL));
  p.labels[4] = INT32_MAX;
  FAILS(FEWLABEL_BAD_DATA, "labels of row 4 is 2147483647", refused(&p, NULL));
}

/* A prior of more classes than rows: the labels cannot ask for so many. */
static void more_classes_than_rows(void) {
  static char options[600];
  many_problem p;
  int c;
  many_classes(&p);
  strcpy(options, "{\"class_prior\": [0.5");
  for (c = 0; c < 25; c++) strcat(options, ", 0.02");
  strcat(options, "]}");
  FAILS(FEWLABEL_BAD_ARGUMENT, "class_prior has 26 classes, more than the 18 rows", refused(&p, options));
}

int main(void) {
  every_loss_and_method();
  weak_labels();
  two_classes_have_one_decision();
  a_file_keeps_them();
  a_class_without_labels();
  shares_without_a_fit();
  several_columns();
  calibrated_fits();
  refusals();
  more_classes_than_rows();
  return conclude("classes");
}
