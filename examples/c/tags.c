/* Tag the words of a sentence with a stored model of label sequences.
 *
 *   tags [WORD ...]      the words of a sentence, for example: tags Ana Rulfo lives in Lima
 *
 * The program first learns from a few sentences of its own and stores the model; then it loads it as any other program
 * could that knows the words and the tags in the order of the model. */
#include "example.h"

#define MODEL "tags.safetensors"

enum { OUTSIDE, PERSON, PERSON_ON, PLACE, N_TAGS };
static const char *const tag_name[N_TAGS] = {"O", "B-PER", "I-PER", "B-LOC"};

/* A word and its tag; the end of a sentence is a word of NULL. */
typedef struct {
  const char *word;
  int32_t tag;
} token;

static const token sentences[] = {
    {"Ana", PERSON}, {"lives", OUTSIDE}, {"in", OUTSIDE}, {"Lima", PLACE}, {NULL, 0},
    {"Lima", PLACE}, {"grows", OUTSIDE}, {NULL, 0},
    {"Juan", PERSON}, {"Rulfo", PERSON_ON}, {"wrote", OUTSIDE}, {"novels", OUTSIDE}, {NULL, 0},
    {"Ana", PERSON}, {"Blume", PERSON_ON}, {"left", OUTSIDE}, {"Quito", PLACE}, {NULL, 0},
    {"novels", OUTSIDE}, {"sell", OUTSIDE}, {"in", OUTSIDE}, {"Quito", PLACE}, {NULL, 0},
};
enum { N_ENTRIES = sizeof sentences / sizeof *sentences };

/* A word that is not known has no features but those of its neighbours. */
enum { UNKNOWN = N_ENTRIES, N_FEATURES = 2 * N_ENTRIES };

/* The number of a word: where it first stands in the sentences. */
static int number_of(const char *word) {
  int k;
  for (k = 0; k < N_ENTRIES; k++) {
    if (sentences[k].word != NULL && strcmp(sentences[k].word, word) == 0) return k;
  }
  return UNKNOWN;
}

/* Append a token: its word, and the word in front of it unless it is the first. */
static void append(dataset *d, const char *word, const char *before) {
  int64_t at = d->indptr[d->rows.n_rows];
  if (number_of(word) != UNKNOWN) d->indices[at++] = number_of(word);
  if (before != NULL && number_of(before) != UNKNOWN) d->indices[at++] = N_ENTRIES + number_of(before);
  d->rows.n_rows++;
  d->indptr[d->rows.n_rows] = d->rows.n_values = at;
}

static void start_tokens(dataset *d, int n_tokens) {
  int k;
  new_dataset(d, n_tokens, N_FEATURES, 2 * n_tokens);
  d->rows.n_rows = d->rows.n_values = 0;
  for (k = 0; k < 2 * n_tokens; k++) d->values[k] = 1;
}

/* ---- Learn and store --------------------------------------------------------------------------------------------- */

static void learn(const char *path) {
  /* "I-PER" comes only after a name has begun: not first, not after the tags 0 and 3. */
  const char *options = "{\"forbidden_transitions\": [-1, 2, 0, 2, 3, 2]}";
  int64_t lengths[N_ENTRIES], n_sentences = 0, model;
  dataset d;
  int k;
  start_tokens(&d, N_ENTRIES);
  lengths[0] = 0;
  for (k = 0; k < N_ENTRIES; k++) {
    if (sentences[k].word == NULL) {
      n_sentences++;
      if (k + 1 < N_ENTRIES) lengths[n_sentences] = 0;
      continue;
    }
    d.labels[d.rows.n_rows] = sentences[k].tag;
    append(&d, sentences[k].word, lengths[n_sentences] > 0 ? sentences[k - 1].word : NULL);
    lengths[n_sentences]++;
  }
  need(fewlabel_sequence_fit(&d.rows, lengths, n_sentences, d.labels, NULL, 0, options, NULL, &model, error,
                             sizeof error),
       "learning");
  need(fewlabel_save(model, path, "{\"tags\": [\"O\", \"B-PER\", \"I-PER\", \"B-LOC\"]}", error, sizeof error),
       "saving the model");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  free_dataset(&d);
}

/* ---- Load and tag ------------------------------------------------------------------------------------------------ */

static void tag(int64_t model, const char *const *words, int n_words, int32_t *tags) {
  const int64_t length = n_words;
  double margin, *marginals = NEW(double, N_TAGS * n_words);
  dataset d;
  int k;
  start_tokens(&d, n_words);
  for (k = 0; k < n_words; k++) append(&d, words[k], k > 0 ? words[k - 1] : NULL);
  need(fewlabel_sequence_decode(model, &d.rows, &length, 1, 1, tags, NULL, &margin, marginals, error, sizeof error),
       "tagging");
  for (k = 0; k < n_words; k++) {
    printf("%-10s %-6s %.2f\n", words[k], tag_name[tags[k]], marginals[N_TAGS * k + tags[k]]);
  }
  printf("the second-best tags score %.2f less\n", margin);
  free(marginals);
  free_dataset(&d);
}

int main(int argc, char **argv) {
  static const char *const words[] = {"Ana", "Rulfo", "lives", "in", "Quito"};
  static const int32_t right[] = {PERSON, PERSON_ON, OUTSIDE, OUTSIDE, PLACE};
  enum { N_WORDS = sizeof words / sizeof *words };
  const int n_words = argc > 1 ? argc - 1 : N_WORDS;
  int32_t *tags = NEW(int32_t, n_words);
  int64_t model;
  learn(MODEL);
  need(fewlabel_load(MODEL, &model, error, sizeof error), "loading the model");
  tag(model, argc > 1 ? (const char *const *)argv + 1 : words, n_words, tags);
  ensure(argc > 1 || memcmp(tags, right, sizeof right) == 0, "the tags are not those expected");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  remove(MODEL);
  free(tags);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
