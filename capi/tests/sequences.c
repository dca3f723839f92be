/* Label sequences from C: a fit, its model, decoding, and what must be refused. */
#include <math.h>

#include "check.h"

enum { N_TAGS = 2, N_SEQUENCES = 2 };

/* A model put together. */
static int32_t assemble(const char *description, const double *coef, const double *transitions, const double *start,
                        const double *end, int64_t *model) {
  const fewlabel_named parts[] = {{"coef", coef, N_FEATURES * N_TAGS}, {"transitions", transitions, N_TAGS * N_TAGS},
                                  {"start", start, N_TAGS}, {"end", end, N_TAGS}};
  return fewlabel_assemble(FEWLABEL_SEQUENCE, description, parts, 4, model, ERROR);
}

#define SIZES "{\"n_tags\": 2, \"n_features\": 4}"
#define CHAIN_FILE "sequences.safetensors"

/* The rows of check.h as two sequences of four tokens: tag 0 has the features 0 and 1, tag 1 the others. */
typedef struct {
  problem p;
  int64_t lengths[N_SEQUENCES];
  int32_t labels[N_ROWS];
} sequences;

static void good_sequences(sequences *s) {
  int i;
  good_problem(&s->p);
  for (i = 0; i < N_SEQUENCES; i++) s->lengths[i] = N_ROWS / N_SEQUENCES;
  for (i = 0; i < N_ROWS; i++) s->labels[i] = i >= N_ROWS / 2;
  s->labels[2] = -1;
}

static int64_t fitted(sequences *s, const char *options) {
  int64_t model = 0;
  WORKS(fewlabel_sequence_fit(&s->p.rows, s->lengths, N_SEQUENCES, s->labels, NULL, 0, options, NULL, &model, ERROR));
  return model;
}

/* A model and the same put together from its arrays agree. */
static void decoding(const char *options) {
  sequences s;
  int64_t model, again = 0;
  int32_t tags[N_ROWS], other_tags[N_ROWS];
  double coef[N_FEATURES * N_TAGS], transitions[N_TAGS * N_TAGS], start[N_TAGS], end[N_TAGS];
  double scores[N_SEQUENCES], margins[N_SEQUENCES], marginals[N_ROWS * N_TAGS], other[N_SEQUENCES];
  int i;
  good_sequences(&s);
  model = fitted(&s, options);
  WORKS(fewlabel_sequence_decode(model, &s.p.rows, s.lengths, N_SEQUENCES, 2, tags, scores, margins, marginals, ERROR));
  for (i = 0; i < N_ROWS; i++) {
    HOLDS(tags[i] == (i >= N_ROWS / 2));
    HOLDS(fabs(marginals[2 * i] + marginals[2 * i + 1] - 1) < 1e-12);
  }
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, N_FEATURES * N_TAGS, ERROR));
  WORKS(fewlabel_array(model, "transitions", FEWLABEL_FLOAT64, transitions, N_TAGS * N_TAGS, ERROR));
  WORKS(fewlabel_array(model, "start", FEWLABEL_FLOAT64, start, N_TAGS, ERROR));
  WORKS(fewlabel_array(model, "end", FEWLABEL_FLOAT64, end, N_TAGS, ERROR));
  WORKS(assemble(SIZES, coef, transitions, start, end, &again));
  WORKS(fewlabel_sequence_decode(again, &s.p.rows, s.lengths, N_SEQUENCES, 1, other_tags, NULL, other, NULL, ERROR));
  HOLDS(memcmp(tags, other_tags, sizeof tags) == 0 && memcmp(margins, other, sizeof margins) == 0);
  WORKS(fewlabel_free(again, ERROR));
  WORKS(fewlabel_free(model, ERROR));
}

/* A model from a file decodes to the same bits; what is forbidden stays so. */
static void files(void) {
  sequences s;
  int64_t model, needed, loaded = 0;
  int32_t tags[N_ROWS], same_tags[N_ROWS];
  double scores[N_SEQUENCES], same_scores[N_SEQUENCES], margins[N_SEQUENCES], same_margins[N_SEQUENCES];
  double marginals[N_ROWS * N_TAGS], same_marginals[N_ROWS * N_TAGS], transitions[N_TAGS * N_TAGS];
  char report[2000];
  good_sequences(&s);
  model = fitted(&s, "{\"forbidden_transitions\": [0, 1]}");
  WORKS(fewlabel_sequence_decode(model, &s.p.rows, s.lengths, N_SEQUENCES, 2, tags, scores, margins, marginals, ERROR));
  WORKS(fewlabel_save(model, CHAIN_FILE, "{\"tags\": [\"O\", \"B\"]}", ERROR));
  WORKS(fewlabel_load(CHAIN_FILE, &loaded, ERROR));
  WORKS(fewlabel_sequence_decode(loaded, &s.p.rows, s.lengths, N_SEQUENCES, 1, same_tags, same_scores, same_margins,
                                 same_marginals, ERROR));
  HOLDS(memcmp(tags, same_tags, sizeof tags) == 0 && memcmp(scores, same_scores, sizeof scores) == 0);
  HOLDS(memcmp(margins, same_margins, sizeof margins) == 0 && memcmp(marginals, same_marginals, sizeof marginals) == 0);
  WORKS(fewlabel_array(loaded, "transitions", FEWLABEL_FLOAT64, transitions, N_TAGS * N_TAGS, ERROR));
  HOLDS(transitions[1] == -INFINITY && isfinite(transitions[2]));
  WORKS(fewlabel_save(loaded, CHAIN_FILE, NULL, ERROR)); /* keeps the metadata */
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_load(CHAIN_FILE, &loaded, ERROR));
  WORKS(fewlabel_report(loaded, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"metadata\":{\"tags\":[\"O\",\"B\"]}") != NULL);
  HOLDS(strstr(report, "\"method\":\"softmax_margin\",\"n_iter\":10") != NULL);
  HOLDS(strstr(report, "\"termination_condition\":\"epochs\"") != NULL);
  HOLDS(strstr(report, "history") == NULL);
  FAILS(FEWLABEL_BAD_HANDLE, "a model of sequences", fewlabel_predict(loaded, &s.p.rows, 1, tags, NULL, ERROR));
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  HOLDS(remove(CHAIN_FILE) == 0);
}

