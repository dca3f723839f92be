/* Train a classifier from a file with few labels, save it, load it and predict with it.
 *
 *   train [FILE.svmlight [MODEL]]
 *
 * FILE has a label in front of every row, in the convention of SVMlight and SVMlin: +1 or -1 for the two classes and
 * 0 for a row without a label. Without FILE the program writes a small made-up one with two topics.
 */
#include "example.h"

enum { N_DOCUMENTS = 600, N_LABELED = 10 };

/* ---- Between files and arrays ------------------------------------------------------------------------------------ */

static void write_two_topics(const char *path) {
  dataset d;
  double *labels = NEW(double, N_DOCUMENTS);
  int i;
  make_documents(&d, N_DOCUMENTS, 2, 2, N_LABELED);
  for (i = 0; i < N_DOCUMENTS; i++) labels[i] = d.labels[i] < 0 ? 0 : d.labels[i] == 1 ? 1 : -1;
  need(fewlabel_svmlight_write(path, &d.rows, labels, 0, error, sizeof error), "writing the made-up file");
  free(labels);
  free_dataset(&d);
}

/* The class number that fewlabel_fit wants for a label of the file. */
static int32_t class_of(double label) {
  ensure(label == 1 || label == -1 || label == 0, "a label in the file is not +1, -1 or 0 (no label)");
  return label > 0 ? 1 : label < 0 ? 0 : -1;
}

static void copy(int64_t handle, const char *name, int32_t type, void *values, int64_t length) {
  need(fewlabel_array(handle, name, type, values, length, error, sizeof error), name);
}

/* Read a file. The library says how large the arrays must be, we provide them, and it fills them. */
static void read_dataset(const char *path, dataset *d) {
  int64_t handle, sizes[4], i;
  double *labels;
  need(fewlabel_svmlight_read(path, NULL, 0, 0, 0, NULL, &handle, sizes, error, sizeof error), "reading the rows");
  const int64_t n_rows = sizes[0], n_features = sizes[1], n_values = sizes[2], n_labels = sizes[3];
  ensure(n_labels == n_rows, "there are rows with more or fewer labels than one");
  new_dataset(d, n_rows, n_features, n_values);
  labels = NEW(double, n_rows);
  copy(handle, "indptr", FEWLABEL_INT64, d->indptr, n_rows + 1);
  copy(handle, "indices", FEWLABEL_INT32, d->indices, n_values);
  copy(handle, "values", FEWLABEL_FLOAT64, d->values, n_values);
  copy(handle, "labels", FEWLABEL_FLOAT64, labels, n_rows);
  need(fewlabel_free(handle, error, sizeof error), "freeing the file's data");
  for (i = 0; i < n_rows; i++) d->labels[i] = class_of(labels[i]);
  free(labels);
}

/* ---- Fit, report, predict ---------------------------------------------------------------------------------------- */

static int64_t fit(const dataset *d) {
  /* Scalars are options in JSON; what is not named has its default, and a name that does not exist is an error. */
  const char *options = "{\"method\": \"annealing\", \"alpha\": 1e-3, \"class_prior\": [0.5, 0.5], \"threads\": 2}";
  const fewlabel_labels labels = FEWLABEL_LABELS(d->labels);
  int64_t model;
  need(fewlabel_fit(&d->rows, &labels, NULL, 0, options, NULL, NULL, &model, error, sizeof error), "fitting");
  return model;
}

/* Texts come in two calls: one for the room they take, one for the text. */
static void print_report(int64_t model) {
  int64_t needed;
  char *text;
  need(fewlabel_report(model, NULL, 0, &needed, error, sizeof error), "length of the report");
  text = NEW(char, needed);
  need(fewlabel_report(model, text, needed, &needed, error, sizeof error), "report");
  printf("%s\n", text);
  free(text);
}

/* Classes and decision values of all rows. The decision of a row is above 0 when its class is 1. */
static void predict(int64_t model, const dataset *d, int32_t *classes, double *decisions) {
  int64_t i;
  need(fewlabel_predict(model, &d->rows, 2, classes, decisions, error, sizeof error), "predicting");
  for (i = 0; i < d->rows.n_rows; i++) {
    ensure(classes[i] == (decisions[i] > 0), "a class is not the sign of its decision");
  }
}

/* The documents of the made-up file whose topic was found; few of them had a label. */
static void check_topics(const int32_t *classes) {
  int i, right = 0;
  for (i = 0; i < N_DOCUMENTS; i++) right += classes[i] == i % 2;
  printf("%d of %d topics found, from %d labels\n", right, N_DOCUMENTS, N_LABELED);
  ensure(right >= N_DOCUMENTS * 95 / 100, "fewer topics were found than expected");
}

int main(int argc, char **argv) {
  const int made_up = argc < 2;
  const char *path = made_up ? "two-topics.svmlight" : argv[1];
  const char *model_path = argc < 3 ? "two-topics.safetensors" : argv[2];
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
  classes = NEW(int32_t, n_rows);
  decisions = NEW(double, n_rows);
  predict(model, &d, classes, decisions);
  if (made_up) check_topics(classes);

  /* A model file keeps the model and any JSON text of ours. */
  need(fewlabel_save(model, model_path, "{\"classes\": [\"-1\", \"+1\"]}", error, sizeof error), "saving the model");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");

  /* The loaded model decides exactly as the saved one did. */
  need(fewlabel_load(model_path, &loaded, error, sizeof error), "loading the model");
  classes_again = NEW(int32_t, n_rows);
  decisions_again = NEW(double, n_rows);
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
