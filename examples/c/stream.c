/* Predict row by row with a model file. Memory does not grow, however long the stream is.
 *
 *   stream MODEL [FILE.svmlight]
 *
 * reads rows from FILE or the standard input and writes the class number of each, one a line. A row is a line of
 * NUMBER:VALUE pairs with numbers from 1 on; a label in front of them and what follows a # are passed over.
 * Without arguments the program makes a model and rows, streams them and compares with fewlabel_predict of all rows.
 */
#include <limits.h>
#include <sys/resource.h>

#include "example.h"

/* ---- A row at a time --------------------------------------------------------------------------------------------- */

/* Room that is used again for every row. */
typedef struct {
  char *line;
  size_t line_size;
  int32_t *indices;
  double *values;
  int64_t size, n; /* size: entries that there is room for; n: entries of the row */
} row_buffer;

static void *grown(void *memory, size_t size) {
  memory = realloc(memory, size);
  ensure(memory != NULL, "out of memory");
  return memory;
}

/* Read a line of any length; 0 at the end of the file. */
static int read_line(FILE *file, row_buffer *row) {
  size_t length = 0;
  for (;;) {
    if (row->line_size - length < 2) row->line = (char *)grown(row->line, row->line_size = 2 * row->line_size + 1000);
    if (fgets(row->line + length, (int)(row->line_size - length), file) == NULL) return length > 0;
    length += strlen(row->line + length);
    if (row->line[length - 1] == '\n') return 1;
  }
}

static void append(row_buffer *row, int32_t index, double value) {
  if (row->n == row->size) {
    row->size = 2 * row->size + 100;
    row->indices = (int32_t *)grown(row->indices, (size_t)row->size * sizeof *row->indices);
    row->values = (double *)grown(row->values, (size_t)row->size * sizeof *row->values);
  }
  row->indices[row->n] = index;
  row->values[row->n++] = value;
}

/* Find the entries of a line; 0 if it is blank or a comment, and no row. A feature that the model has never seen says
 * nothing and is dropped. */
static int parse_line(int64_t n_features, row_buffer *row) {
  const char *const blank = " \t\r\n";
  char *at = row->line + strspn(row->line, blank), *end;
  row->n = 0;
  if (*at == '\0' || *at == '#') return 0;
  if (strcspn(at, ":") > strcspn(at, blank)) at += strcspn(at, blank); /* a label */
  for (at += strspn(at, blank); *at != '\0' && *at != '#'; at += strspn(at, blank)) {
    long long number = strtoll(at, &end, 10);
    double value;
    ensure(end > at && *end == ':' && number >= 1, "a row has an entry that is not NUMBER:VALUE");
    at = end + 1;
    value = strtod(at, &end);
    ensure(end > at, "a row has an entry that is not NUMBER:VALUE");
    at = end;
    if (number <= n_features) append(row, (int32_t)(number - 1), value);
  }
  return 1;
}

/* The number of features of a model, from its report, a JSON object. */
static int64_t features_of(int64_t model) {
  const char *const name = "\"n_features\":";
  int64_t needed, n_features;
  char *text;
  need(fewlabel_report(model, NULL, 0, &needed, error, sizeof error), "length of the report");
  text = NEW(char, needed);
  need(fewlabel_report(model, text, needed, &needed, error, sizeof error), "report");
  ensure(strstr(text, name) != NULL, "the report has no n_features");
  n_features = strtoll(strstr(text, name) + strlen(name), NULL, 10);
  free(text);
  return n_features;
}