static void refused(void) {
  sequences s;
  int64_t model = 0, linear = 0;
  int32_t tags[N_ROWS];
  fewlabel_progress progress;
  double pairs[N_TAGS * N_TAGS] = {0, 0, 0, NAN}, zeros[N_FEATURES * N_TAGS] = {0};
  memset(&progress, 0, sizeof progress);
  good_sequences(&s);
#define FIT(n, labels, options) \
  fewlabel_sequence_fit(&s.p.rows, s.lengths, n, labels, NULL, 0, options, NULL, &model, ERROR)
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown option \"losses\"; there are alpha, loss, ",
        FIT(N_SEQUENCES, s.labels, "{\"losses\": 1}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "loss is \"hinge\"", FIT(N_SEQUENCES, s.labels, "{\"loss\": \"hinge\"}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "forbidden_transitions has 1 numbers",
        FIT(N_SEQUENCES, s.labels, "{\"forbidden_transitions\": [1]}"));
  FAILS(FEWLABEL_BAD_DATA, "labels of sequence 0, tokens 0 and 1 (row 1): tag 0 after tag 0",
        FIT(N_SEQUENCES, s.labels, "{\"forbidden_transitions\": [0, 0]}"));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_sequences is 0", FIT(0, s.labels, NULL));
  FAILS(FEWLABEL_BAD_DATA, "lengths sum to 4, but there are 8 rows", FIT(1, s.labels, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels is NULL", FIT(N_SEQUENCES, NULL, NULL));
  s.lengths[1] = 0;
  FAILS(FEWLABEL_BAD_DATA, "lengths of sequence 1 is 0", FIT(N_SEQUENCES, s.labels, NULL));
  good_sequences(&s);
  s.labels[5] = 3;
  FAILS(FEWLABEL_BAD_DATA, "no token has tag 2", FIT(N_SEQUENCES, s.labels, NULL));
  good_sequences(&s);
  progress.cancel = 1;
  FAILS(FEWLABEL_CANCELLED, "cancelled",
        fewlabel_sequence_fit(&s.p.rows, s.lengths, N_SEQUENCES, s.labels, NULL, 0, NULL, &progress, &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "transitions[3] is NaN", assemble(SIZES, zeros, pairs, zeros, zeros, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "description: the field n_features is missing",
        assemble("{\"n_tags\": 2}", zeros, zeros, zeros, zeros, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "coef has 8 values and should have 4",
        assemble("{\"n_tags\": 2, \"n_features\": 2}", zeros, zeros, zeros, zeros, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "transitions would have the shape [50000 50000]",
        assemble("{\"n_tags\": 50000, \"n_features\": 1}", zeros, pairs, zeros, zeros, &model));
  WORKS(fewlabel_fit(&s.p.rows, LABELS(s.p.labels), NULL, 0, NULL, NULL, NULL, &linear, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of a linear classifier",
        fewlabel_sequence_decode(linear, &s.p.rows, s.lengths, N_SEQUENCES, 1, tags, NULL, NULL, NULL, ERROR));
  WORKS(fewlabel_free(linear, ERROR));
  model = fitted(&s, NULL);
  FAILS(FEWLABEL_BAD_HANDLE, "a model of sequences", fewlabel_predict(model, &s.p.rows, 1, tags, NULL, ERROR));
  s.p.rows.n_features--;
  s.p.rows.n_rows = N_ROWS / 2;
  s.p.rows.n_values = s.p.indptr[N_ROWS / 2];
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows have 3 features, the model has 4",
        fewlabel_sequence_decode(model, &s.p.rows, s.lengths, 1, 1, tags, NULL, NULL, NULL, ERROR));
  WORKS(fewlabel_free(model, ERROR));
}

int main(void) {
  decoding(NULL);
  decoding("{\"loss\": \"crf\", \"alpha\": 1e-2, \"threads\": 2}");
  files();
  refused();
  return conclude("sequences");
}
