/* Features from unlabeled rows: learn components, a classifier on them, keep both in one file and use it.
 *
 * The auxiliary problems ask of each of the most frequent words whether it occurs, judged by all other words. The
 * classifier then has a few numbers a document in place of hundreds of words, and 18 labels are enough for it.
 */
#include "example.h"

enum { N_TOPICS = 6, N_DOCUMENTS = 3000, N_LABELED = 18, N_PROBLEMS = 300, N_COMPONENTS = 8 };

static const char *const path = "structure.fewlabel";

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

/* A supervised classifier of the structure features of the labeled documents, which come first. */
static void fit_classifier(const dataset *d, int64_t structure, double *coef, double *intercept) {
  double *features = NEW(double, d->rows.n_rows *N_COMPONENTS);
  const fewlabel_rows labeled = FEWLABEL_DENSE_ROWS(N_LABELED, N_COMPONENTS, features);
  const fewlabel_labels labels = FEWLABEL_LABELS(d->labels);
  int64_t model;
  need(fewlabel_structure_features(structure, &d->rows, 2, features, error, sizeof error), "structure features");
  need(fewlabel_fit(&labeled, &labels, NULL, 0, "{\"unlabeled_weight\": 0}", NULL, NULL, &model, error, sizeof error),
       "fitting");
  need(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, N_COMPONENTS * N_TOPICS, error, sizeof error), "coef");
  need(fewlabel_array(model, "intercept", FEWLABEL_FLOAT64, intercept, N_TOPICS, error, sizeof error), "intercept");
  need(fewlabel_free(model, error, sizeof error), "freeing the classifier");
  free(features);
}

/* The model of both. The words themselves have no weight in this classifier. */
static int64_t learn(const dataset *d) {
  const int64_t n = d->rows.n_features, structure = learn_components(d);
  double *components = NEW(double, n *N_COMPONENTS), *none = NEW(double, n *N_TOPICS);
  double coef[N_COMPONENTS * N_TOPICS], intercept[N_TOPICS];
  const fewlabel_named parts[] = {{"components", components, n * N_COMPONENTS},
                                  {"coef", none, n * N_TOPICS},
                                  {"structure_coef", coef, N_COMPONENTS * N_TOPICS},
                                  {"intercept", intercept, N_TOPICS}};
  char sizes[100];
  int64_t model;
  need(fewlabel_array(structure, "components", FEWLABEL_FLOAT64, components, n * N_COMPONENTS, error, sizeof error),
       "the components");
  fit_classifier(d, structure, coef, intercept);
  need(fewlabel_free(structure, error, sizeof error), "freeing the components");
  sprintf(sizes, "{\"n_features\": %d, \"n_components\": %d, \"n_outputs\": %d}", (int)n, N_COMPONENTS, N_TOPICS);
  need(fewlabel_assemble(FEWLABEL_STRUCTURE, sizes, parts, 4, &model, error, sizeof error), "assembling the model");
  free(components);
  free(none);
  return model;
}

/* Documents whose topic, that of the largest decision, was found; the made-up topics come in turns. */
static int right_of(const double *decisions) {
  int i, c, right = 0;
  for (i = 0; i < N_DOCUMENTS; i++) {
    const double *of_row = decisions + i * N_TOPICS;
    int best = 0;
    for (c = 1; c < N_TOPICS; c++) best = of_row[c] > of_row[best] ? c : best;
    right += best == i % N_TOPICS;
  }
  return right;
}

int main(void) {
  double *decisions = NEW(double, N_DOCUMENTS *N_TOPICS), *again = NEW(double, N_DOCUMENTS *N_TOPICS);
  dataset d;
  int64_t model, loaded;
  make_documents(&d, N_DOCUMENTS, N_TOPICS, 1, N_LABELED);
  model = learn(&d);
  need(fewlabel_predict(model, &d.rows, 2, NULL, decisions, error, sizeof error), "deciding");
  printf("%d of %d topics found, from %d labels\n", right_of(decisions), N_DOCUMENTS, N_LABELED);
  ensure(right_of(decisions) >= N_DOCUMENTS * 9 / 10, "fewer topics were found than expected");

  need(fewlabel_save(model, path, "{\"classes\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]}", error, sizeof error),
       "saving");
  need(fewlabel_load(path, &loaded, error, sizeof error), "loading");
  need(fewlabel_predict(loaded, &d.rows, 1, NULL, again, error, sizeof error), "deciding again");
  ensure(memcmp(decisions, again, N_DOCUMENTS * N_TOPICS * sizeof *again) == 0, "the loaded model decides otherwise");
  printf("the loaded model gives the same decisions\n");

  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  need(fewlabel_free(loaded, error, sizeof error), "freeing the loaded model");
  free(decisions);
  free(again);
  free_dataset(&d);
  remove(path);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
