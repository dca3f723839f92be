/* Features from unlabeled rows: learn components, fit a classifier on the features, keep the components in a file.
 *
 * The auxiliary problems ask of each of the most frequent words whether it occurs, judged by all other words. The
 * classifier then has a few numbers a document in place of hundreds of words, and 18 labels are enough for it.
 */
#include "example.h"

enum { N_TOPICS = 6, N_DOCUMENTS = 3000, N_LABELED = 18, N_PROBLEMS = 300, N_COMPONENTS = 8 };

static const char *const path = "structure.safetensors";

/* The problems as rows of their own: the words of each document that are asked for. A problem does not see its word, so
 * that `hidden` has a row for each problem with one word in it. */
typedef struct {
  dataset labels, hidden;
  int32_t hides[N_PROBLEMS];
} problems;

/* The words with the most documents; `problem_of` gets the number of a word's problem, or -1. */
static void choose_words(const dataset *d, int32_t *problem_of, int32_t *words) {
  int64_t *count = NEW(int64_t, d->rows.n_features), k;
  int p;
  for (k = 0; k < d->rows.n_values; k++) count[d->indices[k]]++;
  for (k = 0; k < d->rows.n_features; k++) problem_of[k] = -1;
  for (p = 0; p < N_PROBLEMS; p++) {
    int64_t best = 0;
    for (k = 1; k < d->rows.n_features; k++) {
      if (count[k] > count[best]) best = k;
    }
    words[p] = (int32_t)best;
    problem_of[best] = p;
    count[best] = -1;
  }
  free(count);
}

static void make_problems(const dataset *d, problems *q) {
  int32_t *problem_of = NEW(int32_t, d->rows.n_features), words[N_PROBLEMS];
  int64_t i, k, n = 0;
  choose_words(d, problem_of, words);
  new_dataset(&q->labels, d->rows.n_rows, N_PROBLEMS, d->rows.n_values);
  for (i = 0; i < d->rows.n_rows; i++) {
    for (k = d->indptr[i]; k < d->indptr[i + 1]; k++) {
      if (problem_of[d->indices[k]] < 0) continue;
      q->labels.indices[n] = problem_of[d->indices[k]];
      q->labels.values[n++] = 1;
    }
    q->labels.indptr[i + 1] = n;
  }
  q->labels.rows.n_values = n;
  new_dataset(&q->hidden, N_PROBLEMS, d->rows.n_features, N_PROBLEMS);
  for (k = 0; k < N_PROBLEMS; k++) {
    q->hidden.indptr[k + 1] = k + 1;
    q->hidden.indices[k] = words[k];
    q->hidden.values[k] = 1;
    q->hides[k] = (int32_t)k;
  }
  free(problem_of);
}

/* The model of the components alone. */
static int64_t learn_components(const dataset *d) {
  problems q;
  int64_t model;
  make_problems(d, &q);
  need(fewlabel_structure_fit(&d->rows, &q.labels.rows, &q.hidden.rows, q.hides, NULL, N_COMPONENTS, NULL, NULL, &model,
                              error, sizeof error),
       "learning components");
  free_dataset(&q.labels);
  free_dataset(&q.hidden);
  return model;
}

/* The features of the documents: inner products with the components, which are read from the model. */
static double *features_of(const dataset *d, int64_t structure) {
  double *components = NEW(double, d->rows.n_features *N_COMPONENTS);
  double *features = NEW(double, d->rows.n_rows *N_COMPONENTS);
  const double none[N_COMPONENTS] = {0};
  need(fewlabel_array(structure, "components", FEWLABEL_FLOAT64, components, d->rows.n_features * N_COMPONENTS, error,
                      sizeof error),
       "the components");
  need(fewlabel_decision_with(&d->rows, components, none, N_COMPONENTS, 1, 2, features, error, sizeof error),
       "the features");
  free(components);
  return features;
}

/* Documents whose topic is found by a supervised classifier of the features of the labeled ones, which come first; the
 * made-up topics come in turns. */
static int topics_found(const dataset *d, const double *features) {
  const fewlabel_rows labeled = FEWLABEL_DENSE_ROWS(N_LABELED, N_COMPONENTS, features);
  const fewlabel_rows all = FEWLABEL_DENSE_ROWS(N_DOCUMENTS, N_COMPONENTS, features);
  const fewlabel_labels labels = FEWLABEL_LABELS(d->labels);
  int32_t *topics = NEW(int32_t, N_DOCUMENTS);
  int64_t model;
  int i, right = 0;
  need(fewlabel_fit(&labeled, &labels, NULL, 0, "{\"unlabeled_weight\": 0}", NULL, NULL, &model, error,
                    sizeof error),
       "fitting");
  need(fewlabel_predict(model, &all, 2, topics, NULL, error, sizeof error), "predicting");
  for (i = 0; i < N_DOCUMENTS; i++) right += topics[i] == i % N_TOPICS;
  need(fewlabel_free(model, error, sizeof error), "freeing the classifier");
  free(topics);
  return right;
}

int main(void) {
  dataset d;
  double *features, *again;
  int64_t model, loaded;
  int right;
  make_documents(&d, N_DOCUMENTS, N_TOPICS, 1, N_LABELED);
  model = learn_components(&d);
  features = features_of(&d, model);
  right = topics_found(&d, features);
  printf("%d of %d topics found, from %d labels\n", right, N_DOCUMENTS, N_LABELED);
  ensure(right >= N_DOCUMENTS * 9 / 10, "fewer topics were found than expected");

  need(fewlabel_save(model, path, NULL, error, sizeof error), "saving");
  need(fewlabel_load(path, &loaded, error, sizeof error), "loading");
  again = features_of(&d, loaded);
  ensure(memcmp(features, again, N_DOCUMENTS * N_COMPONENTS * sizeof *again) == 0, "the loaded components differ");
  printf("the loaded components give the same features\n");

  need(fewlabel_free(model, error, sizeof error), "freeing the components");
  need(fewlabel_free(loaded, error, sizeof error), "freeing the loaded components");
  free(features);
  free(again);
  free_dataset(&d);
  remove(path);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
