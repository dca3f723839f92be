/* The one table of the functions of fewlabel.h that give a status: FUNCTIONS(F) is F(NAME, IS_LONG) for each, and
 * NAME_ARGUMENTS(A) is A(TYPE, NAME) for each argument before `error` and `error_size`. shim.c makes the functions of
 * it, capi.h the structs that they pass to Go, tests/calls.c its list of calls. The header and Python's signatures are
 * compared with it (python/tests/test_library.py). IS_LONG is evaluated in shim.c and may use the arguments. */
#ifndef FEWLABEL_FUNCTIONS_H
#define FEWLABEL_FUNCTIONS_H

#define FUNCTIONS(F)                                          \
  F(options, BRIEF)                                           \
  F(fit, LONG)                                                \
  F(class_prior, LONG)                                        \
  F(predict, go_takes_long(model, 0, rows))                   \
  F(decision_with, go_takes_long(0, n_outputs, rows))         \
  F(sequence_fit, LONG)                                       \
  F(sequence_decode, LONG)                                    \
  F(structure_fit, LONG)                                      \
  F(report, BRIEF)                                            \
  F(array, length > LONG_ARRAY)                               \
  F(assemble, LONG)                                           \
  F(save, LONG)                                               \
  F(load, LONG)                                               \
  F(free, BRIEF)                                              \
  F(svmlight_read, LONG)                                      \
  F(svmlight_write, LONG)

#define options_ARGUMENTS(A) A(int32_t, kind) A(char *, text) A(int64_t, text_size) A(int64_t *, needed)

#define fit_ARGUMENTS(A)                                                                    \
  A(const fewlabel_rows *, rows) A(const fewlabel_labels *, labels) A(const double *, weights) \
  A(int64_t, start) A(const char *, options) A(fewlabel_progress *, progress)                \
  A(const fewlabel_group *, group) A(int64_t *, models)

#define class_prior_ARGUMENTS(A)                                                            \
  A(const fewlabel_rows *, rows) A(const fewlabel_labels *, labels) A(const double *, weights) \
  A(const char *, options) A(double *, shares) A(double *, lower) A(double *, upper)             \
  A(char *, warnings) A(int64_t, warnings_size)

#define predict_ARGUMENTS(A)                                                     \
  A(int64_t, model) A(const fewlabel_rows *, rows) A(int32_t, threads)           \
  A(int32_t *, classes) A(double *, decisions)

#define decision_with_ARGUMENTS(A)                                                  \
  A(const fewlabel_rows *, rows) A(const double *, coef) A(const double *, intercept) \
  A(int64_t, n_outputs) A(int32_t, by_feature) A(int32_t, threads) A(double *, decisions)

#define sequence_fit_ARGUMENTS(A)                                                    \
  A(const fewlabel_rows *, rows) A(const int64_t *, lengths) A(int64_t, n_sequences) \
  A(const int32_t *, labels) A(const uint8_t *, allowed) A(int64_t, start)           \
  A(const char *, options) A(fewlabel_progress *, progress) A(int64_t *, model)

#define sequence_decode_ARGUMENTS(A)                                                 \
  A(int64_t, model) A(const fewlabel_rows *, rows) A(const int64_t *, lengths)       \
  A(int64_t, n_sequences) A(int32_t, threads) A(int32_t *, tags) A(double *, scores) \
  A(double *, margins) A(double *, marginals)

#define structure_fit_ARGUMENTS(A)                                                               \
  A(const fewlabel_rows *, rows) A(const fewlabel_rows *, labels) A(const fewlabel_rows *, hidden) \
  A(const int32_t *, hides) A(const int32_t *, groups) A(int64_t, n_components)                  \
  A(const char *, options) A(fewlabel_progress *, progress) A(int64_t *, model)


#define report_ARGUMENTS(A) A(int64_t, handle) A(char *, text) A(int64_t, text_size) A(int64_t *, needed)

#define array_ARGUMENTS(A) \
  A(int64_t, handle) A(const char *, name) A(int32_t, type) A(void *, values) A(int64_t, length)

#define assemble_ARGUMENTS(A)                                                      \
  A(int32_t, kind) A(const char *, description) A(const fewlabel_named *, arrays) \
  A(int64_t, n_arrays) A(int64_t *, model)

#define save_ARGUMENTS(A) A(int64_t, model) A(const char *, path) A(const char *, metadata)

#define load_ARGUMENTS(A) A(const char *, path) A(int64_t *, model)

#define free_ARGUMENTS(A) A(int64_t, handle)

#define svmlight_read_ARGUMENTS(A)                                                                 \
  A(const char *, path) A(const char *, labels_path) A(int32_t, zero_based) A(int64_t, n_features) \
  A(int64_t, max_expansion) A(fewlabel_progress *, progress) A(int64_t *, data) A(int64_t *, sizes)

#define svmlight_write_ARGUMENTS(A) \
  A(const char *, path) A(const fewlabel_rows *, rows) A(const double *, labels) A(int32_t, zero_based)

#endif
