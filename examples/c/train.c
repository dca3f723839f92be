/* Train a classifier from a file with few labels, save it, load it and predict with it.
 *
 *   train [FILE.svmlight [MODEL]]
 *
 * FILE has a label in front of every row, in the convention of SVMlight and SVMlin: +1 or -1 for the two classes and
 * 0 for a row without a label. Without FILE the program writes a small made-up one with two topics.
 *
 * To build it in the folder of the project, after `make build`:
 *
 *   cc -std=c99 -I include examples/c/train.c -o train -L python/fewlabel -lfewlabel -lm \
 *     -Wl,-rpath,"$PWD/python/fewlabel"
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fewlabel.h"

/* Every call gets this buffer; after a failure it holds the reason. The buffer belongs to the caller, so threads that
 * work at the same time use one each. */
static char error[1000];

/* End the program with a message if a call has failed. */
static void need(int32_t status, const char *what) {
  if (status == FEWLABEL_OK) return;
  fprintf(stderr, "train: %s (status %d): %s\n", what, (int)status, error);
  exit(EXIT_FAILURE);
}

/* End the program with a message if something does not hold. */
static void ensure(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "train: %s\n", what);
  exit(EXIT_FAILURE);
}

static void *room(int64_t count, size_t size) {
  void *memory = calloc(count > 0 ? (size_t)count : 1, size);
  ensure(memory != NULL, "out of memory");
  return memory;
}

/* ---- The made-up file -------------------------------------------------------------------------------------------- */

enum { N_DOCUMENTS = 600, N_WORDS = 30, N_LABELED = 10, N_VOCABULARY = 300 };

static unsigned dice(unsigned sides) {
  static unsigned long state = 42;
  state = (state * 1103515245UL + 12345UL) & 0x7fffffffUL;
  return (unsigned)(state >> 16) % sides;
}

/* A word out of a vocabulary of 100, the first ones more often, as in any language. */
static int word(int vocabulary) { return 1 + 100 * vocabulary + (int)dice(1 + dice(100)); }

/* How often each word occurs in a document. Every other word is one of its topic (vocabulary 0 or 1), the rest are of
 * any text (vocabulary 2). */
static void draw_document(int topic, int *counts) {
  int k;
  memset(counts, 0, (N_VOCABULARY + 1) * sizeof *counts);
  for (k = 0; k < N_WORDS; k++) counts[word(k % 2 ? topic : 2)]++;
}

/* One row: the label and the words that occur, each with a value. The rows get length 1, so that a long document
 * weighs no more than a short one. */
static void write_document(FILE *file, int label, const int *counts) {
  double squares = 0;
  int number;
  for (number = 1; number <= N_VOCABULARY; number++) squares += (double)counts[number] * counts[number];
  fprintf(file, "%d", label);
  for (number = 1; number <= N_VOCABULARY; number++) {
    if (counts[number] > 0) fprintf(file, " %d:%.6f", number, counts[number] / sqrt(squares));
  }
  fprintf(file, "\n");
}

/* Documents of the two topics in turn. The first few have their label, the others 0: not known. */
static void write_two_topics(const char *path) {
  FILE *file = fopen(path, "w");
  int counts[N_VOCABULARY + 1], i;
  ensure(file != NULL, "the made-up file cannot be written");
  for (i = 0; i < N_DOCUMENTS; i++) {
    int topic = i % 2, label = topic ? 1 : -1;
    draw_document(topic, counts);
    write_document(file, i < N_LABELED ? label : 0, counts);
  }
  ensure(fclose(file) == 0, "the made-up file cannot be written");
}

/* ---- From a file to arrays --------------------------------------------------------------------------------------- */

typedef struct {
  int64_t *indptr;
  int32_t *indices;
  double *values;
  int32_t *labels; /* 1, 0, or -1: no label */
  fewlabel_csr rows;
} dataset;

/* The class number that fewlabel_fit wants for a label of the file. */
static int32_t class_of(double label) {
  ensure(label == 1 || label == -1 || label == 0, "a label in the file is not +1, -1 or 0 (no label)");
  return label > 0 ? 1 : label < 0 ? 0 : -1;
}

/* Read a file. The library says how large the arrays must be, we provide them, and it fills them. */
static void read_dataset(const char *path, dataset *d) {
  int64_t handle, n_rows, n_features, n_values, n_labels, k;
  double *labels;

  need(fewlabel_svmlight_read(path, NULL, 0, 0, 2, &handle, error, sizeof error), "reading the rows");
  need(fewlabel_svmlight_shape(handle, &n_rows, &n_features, &n_values, &n_labels, error, sizeof error), "sizes");
  ensure(n_labels == n_rows, "there are rows with more or fewer labels than one");

  d->indptr = room(n_rows + 1, sizeof *d->indptr);
  d->indices = room(n_values, sizeof *d->indices);
  d->values = room(n_values, sizeof *d->values);
  d->labels = room(n_rows, sizeof *d->labels);
  labels = room(n_rows, sizeof *labels);
  need(fewlabel_svmlight_copy(handle, d->indptr, d->indices, d->values, labels, NULL, error, sizeof error), "copying");
  need(fewlabel_free(handle, error, sizeof error), "freeing the file's data");

  for (k = 0; k < n_rows; k++) d->labels[k] = class_of(labels[k]);
  free(labels);

  d->rows.n_rows = n_rows;
  d->rows.n_features = n_features;
  d->rows.n_values = n_values;
  d->rows.indptr = d->indptr;
  d->rows.indices = d->indices;
  d->rows.values = d->values;
  d->rows.indptr_type = FEWLABEL_INT64;
  d->rows.index_type = FEWLABEL_INT32;
  d->rows.value_type = FEWLABEL_FLOAT64;
}

