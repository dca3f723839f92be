/* Calls of every function in random order, with handles that are live, freed, of another kind or made up, and with
 * sizes, types, options, data and files that are right or not. Pointers are right or NULL. Works in the current folder.
 *
 *   calls [NUMBER [SEED]]     the first half of the calls come from one thread, the second half from three at a time
 *
 * What must hold after every call stands in `after`. At the end every function must have succeeded and failed. All the
 * time there are signals, with a handler that was not installed for other stacks. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include <pthread.h>
#include <unistd.h>

#include "arguments.h"
#include "host.h"

/* ---- What must hold ---------------------------------------------------------------------------------------------- */

static int untouched(const output *o, size_t from) {
  size_t k;
  for (k = from; k < sizeof o->bytes; k++) {
    if (o->bytes[k] != PATTERN) return 0;
  }
  return 1;
}

static void require(caller *c, int holds, int function, int32_t status, const char *what) {
  const int told = memchr(c->message.bytes, 0, sizeof c->message.bytes) != NULL;
  if (holds) return;
  fprintf(stderr, "call %ld of seed %lu, fewlabel_%s: %s; status %d, text '%s', message '%s'\n", c->k,
          (unsigned long)c->seed, function_name[function], what, (int)status, c->in.text,
          told ? (char *)c->message.bytes : "");
  c->faults++;
}

