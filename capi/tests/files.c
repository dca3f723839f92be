/* Files: what is written is read again, and every damage is found. Works in the current folder. */
#include "check.h"

#define MODEL_FILE "files-test.safetensors"
#define DAMAGED "files-test-damaged.safetensors"

/* ---- Whole files in memory --------------------------------------------------------------------------------------- */

static unsigned char content[1 << 16];

static long read_whole(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = file == NULL ? 0 : (long)fread(content, 1, sizeof content, file);
  HOLDS(size > 0 && size < (long)sizeof content);
  if (file != NULL) fclose(file);
  return size;
}

static void write_whole(const char *path, const void *bytes, long size) {
  FILE *file = fopen(path, "wb");
  HOLDS(file != NULL && fwrite(bytes, 1, (size_t)size, file) == (size_t)size);
  if (file != NULL) HOLDS(fclose(file) == 0);
}

static void write_text(const char *path, const char *text) { write_whole(path, text, (long)strlen(text)); }

/* ---- Model files ------------------------------------------------------------------------------------------------- */

static void report_of(int64_t model, char *text, int64_t size) {
  int64_t needed;
  WORKS(fewlabel_report(model, text, size, &needed, ERROR));
  HOLDS(needed == (int64_t)strlen(text) + 1);
}

static void save_good_model(void) {
  problem p;
  int64_t model, loaded, again;
  double decisions[N_ROWS], same[N_ROWS];
  char report[2000];
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_save(model, MODEL_FILE, "{\"classes\": [\"ham\", \"spam\"]}", ERROR));
  WORKS(fewlabel_load(MODEL_FILE, &loaded, ERROR));
  WORKS(fewlabel_predict(model, &p.rows, 1, NULL, decisions, ERROR));
  WORKS(fewlabel_predict(loaded, &p.rows, 1, NULL, same, ERROR));
  HOLDS(memcmp(decisions, same, sizeof same) == 0);
  report_of(loaded, report, sizeof report);
  HOLDS(strstr(report, "\"metadata\":{\"classes\":[\"ham\",\"spam\"]}") != NULL);
  HOLDS(strstr(report, "transduction") == NULL); /* what belongs to the training rows stays with the fit */
  /* Without metadata a model keeps what it has. */
  WORKS(fewlabel_save(loaded, DAMAGED, NULL, ERROR));
  WORKS(fewlabel_load(DAMAGED, &again, ERROR));
  report_of(again, report, sizeof report);
  HOLDS(strstr(report, "spam") != NULL);
  FAILS(FEWLABEL_BAD_ARGUMENT, "metadata cannot be kept in a model file: invalid character",
        fewlabel_save(model, DAMAGED, "{ham}", ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "it is not UTF-8", fewlabel_save(model, DAMAGED, "\"caf\xe9\"", ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the name \"a\" stands twice",
        fewlabel_save(model, DAMAGED, "{\"a\": 1, \"a\": 2}", ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "path is NULL", fewlabel_save(model, NULL, NULL, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "no-such-folder/model", fewlabel_save(model, "no-such-folder/model", NULL, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "it is a directory", fewlabel_save(model, ".", NULL, ERROR));
#ifndef _WIN32
  FAILS(FEWLABEL_IO_ERROR, "it is a device: give the path of a file", fewlabel_save(model, "/dev/null", NULL, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "it is a device: give the path of a file", fewlabel_load("/dev/zero", &again, ERROR));
#endif
  WORKS(fewlabel_free(again, ERROR));
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
}

static void damaged_models(void) {
  int64_t model = -7;
  long size = read_whole(MODEL_FILE), values = 8 + content[0] + 256L * content[1], at;
  for (at = 0; at < size; at++) { /* cut short */
    write_whole(DAMAGED, content, at);
    FAILS(FEWLABEL_BAD_DATA, DAMAGED, fewlabel_load(DAMAGED, &model, ERROR));
  }
  for (at = 0; at < size; at++) { /* one byte changed: found among the values, and a header may still be sound */
    int32_t status;
    content[at] ^= 0x10;
    write_whole(DAMAGED, content, size);
    status = fewlabel_load(DAMAGED, &model, ERROR);
    HOLDS(status == FEWLABEL_BAD_DATA || (status == FEWLABEL_OK && at < values));
    if (status == FEWLABEL_OK) WORKS(fewlabel_free(model, ERROR));
    if (status == FEWLABEL_OK) model = -7;
    content[at] ^= 0x10;
  }
  content[size] = 0; /* one byte more */
  write_whole(DAMAGED, content, size + 1);
  FAILS(FEWLABEL_BAD_DATA, DAMAGED, fewlabel_load(DAMAGED, &model, ERROR));
  write_text(DAMAGED, "+1 1:0.5\n");
  FAILS(FEWLABEL_BAD_DATA, DAMAGED, fewlabel_load(DAMAGED, &model, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "no-such-file", fewlabel_load("no-such-file", &model, ERROR));
  FAILS(FEWLABEL_IO_ERROR, ".", fewlabel_load(".", &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "path is NULL", fewlabel_load(NULL, &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "model is NULL", fewlabel_load(MODEL_FILE, NULL, ERROR));
  HOLDS(model == -7);
  remove(MODEL_FILE);
  remove(DAMAGED);
}

/* ---- svmlight files ---------------------------------------------------------------------------------------------- */

static int32_t read_file(const char *path, int64_t n_features, int64_t *data) {
  int64_t sizes[4];
  return fewlabel_svmlight_read(path, NULL, 0, n_features, 0, NULL, data, sizes, ERROR);
}

/* Write the small problem to a file, read it and compare. */
static void written_is_read(const char *path, int32_t zero_based) {
  problem p;
  int64_t data, sizes[4], indptr[N_ROWS + 1], label_indptr[N_ROWS + 1];
  int32_t indices[N_VALUES];
  char report[400];
  double values[N_VALUES], labels[N_ROWS], written[N_ROWS], as_numbers[N_VALUES];
  int i;
  good_problem(&p);
  for (i = 0; i < N_ROWS; i++) written[i] = i - 2.5;
  WORKS(fewlabel_svmlight_write(path, &p.rows, written, zero_based, ERROR));
  WORKS(fewlabel_svmlight_read(path, NULL, zero_based, 0, 0, NULL, &data, sizes, ERROR));
  HOLDS(sizes[0] == N_ROWS && sizes[1] == N_FEATURES && sizes[2] == N_VALUES && sizes[3] == N_ROWS);
  report_of(data, report, sizeof report);
  HOLDS(strstr(report, "{\"arrays\":{") != NULL);
  WORKS(fewlabel_array(data, "indptr", FEWLABEL_INT64, indptr, N_ROWS + 1, ERROR));
  WORKS(fewlabel_array(data, "indices", FEWLABEL_INT32, indices, N_VALUES, ERROR));
  WORKS(fewlabel_array(data, "values", FEWLABEL_FLOAT64, values, N_VALUES, ERROR));
  WORKS(fewlabel_array(data, "labels", FEWLABEL_FLOAT64, labels, N_ROWS, ERROR));
  WORKS(fewlabel_array(data, "label_indptr", FEWLABEL_INT64, label_indptr, N_ROWS + 1, ERROR));
  WORKS(fewlabel_array(data, "indices", FEWLABEL_FLOAT64, as_numbers, N_VALUES, ERROR));
  HOLDS(memcmp(indptr, p.indptr, sizeof indptr) == 0);
  HOLDS(memcmp(values, p.values, sizeof values) == 0);
  HOLDS(memcmp(labels, written, sizeof labels) == 0);
  for (i = 0; i < N_VALUES; i++) HOLDS(indices[i] == p.indices[i] && as_numbers[i] == indices[i]);
  for (i = 0; i <= N_ROWS; i++) HOLDS(label_indptr[i] == i);
  FAILS(FEWLABEL_BAD_ARGUMENT, "type is 2: use FEWLABEL_INT32 or FEWLABEL_FLOAT64",
        fewlabel_array(data, "indices", FEWLABEL_INT64, indptr, N_VALUES, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "values is NULL",
        fewlabel_array(data, "values", FEWLABEL_FLOAT64, NULL, N_VALUES, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of a data set", fewlabel_save(data, "never-written", NULL, ERROR));
  WORKS(fewlabel_free(data, ERROR));
  remove(path);
}

static void misread_files(void) {
  const char *path = "files-test.svmlight", *labels = "files-test.labels";
  fewlabel_progress cancelled = {0};
  int64_t data = -7, sizes[4] = {-7, -7, -7, -7};
  write_text(path, "1 1:0.5 3:1\n-1 2:x\n");
  FAILS(FEWLABEL_BAD_DATA, path, read_file(path, 0, &data));
  write_text(path, "1 1:0.5 3:1\n-1 2:nan\n");
  FAILS(FEWLABEL_BAD_DATA, path, read_file(path, 0, &data));
  write_text(path, "1 1:0.5 3:1\n-1 0:2\n"); /* feature 0 in a file that starts at 1 */
  FAILS(FEWLABEL_BAD_DATA, path, read_file(path, 0, &data));
  write_text(path, "1 1:0.5 3:1\n-1 2:2\n");
  FAILS(FEWLABEL_BAD_DATA, path, read_file(path, 2, &data));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_features is -1", read_file(path, -1, &data));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_features is", read_file(path, INT64_MAX, &data));
  FAILS(FEWLABEL_BAD_ARGUMENT, "sizes is NULL", fewlabel_svmlight_read(path, NULL, 0, 0, 0, NULL, &data, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "zero_based is 5: use 0 or 1",
        fewlabel_svmlight_read(path, NULL, 5, 0, 0, NULL, &data, sizes, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_features is 2147483648", read_file(path, (int64_t)1 << 31, &data));
  FAILS(FEWLABEL_BAD_ARGUMENT, "max_expansion is -1",
        fewlabel_svmlight_read(path, NULL, 0, 0, -1, NULL, &data, sizes, ERROR));
  cancelled.cancel = 1;
  FAILS(FEWLABEL_CANCELLED, "cancelled", fewlabel_svmlight_read(path, NULL, 0, 0, 0, &cancelled, &data, sizes, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "progress is not aligned",
        fewlabel_svmlight_read(path, NULL, 0, 0, 0, (fewlabel_progress *)((char *)&cancelled + 1), &data, sizes,
                               ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "path is NULL", read_file(NULL, 0, &data));
  FAILS(FEWLABEL_BAD_ARGUMENT, "data is NULL", read_file(path, 0, NULL));
  FAILS(FEWLABEL_IO_ERROR, "no-such-file", read_file("no-such-file", 0, &data));
  write_text(path, "1:0.5 3:1\n2:2\n"); /* SVMlin's form, one label too few */
  write_text(labels, "1\n");
  FAILS(FEWLABEL_BAD_DATA, labels, fewlabel_svmlight_read(path, labels, 0, 0, 0, NULL, &data, sizes, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "no-such-file",
        fewlabel_svmlight_read(path, "no-such-file", 0, 0, 0, NULL, &data, sizes, ERROR));
  HOLDS(data == -7 && sizes[0] == -7 && sizes[3] == -7);
  write_text(labels, "1\n-1\n");
  WORKS(fewlabel_svmlight_read(path, labels, 0, 0, 0, NULL, &data, sizes, ERROR));
  WORKS(fewlabel_free(data, ERROR));
  remove(path);
  remove(labels);
}

static void miswritten_files(void) {
  const char *path = "files-test.svmlight";
  problem p;
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "path is NULL", fewlabel_svmlight_write(NULL, &p.rows, p.weights, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL", fewlabel_svmlight_write(path, NULL, p.weights, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels is NULL", fewlabel_svmlight_write(path, &p.rows, NULL, 0, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "zero_based is -1", fewlabel_svmlight_write(path, &p.rows, p.weights, -1, ERROR));
  FAILS(FEWLABEL_IO_ERROR, "no-such-folder", fewlabel_svmlight_write("no-such-folder/f", &p.rows, p.weights, 0, ERROR));
  p.indices[3] = 99;
  FAILS(FEWLABEL_BAD_DATA, "row 1", fewlabel_svmlight_write(path, &p.rows, p.weights, 0, ERROR));
  HOLDS(fopen(path, "r") == NULL); /* nothing was written */
}

int main(void) {
  save_good_model();
  damaged_models();
  written_is_read("files-test.svmlight", 0);
  written_is_read("files-test.svmlight.gz", 1);
  written_is_read("files-test.svmlight.zst", 0);
  misread_files();
  miswritten_files();
  return conclude("files");
}
