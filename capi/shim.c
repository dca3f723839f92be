/* The public symbols of the library. Each refuses to work in a forked child and otherwise calls its Go part.
 *
 * The check must happen here: a child has none of the threads of the Go runtime, so that a call into Go may wait for
 * ever. A library that is loaded in the child is a copy with a runtime of its own and is not refused. */
#include "_cgo_export.h"

#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

static const char *version_text = "";

void shim_keep_version(const char *text) { version_text = text; }

#ifdef _WIN32
static int in_child(void) { return 0; } /* no fork() there */
#else
static pid_t loaded_by;

__attribute__((constructor)) static void remember_process(void) { loaded_by = getpid(); }

static int in_child(void) { return getpid() != loaded_by; }
#endif

/* Tells whether the call must be refused, and then why. */
static int refused(char *error, int64_t error_size) {
  static const char reason[] =
      "this process was forked after its parent had loaded fewlabel: "
      "load the library in the child, or start the child with exec.";
  if (!in_child()) return 0;
  if (error != NULL && error_size > 0) {
    size_t length = sizeof reason - 1;
    if ((uint64_t)error_size <= length) length = (size_t)error_size - 1;
    memcpy(error, reason, length);
    error[length] = '\0';
  }
  return 1;
}

int32_t fewlabel_abi_version(void) { return FEWLABEL_ABI_VERSION; }

const char *fewlabel_version(void) { return in_child() ? version_text : go_fewlabel_version(); }

/* A child has no handles: those of its parent are out of its reach. */
int64_t fewlabel_live_handles(void) { return in_child() ? 0 : go_fewlabel_live_handles(); }

int32_t fewlabel_options(char *text, int64_t text_size, int64_t *needed, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_options(text, text_size, needed, error, error_size);
}

int32_t fewlabel_fit(const fewlabel_csr *rows, const int32_t *labels, const double *weights, int64_t start,
                     const char *options, fewlabel_progress *progress, int64_t *model, char *error,
                     int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_fit(rows, labels, weights, start, options, progress, model, error, error_size);
}

int32_t fewlabel_shape(int64_t model, int64_t *n_classes, int64_t *n_features, int64_t *n_outputs, char *error,
                       int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_shape(model, n_classes, n_features, n_outputs, error, error_size);
}

int32_t fewlabel_report(int64_t model, char *text, int64_t text_size, int64_t *needed, char *error,
                        int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_report(model, text, text_size, needed, error, error_size);
}

int32_t fewlabel_array(int64_t model, const char *name, double *values, int64_t length, char *error,
                       int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_array(model, name, values, length, error, error_size);
}

int32_t fewlabel_decision(int64_t model, const fewlabel_csr *rows, int32_t threads, double *decisions, char *error,
                          int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_decision(model, rows, threads, decisions, error, error_size);
}

int32_t fewlabel_decision_with(const fewlabel_csr *rows, const double *coef, const double *intercept,
                               int64_t n_outputs, int32_t by_feature, int32_t threads, double *decisions,
                               char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_decision_with(rows, coef, intercept, n_outputs, by_feature, threads, decisions, error,
                                   error_size);
}

int32_t fewlabel_predict(int64_t model, const fewlabel_csr *rows, int32_t threads, int32_t *classes, char *error,
                         int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_predict(model, rows, threads, classes, error, error_size);
}

int32_t fewlabel_fit_dense(const fewlabel_dense *rows, const int32_t *labels, const double *weights, int64_t start,
                           const char *options, fewlabel_progress *progress, int64_t *model, char *error,
                           int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_fit_dense(rows, labels, weights, start, options, progress, model, error, error_size);
}

int32_t fewlabel_decision_dense(int64_t model, const fewlabel_dense *rows, int32_t threads, double *decisions,
                                char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_decision_dense(model, rows, threads, decisions, error, error_size);
}

int32_t fewlabel_predict_dense(int64_t model, const fewlabel_dense *rows, int32_t threads, int32_t *classes,
                               char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_predict_dense(model, rows, threads, classes, error, error_size);
}

int32_t fewlabel_class_prior(const fewlabel_csr *rows, const int32_t *labels, const double *weights,
                             const char *options, double *shares, double *lower, double *upper, int64_t n_classes,
                             char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_class_prior(rows, labels, weights, options, shares, lower, upper, n_classes, error, error_size);
}

int32_t fewlabel_class_prior_dense(const fewlabel_dense *rows, const int32_t *labels, const double *weights,
                                   const char *options, double *shares, double *lower, double *upper,
                                   int64_t n_classes, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_class_prior_dense(rows, labels, weights, options, shares, lower, upper, n_classes, error,
                                       error_size);
}

int32_t fewlabel_assemble(const char *description, const double *coef, const double *intercept,
                          const double *class_prior, int64_t *model, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_assemble(description, coef, intercept, class_prior, model, error, error_size);
}

int32_t fewlabel_save(int64_t model, const char *path, const char *metadata, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_save(model, path, metadata, error, error_size);
}

int32_t fewlabel_load(const char *path, int64_t *model, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_load(path, model, error, error_size);
}

int32_t fewlabel_svmlight_read(const char *path, const char *labels_path, int32_t zero_based, int64_t n_features,
                               int64_t max_expansion, int32_t threads, fewlabel_progress *progress, int64_t *data,
                               char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_svmlight_read(path, labels_path, zero_based, n_features, max_expansion, threads, progress, data,
                                   error, error_size);
}

int32_t fewlabel_svmlight_shape(int64_t data, int64_t *n_rows, int64_t *n_features, int64_t *n_values,
                                int64_t *n_labels, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_svmlight_shape(data, n_rows, n_features, n_values, n_labels, error, error_size);
}

int32_t fewlabel_svmlight_copy(int64_t data, int64_t *indptr, int32_t *indices, double *values, double *labels,
                               int64_t *label_indptr, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_svmlight_copy(data, indptr, indices, values, labels, label_indptr, error, error_size);
}

int32_t fewlabel_svmlight_write(const char *path, const fewlabel_csr *rows, const double *labels, int32_t zero_based,
                                char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_svmlight_write(path, rows, labels, zero_based, error, error_size);
}

int32_t fewlabel_free(int64_t handle, char *error, int64_t error_size) {
  if (refused(error, error_size)) return FEWLABEL_FORKED;
  return go_fewlabel_free(handle, error, error_size);
}