static void free_dataset(dataset *d) {
  free(d->indptr);
  free(d->indices);
  free(d->values);
  free(d->labels);
}

/* ---- Fit, report, predict ---------------------------------------------------------------------------------------- */

static int64_t fit(const dataset *d) {
  /* Scalars are options in JSON; what is not named has its default, and a name that does not exist is an error. */
  const char *options = "{\"method\": \"annealing\", \"alpha\": 1e-3, \"threads\": 2}";
  /* Another thread could watch this struct, and stop the fit by setting `cancel`. */
  fewlabel_progress progress = {0, 0, 0.0, 0.0, 0, 0.0};
  int64_t model;
  need(fewlabel_fit(&d->rows, d->labels, NULL, options, &progress, &model, error, sizeof error), "fitting");
  printf("fitted in %ld steps and %.0f passes over the data\n", (long)progress.step, progress.n_passes);
  return model;
}

/* Texts come in two calls: one for the room they take, one for the text. */
static void print_report(int64_t model) {
  int64_t needed;
  char *text;
  need(fewlabel_report(model, NULL, 0, &needed, error, sizeof error), "length of the report");
  text = room(needed, 1);
  need(fewlabel_report(model, text, needed, &needed, error, sizeof error), "report");
  printf("%s\n", text);
  free(text);
}

/* Classes and decision values of all rows. The decision of a row is above 0 when its class is 1. */
static void predict(int64_t model, const dataset *d, int32_t *classes, double *decisions) {
  int64_t i;
  need(fewlabel_predict(model, &d->rows, 2, classes, error, sizeof error), "predicting classes");
  need(fewlabel_decision(model, &d->rows, 2, decisions, error, sizeof error), "computing decisions");
  for (i = 0; i < d->rows.n_rows; i++) {
    ensure(classes[i] == (decisions[i] > 0), "a class is not the sign of its decision");
  }
}

/* The share of documents of the made-up file whose topic was found; few of them had a label. */
static void check_topics(const int32_t *classes) {
  int i, right = 0;
  for (i = 0; i < N_DOCUMENTS; i++) right += classes[i] == i % 2;
  printf("%d of %d topics found, from %d labels\n", right, N_DOCUMENTS, N_LABELED);
  ensure(right >= N_DOCUMENTS * 95 / 100, "fewer topics were found than expected");
}

int main(int argc, char **argv) {
  const int made_up = argc < 2;
  const char *path = made_up ? "two-topics.svmlight" : argv[1];
  const char *model_path = argc < 3 ? "two-topics.fewlabel" : argv[2];
  dataset d;
  int64_t model, loaded, n_rows;
  int32_t *classes, *classes_again;
  double *decisions, *decisions_again;

  ensure(fewlabel_abi_version() == FEWLABEL_ABI_VERSION, "fewlabel.h and the library are of different versions");
  printf("fewlabel %s\n", fewlabel_version());
  if (made_up) write_two_topics(path);
  read_dataset(path, &d);
  n_rows = d.rows.n_rows;
  printf("%ld rows, %ld features, %ld values\n", (long)n_rows, (long)d.rows.n_features, (long)d.rows.n_values);

  model = fit(&d);
  print_report(model);
  classes = room(n_rows, sizeof *classes);
  decisions = room(n_rows, sizeof *decisions);
  predict(model, &d, classes, decisions);
  if (made_up) check_topics(classes);

  /* A model file keeps the model and any JSON text of ours. */
  need(fewlabel_save(model, model_path, "{\"classes\": [\"-1\", \"+1\"]}", error, sizeof error), "saving the model");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");

  /* The loaded model decides exactly as the saved one did. */
  need(fewlabel_load(model_path, &loaded, error, sizeof error), "loading the model");
  classes_again = room(n_rows, sizeof *classes_again);
  decisions_again = room(n_rows, sizeof *decisions_again);
  predict(loaded, &d, classes_again, decisions_again);
  ensure(memcmp(classes, classes_again, (size_t)n_rows * sizeof *classes) == 0, "the loaded model has other classes");
  ensure(memcmp(decisions, decisions_again, (size_t)n_rows * sizeof *decisions) == 0,
         "the loaded model has other decisions");
  printf("the loaded model gives the same decisions\n");
  need(fewlabel_free(loaded, error, sizeof error), "freeing the loaded model");

  free(classes);
  free(classes_again);
  free(decisions);
  free(decisions_again);
  free_dataset(&d);
  if (made_up) remove(path);
  if (argc < 3) remove(model_path);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
