/* Many classes, and a tree of them: six topics in three groups, four labels of each topic.
 *
 * Topics of one group share words. Told of the groups, the classifier learns these words from the labels of both
 * topics; the same fit without the tree stands beside it. (What a tree gains depends on the data; these are made up.)
 */
#include "example.h"

enum { N_TOPICS = 6, TOPICS_A_GROUP = 2, N_GROUPS = 3, N_NODES = N_TOPICS + N_GROUPS };
enum { N_DOCUMENTS = 800, N_LABELED = 4 * N_TOPICS };

static const char *const name[N_NODES] = {"cars",     "trains", "hockey",    "chess", "medicine",
                                          "space",    /* the classes come first, then the groups */
                                          "vehicles", "games",  "science"};

/* The number of each node's parent, -1 at the top. */
static const int parent[N_NODES] = {6, 6, 7, 7, 8, 8, -1, -1, -1};

/* The same tree as the options of a fit want it. The shares of the classes are known here; without class_prior they are
 * found from labeled and unlabeled rows. */
#define SETTINGS "\"loss\": \"maxent\", \"class_prior\": [0.1667, 0.1667, 0.1667, 0.1667, 0.1666, 0.1666]"
static const char *const flat = "{" SETTINGS "}";
static const char *const in_a_tree = "{" SETTINGS ", \"hierarchy\": [6, 6, 7, 7, 8, 8, -1, -1, -1]}";

static int64_t fit(const dataset *d, const char *options) {
  const fewlabel_labels labels = FEWLABEL_LABELS(d->labels);
  int64_t model;
  need(fewlabel_fit(&d->rows, &labels, NULL, 0, options, NULL, NULL, &model, error, sizeof error), "fitting");
  return model;
}

/* An array of a model by its name. fewlabel_report lists the names and lengths; these follow from the rows. */
static double *array_of(int64_t model, const char *name_of_array, int64_t length) {
  double *values = NEW(double, length);
  need(fewlabel_array(model, name_of_array, FEWLABEL_FLOAT64, values, length, error, sizeof error), name_of_array);
  return values;
}

/* With the loss maxent the decisions of a row are logarithms of the classes' probabilities but for a constant. */
static void probabilities_of(const double *decisions, double *probabilities) {
  double largest = decisions[0], sum = 0;
  int c;
  for (c = 1; c < N_TOPICS; c++) largest = fmax(largest, decisions[c]);
  for (c = 0; c < N_TOPICS; c++) sum += probabilities[c] = exp(decisions[c] - largest);
  for (c = 0; c < N_TOPICS; c++) probabilities[c] /= sum;
}

static void print_document(const double *decisions, int32_t topic) {
  double p[N_TOPICS];
  int c;
  probabilities_of(decisions, p);
  printf("a document about %s (%s):", name[topic], name[parent[topic]]);
  for (c = 0; c < N_TOPICS; c++) printf(" %s %.2f", name[c], p[c]);
  printf("\n");
}

/* A row has a decision for every class, side by side, and the largest is that of its class. */
static void check_decisions(const int32_t *classes, const double *decisions) {
  int i, c;
  for (i = 0; i < N_DOCUMENTS; i++) {
    for (c = 0; c < N_TOPICS; c++) {
      const double *of_row = decisions + i * N_TOPICS;
      ensure(of_row[c] <= of_row[classes[i]], "a class has not the largest decision of its row");
    }
  }
}

/* How many rows have the right topic. The group of a row is that of its class. */
static int count_right(const char *what, const int32_t *classes) {
  int i, topics = 0, groups = 0;
  for (i = 0; i < N_DOCUMENTS; i++) {
    topics += classes[i] == i % N_TOPICS;
    groups += parent[classes[i]] == parent[i % N_TOPICS];
  }
  printf("%s: %d topics and %d groups of %d documents are right\n", what, topics, groups, N_DOCUMENTS);
  return topics;
}

int main(void) {
  dataset d;
  int64_t model;
  int32_t *classes = NEW(int32_t, N_DOCUMENTS);
  double *decisions, *coef;

  make_documents(&d, N_DOCUMENTS, N_TOPICS, TOPICS_A_GROUP, N_LABELED);
  model = fit(&d, flat);
  need(fewlabel_predict(model, &d.rows, 1, classes, NULL, error, sizeof error), "predicting classes");
  need(fewlabel_free(model, error, sizeof error), "freeing the flat model");
  count_right("without the tree", classes);

  model = fit(&d, in_a_tree);
  decisions = NEW(double, N_DOCUMENTS * N_TOPICS);
  need(fewlabel_predict(model, &d.rows, 1, classes, decisions, error, sizeof error), "predicting");
  check_decisions(classes, decisions);
  ensure(count_right("with the tree", classes) >= N_DOCUMENTS * 3 / 4, "fewer topics were found than expected");
  print_document(decisions + 20 * N_TOPICS, classes[20]);

  /* The weights of a feature stand side by side; feature 0 is the most frequent word of the first topic. */
  coef = array_of(model, "coef", d.rows.n_features * N_TOPICS);
  printf("feature 0 speaks for %s with a weight of %.2f, for %s with %.2f\n", name[0], coef[0], name[5], coef[5]);
  ensure(coef[0] > coef[5], "the word of a topic speaks for another topic");

  /* The model keeps the classes but not their tree; the metadata of its file can. */
  need(fewlabel_save(model, "tree.safetensors",
                     "{\"classes\": [\"cars\", \"trains\", \"hockey\", \"chess\", \"medicine\", \"space\"],"
                     " \"parents\": [6, 6, 7, 7, 8, 8, -1, -1, -1]}",
                     error, sizeof error),
       "saving the model");
  remove("tree.safetensors");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  free(coef);
  free(decisions);
  free(classes);
  free_dataset(&d);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