/* Read rows to the end of `in` and write their classes to `out`; the number of rows. */
static int64_t stream(FILE *in, FILE *out, int64_t model) {
  row_buffer row = {NULL, 0, NULL, NULL, 0, 0};
  int64_t n_rows = 0, indptr[2] = {0, 0};
  int32_t its_class;
  const int64_t n_features = features_of(model);
  while (read_line(in, &row)) {
    if (!parse_line(n_features, &row)) continue;
    indptr[1] = row.n;
    const fewlabel_rows rows = FEWLABEL_SPARSE_ROWS(1, n_features, row.n, indptr, row.indices, row.values);
    need(fewlabel_predict(model, &rows, 1, &its_class, NULL, error, sizeof error), "predicting the class of a row");
    fprintf(out, "%d\n", (int)its_class);
    n_rows++;
  }
  ensure(!ferror(in), "the rows cannot be read");
  free(row.line);
  free(row.indices);
  free(row.values);
  return n_rows;
}

/* ---- The rows that the program makes itself ---------------------------------------------------------------------- */

enum { N_DOCUMENTS = 500, N_TOPICS = 4, N_ROUNDS = 60, STRETCH = 10 };

/* The most memory that the program had at any time, in kilobytes. */
static long peak(void) {
  struct rusage usage;
  ensure(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage fails");
  return usage.ru_maxrss;
}

/* Stream the file in rounds and compare every class with the one that all rows at once have got. What is lost in every
 * row makes the peak grow in every stretch of rounds; the library's garbage collector makes it grow in one or another.
 */
static void check_stream(const char *path, int64_t model, const int32_t *expected) {
  long before = 0, least = LONG_MAX;
  int round, i, its_class;
  for (round = 0; round < N_ROUNDS; round++) {
    FILE *in = fopen(path, "r"), *out = tmpfile();
    ensure(in != NULL && out != NULL, "a file cannot be opened");
    ensure(stream(in, out, model) == N_DOCUMENTS, "the stream has another number of rows");
    rewind(out);
    for (i = 0; i < N_DOCUMENTS; i++) {
      ensure(fscanf(out, "%d", &its_class) == 1 && its_class == expected[i], "a row alone has another class");
    }
    fclose(in);
    fclose(out);
    if (round % STRETCH != STRETCH - 1) continue;
    if (round > STRETCH && peak() - before < least) least = peak() - before;
    before = peak();
  }
  printf("%d rows: all classes as in one call; %d of them: memory +%ld kB\n", N_ROUNDS * N_DOCUMENTS,
         STRETCH * N_DOCUMENTS, least);
  ensure(least < 1000, "memory has grown");
}

static int made_up(void) {
  const char *path = "stream.svmlight", *model_path = "stream.safetensors";
  double *labels = NEW(double, N_DOCUMENTS); /* all 0: rows to predict have none */
  int32_t *classes = NEW(int32_t, N_DOCUMENTS);
  dataset d;
  int64_t model;
  make_documents(&d, N_DOCUMENTS, N_TOPICS, 2, 5 * N_TOPICS);
  const fewlabel_labels known = FEWLABEL_LABELS(d.labels);
  need(fewlabel_fit(&d.rows, &known, NULL, 0, NULL, NULL, NULL, &model, error, sizeof error), "fitting");
  need(fewlabel_predict(model, &d.rows, 1, classes, NULL, error, sizeof error), "predicting all rows");
  need(fewlabel_save(model, model_path, NULL, error, sizeof error), "saving the model");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  need(fewlabel_svmlight_write(path, &d.rows, labels, 0, error, sizeof error), "writing the rows");

  need(fewlabel_load(model_path, &model, error, sizeof error), "loading the model");
  check_stream(path, model, classes);
  need(fewlabel_free(model, error, sizeof error), "freeing the loaded model");
  remove(path);
  remove(model_path);
  free(labels);
  free(classes);
  free_dataset(&d);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  FILE *in = argc > 2 ? fopen(argv[2], "r") : stdin;
  int64_t model;
  if (argc < 2) return made_up();
  ensure(in != NULL, "the file of the rows cannot be opened");
  need(fewlabel_load(argv[1], &model, error, sizeof error), "loading the model");
  stream(in, stdout, model);
  ensure(fflush(stdout) == 0, "the classes cannot be written");
  need(fewlabel_free(model, error, sizeof error), "freeing the model");
  if (in != stdin) fclose(in);
  return EXIT_SUCCESS;
}