static void after(caller *c, int function, int32_t status) {
  const size_t written = c->message_at != NULL && c->message_size > 0 ? (size_t)c->message_size : 0;
  int k;
  require(c, status >= FEWLABEL_OK && status < N_STATUSES && status != FEWLABEL_INTERNAL && status != FEWLABEL_FORKED,
          function, status, "undocumented, or a defect");
  require(c, c->spoiled || status == FEWLABEL_OK, function, status, "fails though every argument is right");
  require(c, !c->wrong_handle || status != FEWLABEL_OK, function, status, "succeeds with a wrong handle");
  require(c, c->wrong_handle || status != FEWLABEL_BAD_HANDLE, function, status, "refuses a live handle");
  require(c, untouched(&c->message, written), function, status, "writes behind the buffer of the message");
  require(c, status == FEWLABEL_OK || written == 0 || memchr(c->message.bytes, 0, written) != NULL, function, status,
          "the message has no end");
  for (k = 0; k < N_OUTPUTS; k++) {
    const int may_have =
        function == CALL_predict || function == CALL_decision_with || function == CALL_sequence_decode;
    const int written_to = status == FEWLABEL_OK || (may_have && status == FEWLABEL_BAD_DATA);
    require(c, untouched(&c->out[k], written_to ? ROOM : 0), function, status,
            "writes behind an output, or an output of a failed call");
  }
  require(c, memcmp(&c->in, &c->before, sizeof c->in) == 0, function, status, "writes an input");
  if (c->alone) require(c, fewlabel_live_handles() == c->n_live, function, status, "another number of live handles");
  if (status >= 0 && status < N_STATUSES) c->count[function][status]++;
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

static void forget(caller *c, int64_t freed) {
  const int place = place_of(c, freed);
  if (place < 0) return; /* `after` has seen that a wrong handle was freed */
  c->stale[c->n_stale < MOST_STALE ? c->n_stale++ : below(c, MOST_STALE)] = freed;
  c->n_live--;
  c->live[place] = c->live[c->n_live];
  c->kind[place] = c->kind[c->n_live];
  c->n_features[place] = c->n_features[c->n_live];
}

/* A number of the report behind its `part`; -1 if it has none of this name. */
static int64_t reported(int64_t handle, const char *part, const char *name) {
  char text[ROOM], wanted[60];
  const char *found;
  int64_t needed;
  if (fewlabel_report(handle, text, sizeof text, &needed, NULL, 0) != FEWLABEL_OK) return -1;
  sprintf(wanted, "\"%s\":", name);
  found = strstr(strstr(text, part), wanted);
  return found == NULL ? -1 : atol(found + strlen(wanted));
}

static int64_t length_of(int64_t handle, const char *name) { return reported(handle, "\"arrays\":", name); }

/* Remember handle k of the first output, and the features that rows for it must have. */
static void keep(caller *c, int function, int k) {
  const int place = c->n_live++;
  int64_t sizes[4], h;
  memcpy(&h, c->out[0].bytes + k * sizeof h, sizeof h);
  memcpy(sizes, c->out[1].bytes, sizeof sizes);
  c->live[place] = h;
  c->kind[place] = function == CALL_svmlight_read             ? FILE_DATA
                   : reported(h, "{", "n_tags") >= 0          ? FEWLABEL_SEQUENCE
                   : reported(h, "{", "n_components") >= 0    ? FEWLABEL_STRUCTURE
                                                              : FEWLABEL_LINEAR;
  c->n_features[place] = function == CALL_svmlight_read ? sizes[1] : reported(h, "{", "n_features");
  require(c, c->n_features[place] >= (function != CALL_svmlight_read), function, FEWLABEL_OK, "has no feature");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

#define OUT(type, k) ((type *)OR_NULL(c, c->out[k].bytes))
#define MESSAGE c->message_at, c->message_size

/* The kinds of handles that a function takes; 0: it takes none. */
static int kinds_for(int function) {
  if (takes(function, "int64_t handle;")) return ANY_MODEL | KIND(FILE_DATA);
  if (!takes(function, "int64_t model;")) return 0;
  switch (function) {
    case CALL_predict: return KIND(FEWLABEL_LINEAR);
    case CALL_sequence_decode: return KIND(FEWLABEL_SEQUENCE);
    default: return ANY_MODEL;
  }
}

/* Fresh outputs, and inputs for a function that wants some; the handle of the call. */
static int64_t prepare(caller *c, int function) {
  static const int64_t sizes[] = {0, 1, 2, 17, 400, 400, 400, ROOM, -1, INT64_MIN};
  const int kinds = kinds_for(function);
  int64_t h = 0;
  int k;
  c->spoiled = c->wrong_handle = 0;
  if (kinds != 0) h = handle(c, kinds);
  memset(&c->in, 0, sizeof c->in);
  if (takes(function, "const fewlabel_rows * rows;")) make_rows_for(c, h);
  if (takes(function, "const double * coef;")) make_weights(c);
  if (function == CALL_decision_with || function == CALL_structure_fit) {
    if (c->in.rows.n_features == INT32_MAX) c->in.rows.n_features = 0; /* weights would be a bad pointer */
  }
  if (takes(function, "const int64_t * lengths;")) make_lengths(c);
  if (function == CALL_structure_fit) c->spoiled = 1; /* too few features occur, or too few that differ */
  if (takes(function, "const char * options;") && one_in(c, 2)) {
    (function == CALL_fit             ? make_options
     : function == CALL_class_prior   ? make_share_options
     : function == CALL_structure_fit ? make_structure_options
                                      : make_sequence_options)(c);
  }
  if (takes(function, " labels;") && spoil(c, 10)) {
    c->in.labels[below(c, MOST_ROWS)] = (int32_t)odd_size(c);
  }
  c->new_kind = 1 + below(c, 3);
  if (function == CALL_assemble) {
    make_model(c, c->new_kind);
    if (one_in(c, 4)) spoil_model(c);
  }
  memcpy(&c->before, &c->in, sizeof c->in);
  for (k = 0; k < N_OUTPUTS; k++) memset(c->out[k].bytes, PATTERN, sizeof c->out[k].bytes);
  memset(c->message.bytes, PATTERN, sizeof c->message.bytes);
  c->message_at = one_in(c, 10) ? NULL : (char *)c->message.bytes;
  c->message_size = ONE_OF(c, sizes);
  return h;
}

#define OPTIONS (c->in.text[0] == '\0' ? NULL : c->in.text)

/* A model to start from, which may have other features or classes; often none. */
static int64_t start_of(caller *c, int kind) {
  int64_t start;
  if (!one_in(c, 3)) return 0;
  start = handle(c, KIND(kind));
  c->spoiled = 1;
  if (start == 0) c->wrong_handle = 0;
  return start;
}

static fewlabel_progress *progress_of(caller *c, fewlabel_progress *progress) {
  memset(progress, 0, sizeof *progress);
  if (spoil(c, 20)) progress->cancel = odd_size(c);
  return one_in(c, 2) ? NULL : progress;
}

static int32_t call_fit(caller *c) {
  fewlabel_progress progress;
  const double *weights = spoil(c, 2) ? c->in.weights : NULL;
  const int64_t start = start_of(c, FEWLABEL_LINEAR);
  make_known(c);
  return fewlabel_fit(OR_NULL(c, &c->in.rows), OR_NULL(c, &c->in.known), weights, start, OPTIONS,
                      progress_of(c, &progress), NULL, OUT(int64_t, 0), MESSAGE);
}

static int64_t n_unlabeled(const caller *c) {
  int64_t n = 0, i;
  for (i = 0; i < c->in.rows.n_rows && i < MOST_ROWS; i++) n += c->in.labels[i] < 0;
  return n;
}

static int32_t call_class_prior(caller *c) {
  const double *weights = spoil(c, 2) ? c->in.weights : NULL;
  double *lower = one_in(c, 2) ? NULL : (double *)c->out[1].bytes;
  double *upper = one_in(c, 2) ? NULL : (double *)c->out[2].bytes;
  const fewlabel_labels plain = FEWLABEL_LABELS(OR_NULL(c, c->in.labels));
  c->in.known = plain;
  c->in.known.n_classes = n_classes_of(c);
  if (spoil(c, 10)) c->in.known.n_classes = one_in(c, 2) ? -1 : 1 + below(c, MOST_CLASSES);
  if (n_unlabeled(c) < 2) c->spoiled = 1;
  memcpy(&c->before.known, &c->in.known, sizeof c->in.known);
  return fewlabel_class_prior(OR_NULL(c, &c->in.rows), OR_NULL(c, &c->in.known), weights, OPTIONS, OUT(double, 0),
                              lower, upper, one_in(c, 2) ? NULL : (char *)c->out[3].bytes, ROOM, MESSAGE);
}

/* At least one output is wanted; a structure may have no classifier. */
/* Whether rows may have a score by a model that is not finite, or sequences no path. */
static int may_refuse(int64_t h) {
  static const char *const names[] = {"coef", "intercept", "transitions", "start", "end"};
  double values[ROOM / sizeof(double)];
  int k;
  for (k = 0; k < 5; k++) {
    int64_t n = length_of(h, names[k]);
    if (n < 0) continue; /* another kind of model */
    if (n > ROOM / 8 || fewlabel_array(h, names[k], FEWLABEL_FLOAT64, values, n, NULL, 0) != FEWLABEL_OK) return 1;
    while (n > 0) {
      if (fabs(values[--n]) > 1e100) return 1; /* NaN is no reason: no model has it */
    }
  }
  return 0;
}

static int32_t call_predict(caller *c, int64_t h) {
  const int place = place_of(c, h), what = below(c, 3);
  if (place >= 0 && (c->kind[place] != FEWLABEL_LINEAR || may_refuse(h))) c->spoiled = 1;
  return fewlabel_predict(h, OR_NULL(c, &c->in.rows), threads(c), what == 0 ? NULL : OUT(int32_t, 0),
                          what == 1 ? NULL : OUT(double, 1), MESSAGE);
}

static int32_t call_decision_with(caller *c) {
  static const int64_t impossible[] = {0, -1, INT64_MIN, INT64_MAX, INT64_C(1) << 48};
  const int64_t n_outputs = spoil(c, 20) ? ONE_OF(c, impossible) : 1 + below(c, MOST_CLASSES);
  const int32_t by_feature = spoil(c, 20) ? -1 + 3 * below(c, 2) : below(c, 2);
  return fewlabel_decision_with(OR_NULL(c, &c->in.rows), OR_NULL(c, c->in.table), OR_NULL(c, c->in.shares), n_outputs,
                                by_feature, threads(c), OUT(double, 0), MESSAGE);
}

/* The features of the rows are the problems, too. */
static int32_t call_structure_fit(caller *c) {
  static const int64_t impossible[] = {0, -1, INT64_MIN, INT64_MAX, INT64_C(1) << 30};
  const fewlabel_rows *hidden = one_in(c, 2) ? NULL : &c->in.rows;
  const int64_t n_components = one_in(c, 10) ? ONE_OF(c, impossible) : 1 + below(c, 3);
  fewlabel_progress progress;
  return fewlabel_structure_fit(OR_NULL(c, &c->in.rows), OR_NULL(c, &c->in.rows), hidden,
                                hidden == NULL || one_in(c, 2) ? NULL : c->in.labels,
                                one_in(c, 2) ? NULL : c->in.labels, n_components, OPTIONS, progress_of(c, &progress),
                                OUT(int64_t, 0), MESSAGE);
}

static int32_t call_sequence_fit(caller *c) {
  fewlabel_progress progress;
  const int64_t start = start_of(c, FEWLABEL_SEQUENCE);
  return fewlabel_sequence_fit(OR_NULL(c, &c->in.rows), OR_NULL(c, c->in.lengths), c->n_sequences,
                               OR_NULL(c, c->in.labels), NULL, start, OPTIONS, progress_of(c, &progress),
                               OUT(int64_t, 0), MESSAGE);
}

/* Each output may be NULL: not wanted. */
static int32_t call_sequence_decode(caller *c, int64_t h) {
  if (!c->wrong_handle && may_refuse(h)) c->spoiled = 1;
  return fewlabel_sequence_decode(h, OR_NULL(c, &c->in.rows), OR_NULL(c, c->in.lengths), c->n_sequences, threads(c),
                                  OUT(int32_t, 0), OUT(double, 1), OUT(double, 2), OUT(double, 3), MESSAGE);
}

static int32_t call_text(caller *c, int function, int64_t h) {
  char *text = one_in(c, 3) ? NULL : (char *)c->out[0].bytes;
  const int64_t size = spoil(c, 6) ? below(c, 300) - 100 : ROOM;
  if (function == CALL_report) return fewlabel_report(h, text, size, OUT(int64_t, 1), MESSAGE);
  return fewlabel_options(spoil(c, 10) ? (int32_t)odd_size(c) : c->new_kind, text, size, OUT(int64_t, 1), MESSAGE);
}

static int32_t call_array(caller *c, int64_t h) {
  static const char *const names[] = {"coef", "transitions", "start", "intercept", "class_prior", "transduction",
                                      "label_distributions", "history.objective", "history.temperature", "",
                                      "history", "none", "components", "strengths", "indptr", "indices", "values"};
  const char *name = ONE_OF(c, names);
  const int32_t type = spoil(c, 6) ? below(c, 7) - 1 : FEWLABEL_FLOAT64;
  int64_t length = length_of(h, name);
  if (length < 0 || length > ROOM / 8 || one_in(c, 8)) {
    c->spoiled = 1;
    length = one_in(c, 2) ? odd_size(c) : below(c, ROOM / 8);
  }
  return fewlabel_array(h, OR_NULL(c, name), type, OUT(void, 0), length, MESSAGE);
}

static int32_t call_assemble(caller *c) {
  static const int64_t impossible[] = {-1, 101, INT64_MIN, INT64_MAX};
  return fewlabel_assemble(spoil(c, 20) ? (int32_t)odd_size(c) : c->new_kind, OR_NULL(c, c->in.text),
                           OR_NULL(c, c->in.parts), spoil(c, 20) ? ONE_OF(c, impossible) : c->n_parts,
                           OUT(int64_t, 0), MESSAGE);
}

static int32_t call_read(caller *c) {
  const char *labels = spoil(c, 10) ? c->data[0] : NULL;
  const int64_t n_features = spoil(c, 10) ? odd_size(c) : 0;
  const int32_t zero_based = spoil(c, 20) ? (int32_t)odd_size(c) : 0;
  const int64_t max_expansion = spoil(c, 20) ? odd_size(c) : 0;
  return fewlabel_svmlight_read(read_path(c, c->data), labels, zero_based, n_features, max_expansion, NULL,
                                OUT(int64_t, 0), OUT(int64_t, 1), MESSAGE);
}

/* A function of the table without a case is a warning of the compiler, and an error. */
static int32_t call(caller *c, enum function function, int64_t h) {
  const char *metadata = function != CALL_save || one_in(c, 2) ? NULL : spoil(c, 6) ? "{" : "{\"a\": [1, null]}";
  switch (function) {
    case CALL_fit: return call_fit(c);
    case CALL_class_prior: return call_class_prior(c);
    case CALL_predict: return call_predict(c, h);
    case CALL_decision_with: return call_decision_with(c);
    case CALL_sequence_fit: return call_sequence_fit(c);
    case CALL_sequence_decode: return call_sequence_decode(c, h);
    case CALL_structure_fit: return call_structure_fit(c);
    case CALL_array: return call_array(c, h);
    case CALL_assemble: return call_assemble(c);
    case CALL_save: return fewlabel_save(h, written_path(c, c->models), metadata, MESSAGE);
    case CALL_load: return fewlabel_load(read_path(c, c->models), OUT(int64_t, 0), MESSAGE);
    case CALL_svmlight_read: return call_read(c);
    case CALL_svmlight_write:
      return fewlabel_svmlight_write(written_path(c, c->data), OR_NULL(c, &c->in.rows), OR_NULL(c, c->in.weights), 0,
                                     MESSAGE);
    case CALL_free: return fewlabel_free(h, MESSAGE);
    case CALL_options:
    case CALL_report: return call_text(c, function, h);
  }
  return FEWLABEL_INTERNAL;
}

static int gives_handle(int function) {
  return takes(function, "int64_t * model;") || takes(function, "int64_t * models;") ||
         takes(function, "int64_t * data;");
}

static void *call_at_random(void *argument) {
  caller *c = (caller *)argument;
  join_host();
  for (c->k = 0; c->k < c->n_calls && c->faults < 20; c->k++) {
    const int function = c->n_live >= MOST_LIVE - 1 ? CALL_free : below(c, N_FUNCTIONS);
    const int64_t h = prepare(c, function);
    const int32_t status = call(c, (enum function)function, h);
    if (status == FEWLABEL_OK && function == CALL_free) forget(c, h);
    if (status == FEWLABEL_OK && gives_handle(function)) {
      int k;
      for (k = 0; k < (function == CALL_fit ? (int)c->in.known.n_columns : 1); k++) keep(c, function, k);
    }
    after(c, function, status);
  }
  while (c->n_live > 0) {
    if (fewlabel_free(c->live[--c->n_live], NULL, 0) != FEWLABEL_OK) c->faults++;
  }
  return NULL;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* A caller with good files to begin with. */
static caller *new_caller(int number, long n_calls, uint64_t seed) {
  caller *c = (caller *)calloc(1, sizeof *c);
  problem p;
  FILE *garbage;
  int64_t model = 0;
  int k;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  for (k = 0; k < 2; k++) {
    sprintf(c->models[k], "calls-%d-%d.safetensors", number, k);
    sprintf(c->data[k], "calls-%d.svmlight%s", number, k ? ".gz" : "");
    WORKS(fewlabel_save(model, c->models[k], NULL, ERROR));
    WORKS(fewlabel_svmlight_write(c->data[k], &p.rows, p.weights, 0, ERROR));
  }
  WORKS(fewlabel_free(model, ERROR));
  sprintf(c->garbage, "calls-%d.garbage", number);
  garbage = fopen(c->garbage, "wb");
  HOLDS(garbage != NULL && fputs("\x89" "FWL\r\n\x1a\n\1\xff 1:2", garbage) >= 0 && fclose(garbage) == 0);
  c->state = c->seed = seed + (uint64_t)number;
  c->n_calls = n_calls;
  c->alone = number == 0;
  return c;
}

static void end_caller(caller *c) {
  int k;
  HOLDS(c->faults == 0);
  for (k = 0; k < 2; k++) {
    remove(c->models[k]);
    remove(c->data[k]);
  }
  remove(c->garbage);
  free(c);
}

/* How often each function has answered with each status. All of them must have worked and failed. */
static void print_counts(const caller *c) {
  int f, s;
  for (f = 0; f < N_FUNCTIONS; f++) {
    long failed = 0;
    for (s = 1; s < N_STATUSES; s++) failed += c->count[f][s];
    printf("%-22s worked %6ld times, failed", function_name[f], c->count[f][0]);
    for (s = 1; s < N_STATUSES; s++) printf(" %5ld", c->count[f][s]);
    printf("\n");
    HOLDS(c->count[f][0] > 0 && failed > 0);
  }
}

int main(int argc, char **argv) {
  const long n_calls = argc > 1 ? atol(argv[1]) : 6000;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  enum { N_CALLERS = 3 };
  pthread_t thread[N_CALLERS];
  caller *c = new_caller(0, n_calls / 2, seed), *beside[N_CALLERS];
  int k;
  alarm((unsigned)(300 + n_calls / 20)); /* calls that hang end the program */
  install(SIGPROF, handler, SA_RESTART);
  set_timer(SIGPROF, 1);
  call_at_random(c);
  print_counts(c);
  end_caller(c);
  for (k = 0; k < N_CALLERS; k++) {
    beside[k] = new_caller(k + 1, n_calls / 2 / N_CALLERS, seed);
    start_thread(&thread[k], call_at_random, beside[k]);
  }
  for (k = 0; k < N_CALLERS; k++) pthread_join(thread[k], NULL);
  for (k = 0; k < N_CALLERS; k++) end_caller(beside[k]);
  set_timer(SIGPROF, 0);
  printf("%d signals handled, %d elsewhere, %d on another stack\n", (int)on_the_host, (int)elsewhere,
         (int)on_another_stack);
  HOLDS(on_the_host > 0 && elsewhere == 0 && on_another_stack == 0);
  FAILS(FEWLABEL_BAD_HANDLE, "no handle", fewlabel_free(0, ERROR));
  return conclude("calls");
}
