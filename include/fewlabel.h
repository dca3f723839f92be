/* fewlabel.h: classifiers from few labels and many unlabeled rows.
 *
 * Rules that hold for every function
 *   Result     a status code; 0 is success. Outputs are written only on success, unless a function
 *              says otherwise.
 *   Errors     `error` is a buffer of `error_size` bytes that the caller owns; it may be NULL with size 0. After a
 *              failure it holds a message in English that names the argument; it is always NUL-terminated.
 *   Arrays     inputs are borrowed for the call and never written. Outputs go to arrays allocated by the caller.
 *   Handles    positive integers. An invalid or freed handle returns FEWLABEL_BAD_HANDLE, never a crash.
 *   Threads    every function may be called from any thread at any time; concurrent fits are independent. Calls
 *              on one handle may run concurrently, except that freeing it must come last.
 *   Processes  after fork() a child must not use a copy of the library that its parent loaded: every function
 *              then returns FEWLABEL_FORKED at once. Load the library in the child, or start it with exec. Of the
 *              functions without a status, fewlabel_abi_version works, fewlabel_version may return "" and
 *              fewlabel_live_handles returns 0.
 *   Files      are written atomically: to a temporary file in the same folder, which is then renamed. For a symbolic
 *              link, its target is replaced.
 *   Signals    handlers of the program run on its own threads and stacks, with or without SA_ONSTACK. A handler must
 *              return: no longjmp out of a call. Go's runtime handles SIGSEGV, SIGBUS, SIGFPE and SIGURG: a handler of
 *              these that is installed after the library was loaded must use SA_ONSTACK. docs/c.md has the details.
 *   Rounding   results do not depend on the rounding mode of the caller, which is left unchanged.
 *   Settings   all settings are arguments. docs/c.md names the environment variables that Go's runtime reads.
 */
#ifndef FEWLABEL_H
#define FEWLABEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FEWLABEL_ABI_VERSION 10

/* Status codes. */
#define FEWLABEL_OK 0
#define FEWLABEL_BAD_ARGUMENT 1 /* invalid argument: a null pointer, an option out of range, an unknown name */
#define FEWLABEL_BAD_DATA 2     /* invalid data: an index out of range, NaN, a damaged file */
#define FEWLABEL_BAD_HANDLE 3   /* the handle is unknown, was freed, or is of another kind */
#define FEWLABEL_CANCELLED 4    /* progress->cancel was set */
#define FEWLABEL_IO_ERROR 5     /* a file cannot be opened, read or written */
#define FEWLABEL_INTERNAL 6     /* a defect of fewlabel; the process continues */
#define FEWLABEL_FORKED 7       /* called in a forked child, see Processes above */
#define FEWLABEL_NO_MEMORY 8    /* the estimated memory exceeds the available memory */
#define FEWLABEL_GROUP_FAILED 9 /* the sum over the machines of a group failed, or another machine failed */

/* Types of array elements. */
#define FEWLABEL_INT32 1
#define FEWLABEL_INT64 2
#define FEWLABEL_FLOAT32 3
#define FEWLABEL_FLOAT64 4

/* Kinds of rows. */
#define FEWLABEL_SPARSE 1
#define FEWLABEL_DENSE 2

/* Rows of features. FEWLABEL_SPARSE_ROWS and FEWLABEL_DENSE_ROWS initialize the struct.
 *
 * Sparse rows are in compressed row form: row i holds the entries indptr[i] ... indptr[i+1]-1 of `indices` and
 * `values`. Indices may be unsorted; duplicate indices in a row are summed. Of dense rows, row i holds the entries
 * i*row_stride ... i*row_stride+n_features-1 of `values`: use them if more than half of the values are nonzero, as in
 * embeddings. */
typedef struct {
  int32_t kind;        /* FEWLABEL_SPARSE or FEWLABEL_DENSE */
  int32_t value_type;  /* FEWLABEL_FLOAT32 or FEWLABEL_FLOAT64 */
  int64_t n_rows;
  int64_t n_features;
  const void *values;  /* finite; [n_values], of dense rows [(n_rows - 1) * row_stride + n_features] */
  int64_t n_values;    /* this and the next four of sparse rows only: length of `indices` and of `values` */
  const void *indptr;  /* [n_rows + 1] of indptr_type, starting at 0 and nondecreasing */
  const void *indices; /* [n_values] of index_type, each in 0 ... n_features-1 */
  int32_t indptr_type; /* FEWLABEL_INT32 or FEWLABEL_INT64 */
  int32_t index_type;  /* FEWLABEL_INT32 or FEWLABEL_INT64 */
  int64_t row_stride;  /* of dense rows only: values from one row to the next, n_features or more */
} fewlabel_rows;

/* Initializers of fewlabel_rows. The pointers must have their types, of which only the sizes are read: integers of 4
 * or 8 bytes for indptr and indices, float or double for values. Dense rows follow each other without a gap.
 *
 *     const fewlabel_rows rows = FEWLABEL_SPARSE_ROWS(n_rows, n_features, n_values, indptr, indices, values);
 *     const fewlabel_rows rows = FEWLABEL_DENSE_ROWS(n_rows, n_features, values);
 */
#define FEWLABEL_SPARSE_ROWS(n_rows, n_features, n_values, indptr, indices, values)                                  \
  {FEWLABEL_SPARSE, FEWLABEL_FLOAT_OF(values), n_rows, n_features, values, n_values, indptr, indices,                \
   FEWLABEL_INT_OF(indptr), FEWLABEL_INT_OF(indices), 0}
#define FEWLABEL_DENSE_ROWS(n_rows, n_features, values) \
  {FEWLABEL_DENSE, FEWLABEL_FLOAT_OF(values), n_rows, n_features, values, 0, 0, 0, 0, 0, n_features}
#define FEWLABEL_FLOAT_OF(p) (sizeof *(p) == sizeof(float) ? FEWLABEL_FLOAT32 : FEWLABEL_FLOAT64)
#define FEWLABEL_INT_OF(p) (sizeof *(p) == sizeof(int32_t) ? FEWLABEL_INT32 : FEWLABEL_INT64)

/* Labels of rows. FEWLABEL_LABELS initializes the struct with one class number or -1 a row.
 *
 * What is known of a row without a label, sets or probabilities of its classes, is in compressed row form: row i may
 * have the classes in the entries indptr[i] ... indptr[i+1]-1 of `classes`. A row with one entry is a labeled row, and
 * one without entries an unlabeled row, as is one with all classes and equal probabilities. A labeled row has none. */
typedef struct {
  const int32_t *codes;        /* [n_rows * n_columns] row by row: class number 0 ... n_classes-1; -1: no label; -2 - k:
                                  the row describes class k, such as its name. It was not drawn, so that it says
                                  nothing of the class shares. With several columns 1, 0, -1: unknown, or -3, -2: the
                                  row describes 1, 0 */
  int64_t n_columns;           /* 1; more: several labels a row, a classifier of two classes for every column */
  int64_t n_classes;           /* 2 or more; 0: one more than the largest class number, or the length of the option
                                  class_prior if that is larger, but at least 2; at most n_rows */
  const int64_t *indptr;       /* [n_rows + 1] starting at 0 and nondecreasing; NULL: no row has entries. NULL with
                                  several columns */
  const int32_t *classes;      /* [indptr[n_rows]] class numbers; a row names a class once */
  const double *probabilities; /* [indptr[n_rows]] of the classes, above 0. Only their ratios count: rows
                                  need not sum to 1. NULL: equal ones, a set of classes */
} fewlabel_labels;

/* Initializer of fewlabel_labels: codes [n_rows]. */
#define FEWLABEL_LABELS(codes) {codes, 1, 0, 0, 0, 0}

/* Kinds of models. */
#define FEWLABEL_LINEAR 1    /* a classifier, from fewlabel_fit */
#define FEWLABEL_SEQUENCE 2  /* a model of label sequences, from fewlabel_sequence_fit */
#define FEWLABEL_STRUCTURE 3 /* components, from fewlabel_structure_fit */

/* In progress->cancel: stop after the current outer step, fix the labels and return the model. */
#define FEWLABEL_STOP 2

/* Shared by a running fit, or the reading of a file, and its caller: zero it, pass it, read it from another thread at
 * any time. With `cancel` FEWLABEL_STOP, the fit stops early and returns a model whose "termination_condition" is
 * "stopped"; with any other nonzero value, it returns FEWLABEL_CANCELLED within a fraction of a second, without a
 * model.
 */
typedef struct {
  int64_t cancel;     /* written by the caller */
  int64_t step;       /* number of outer steps */
  double objective;   /* of the method, after that step */
  double level;       /* the temperature (auto, annealing) or the weight of the unlabeled rows (switching) */
  int64_t n_switched; /* labels changed in that step */
  double n_passes;    /* passes over the nonzeros so far */
} fewlabel_progress;

/* Machines that share the rows of a fit: each calls it with its own rows (possibly none), and all get the same model.
 * A call of `allreduce` replaces values by their sums over all machines, bitwise identical on each, as MPI_Allreduce
 * with MPI_SUM does. It returns 0, or a nonzero value on failure: then it is not called again, and the fit returns
 * FEWLABEL_GROUP_FAILED.
 *   Threads   it is called only on the thread that called the fit, one call at a time.
 *   Memory    `values` belongs to the library and is valid only during the call.
 *   Calls     all machines make the same calls with the same lengths until the fit ends. A machine that has invalid
 *             data, is cancelled or runs out of memory informs the others at the next call: the fit then ends on all
 *             of them, with its own status there, and FEWLABEL_CANCELLED or FEWLABEL_GROUP_FAILED on the others.
 *             Machines whose sums or options differ get FEWLABEL_GROUP_FAILED too. `allreduce` has to detect machines
 *             that died.
 *   Return    no longjmp, no exception. It may call functions of this library. */
typedef int32_t (*fewlabel_allreduce)(void *context, double *values, int64_t n);

typedef struct {
  int32_t rank; /* of this machine: 0 ... size-1 */
  int32_t size; /* number of machines */
  fewlabel_allreduce allreduce;
  void *context; /* its first argument */
} fewlabel_group;

/* A number that increases with every incompatible change of this file, and the version of the library ("0.1.0"). A
 * library that was built without signal masks, so that its threads may run handlers of the host, adds " without signal
 * masks": it is safe only where every handler has SA_ONSTACK. Every released library has the masks. */
int32_t fewlabel_abi_version(void);
const char *fewlabel_version(void);

/* The options of a fit as a JSON array of objects with "name", "type", "default", "meaning" and, where they apply,
 * "choices", "minimum", "maximum", "exclusive_minimum". `kind` is that of the model: FEWLABEL_LINEAR, FEWLABEL_SEQUENCE
 * or FEWLABEL_STRUCTURE. `needed` is set to the size of the whole text in bytes, including NUL; with `text` NULL only
 * the size is returned. */
int32_t fewlabel_options(int32_t kind, char *text, int64_t text_size, int64_t *needed, char *error,
                         int64_t error_size);

/* ---- Classifiers ------------------------------------------------------------------------------------------------- */

/* Fit a classifier, or with several columns of labels one for every column.
 *   rows     the training rows, labeled and unlabeled
 *   labels   their labels. Every class needs a labeled row, unless the option class_prior contains its share, or rows
 *            have sets or probabilities of classes that differ: then no row needs a label, and shares that class_prior
 *            does not give are the means of the probabilities.
 *   weights  [n_rows] weight of each row, nonnegative; NULL: all 1. A factor of all weights changes nothing. Multiples
 *            of the smallest weight above 0, on average at most 4 times it, are numbers of copies: the fit equals that
 *            of the repeated rows, up to rounding. With other weights each row gets one hard label.
 *   start    a model to continue from, for example after labels were added, with the features and classes of this fit,
 *            from an earlier fit, a file or fewlabel_assemble; 0: none. Annealing then starts at a low temperature,
 *            switching at the full weight of the unlabeled rows, both with labels from the scores of the start, which
 *            saves most of the time. The start is not changed and may be freed afterwards.
 *   options  JSON object, for example {"method": "switching", "alpha": 1e-3, "threads": 2}; NULL: the defaults
 *   progress may be NULL
 *   group    machines that share the rows; NULL: this machine has all rows. All machines pass the same options (except
 *            "threads"), n_features, start, kind of rows, class numbers and n_classes (not 0 if a machine has
 *            `indptr`). The arrays "transduction" and
 *            "label_distributions" and the history of passes are for the rows of this machine. Not supported in a group
 *            are method "pair_switching", "max_switches" and "calibrate". With class_prior "auto" every machine gets
 *            the labeled rows of all; with many unlabeled rows a class it may get an eighth of these, too.
 *   models   [n_columns] set to the handles; release each with fewlabel_free
 *
 * Several columns share what depends on the rows alone, and are divided among the threads; progress counts columns as
 * steps. With the same shares a column's model has the bits of its separate fit. The option class_prior is then an
 * array with the share of class 1 in each column; "auto" and "labels" are both the shares of the column's labels, and
 * labels of one class alone then give a constant model. class_weight has 2 factors for all columns. A column without a
 * label is FEWLABEL_BAD_DATA. start, group and hierarchy are not supported.
 *
 * The option hierarchy is a tree over the classes as an array with the number of each node's parent:
 * the nodes 0 ... n_classes-1 are the classes, which are leaves, the groups follow, and -1 stands for no parent. With
 * five classes "hierarchy": [5, 5, 6, 6, -1, -1, -1] puts classes 0 and 1 into group 5, and 2 and 3 into group 6. In
 * the model the weights of each class include those of its groups. The model does not store the tree (metadata can).
 *
 * Rows are scaled by rms, the root mean square norm of the nonzero rows, weighted with `weights`: decisions and the
 * meaning of alpha do not depend on the scale of the rows. The regularizer in the objective is
 * alpha/2 (rms² |w|² + b²) for the weights w and the intercept b of the model, without b² if balance constrains the
 * mean score. */
int32_t fewlabel_fit(const fewlabel_rows *rows, const fewlabel_labels *labels, const double *weights, int64_t start,
                     const char *options, fewlabel_progress *progress, const fewlabel_group *group, int64_t *models,
                     char *error, int64_t error_size);

/* Estimate the share of each class among the unlabeled rows, without a classifier.
 *   rows, labels, weights  as for fewlabel_fit. labels.n_classes is the number of the classes that have labels, at
 *              least 2; labels.n_columns is 1 and labels.indptr NULL
 *   options    JSON object with some of "n_bootstraps" (50; 2 or more), "confidence_level" (0.9; above 0, below 1),
 *              "random_state" (0; seed of the bootstrap), "threads" (1) and "fit_intercept" (true); NULL: the defaults
 *   shares     [n_classes] set to the shares that fewlabel_fit uses with class_prior "auto", bit for bit
 *   lower, upper  [n_classes] set to the limits of a confidence interval with level confidence_level; NULL: not
 *              needed (if both are NULL, the bootstrap is skipped). If no labeled row can be held out because every
 *              class has only one, fewer than two rows are unlabeled, or all labels have one class, the shares are
 *              those of the labels and the interval is 0 to 1.
 *   warnings   [warnings_size] set to the "warnings" of the report of a fit with these shares, a JSON array: 4,096
 *              bytes have room for all. NULL: not needed */
int32_t fewlabel_class_prior(const fewlabel_rows *rows, const fewlabel_labels *labels, const double *weights,
                             const char *options, double *shares, double *lower, double *upper, char *warnings,
                             int64_t warnings_size, char *error, int64_t error_size);

/* Decisions and classes of rows with the features of the model, a classifier of kind FEWLABEL_LINEAR.
 * `threads` is 1 or more.
 *   classes    [n_rows] class numbers. With two classes, class 1 has a decision above 0. With more, each row has one
 *              decision per class, and the class with the largest is predicted, the first of equal ones. NULL: not
 *              needed
 *   decisions  [n_rows * n_outputs] decisions, those of a row side by side. NULL: not needed */
int32_t fewlabel_predict(int64_t model, const fewlabel_rows *rows, int32_t threads, int32_t *classes,
                         double *decisions, char *error, int64_t error_size);

/* Decisions [n_rows * n_outputs] of rows from weights of the caller, without a model: for each output the sum over a
 * row's values times their weights, in the order of the row, plus its intercept.
 *   coef       [n_outputs * n_features] all features of an output side by side; with by_feature 1: all outputs of a
 *              feature, as fewlabel_array gives them, which is faster for several outputs
 *   intercept  [n_outputs]
 *   by_feature 0 or 1
 * Sparse rows are read once, and indices are checked on the way. Decisions that are not finite are refused. After a
 * failure some of `decisions` may have been written. */
int32_t fewlabel_decision_with(const fewlabel_rows *rows, const double *coef, const double *intercept,
                               int64_t n_outputs, int32_t by_feature, int32_t threads, double *decisions,
                               char *error, int64_t error_size);

/* ---- Label sequences ---------------------------------------------------------------------------------------------
 *
 * One row per token, sequence after sequence. The tags y[1] ... y[T] of a sequence have the score
 *
 *     sum over t of x[t] . coef[., y[t]]  +  sum over t > 1 of transitions[y[t-1], y[t]]  +  start[y[1]]  +  end[y[T]]
 */

/* Fit a model of sequences.
 *   rows     the tokens
 *   lengths  [n_sequences] tokens of each sequence, 1 or more, which sum to the number of rows
 *   labels   [n_rows] tag number 0 ... n_tags-1, or -1: none. Every tag needs a labeled token.
 *   allowed  [n_rows, n_tags] 0 where a token without a label cannot have the tag, otherwise 1; NULL: it can have any
 *   start    a model to continue from, with the features and tags of this fit; 0: none
 *   options  JSON object, for example {"loss": "crf", "threads": 2}; NULL: the defaults
 *   progress may be NULL; a step is an epoch
 *   model    set to the handle
 *
 * The option forbidden_transitions is an array of pairs of tags, flattened: [2, 1, -1, 1] forbids tag 1
 * after tag 2 and, with -1 for the start or the end, as the first tag. They have the score -infinity. Rows are measured
 * in units of rms, the root of their mean square length. The objective is
 *
 *     alpha/2 (rms^2 |coef|^2 + |transitions|^2 + |start|^2 + |end|^2)  +  1/L sum of the losses of the sequences
 *
 * for L tokens with a label or a set of allowed tags. The method "gradient" or "posterior" adds unlabeled_weight times
 * the losses of the sequences without any label, averaged over their tokens, and takes as many epochs again, with all
 * sequences. */
int32_t fewlabel_sequence_fit(const fewlabel_rows *rows, const int64_t *lengths, int64_t n_sequences,
                              const int32_t *labels, const uint8_t *allowed, int64_t start, const char *options,
                              fewlabel_progress *progress, int64_t *model, char *error, int64_t error_size);

/* Decode sequences. Each output may be NULL if it is not needed.
 *   tags       [n_rows] the best path; of equal ones that with the lowest last tag, and so on towards the front
 *   scores     [n_sequences] of the best path
 *   margins    [n_sequences] by which the score of the second best path is lower; infinite if there is only one path
 *   marginals  [n_rows * n_tags] probability of every tag, those of a token side by side
 * After a failure some of them may have been written. */
int32_t fewlabel_sequence_decode(int64_t model, const fewlabel_rows *rows, const int64_t *lengths,
                                 int64_t n_sequences, int32_t threads, int32_t *tags, double *scores,
                                 double *margins, double *marginals, char *error, int64_t error_size);

/* ---- Structure --------------------------------------------------------------------------------------------------- */

/* Learn a subspace shared by the weights of good classifiers from unlabeled rows (Ando & Zhang 2005): components, which
 * define additional features for any classifier, from auxiliary problems over the same rows.
 *   rows       the rows; labels of the task itself are not used
 *   labels     the auxiliary problems: [n_rows] rows with a feature for each problem; a value other than 0 is the label
 *              1, all others are -1
 *   hidden     [sets] rows with the features of `rows`: the nonzero features of a row are hidden together. NULL: none
 *   hides      [n_problems] the set of `hidden` that is hidden from a problem, or -1: none. NULL if `hidden` is NULL
 *   groups     [n_features] group number of each feature, from 0; each group has its own components. NULL: one group
 *   n_components  of each group: at most n_problems, and at most the features that occur in any group
 *   options    JSON object, for example {"solver": "squared", "threads": 2}; NULL: the defaults
 *   progress   may be NULL; a step is a block of 32 problems, or the components of a round
 *   model      set to the handle of the components. Directly after the fit fewlabel_array also gives "strengths"
 *              [n_groups * n_components], the singular values of each group, falling, and "history.objective",
 *              equation 6 after each round (empty with solver "none")
 * The features of a row are its inner products with the components: fewlabel_decision_with computes them, with
 * "components" as coef, by_feature 1 and intercepts of 0. */
int32_t fewlabel_structure_fit(const fewlabel_rows *rows, const fewlabel_rows *labels, const fewlabel_rows *hidden,
                               const int32_t *hides, const int32_t *groups, int64_t n_components, const char *options,
                               fewlabel_progress *progress, int64_t *model, char *error, int64_t error_size);

/* ---- Handles of every kind --------------------------------------------------------------------------------------- */

/* The report of a fit, a model file or a data file as a JSON object. As fewlabel_options for `text`.
 *   of every kind      "arrays": the names and lengths of what fewlabel_array gives
 *   of every model     its sizes: "n_classes" ("n_tags" of sequences), "n_features", "n_outputs" (decisions of a row:
 *                      1 for one or two classes, otherwise n_classes), "n_components" of each group, "n_groups";
 *                      "method" (the loss of sequences, the solver of a structure), "n_iter", "objective",
 *                      "termination_condition", "warnings" (objects of "kind", a name as "collapse"; "values", an
 *                      object of numbers, in which "class" is a class number; "text", a sentence for people; docs/c.md
 *                      lists the kinds), "metadata" (the text given to fewlabel_save)
 *   FEWLABEL_LINEAR    "alpha", "unlabeled_weight" and "loss" (directly after a fit: those used, also where the option
 *                      is "auto"), "supervised_agreement" (directly after a fit: the share of unlabeled rows for which
 *                      the supervised model, the starting point of the method, predicts the same class; null after a
 *                      fit from a start and if there is nothing to compare), "returned" (directly after a fit: the
 *                      method of the returned solution, of method "auto" that is "annealing" or "switching"; null for
 *                      other models), "calibration_temperature", "calibration_smoothing" and "n_held_out" (below),
 *                      "committee_weight" (directly after a fit: where shares are estimated the weight of the
 *                      supervised classifier and of the mixture beside the transductive one, 0 where these have no
 *                      part), "shares_carried" (the part of the class shares that the unlabeled rows carry, 1 from as
 *                      many rows as labels on, 0 where they have no part; the rest are those that the supervised
 *                      classifier predicts)
 *
 * Directly after a fit with the option calibrate, decisions of rows that took no part in it can be converted to
 * probabilities (those of rows that did are its "label_distributions"): with T the
 * calibration_temperature, e the calibration_smoothing and s the decisions of a row, one for each of K classes,
 * class y has the probability (1 - e) exp(s[y]/T) / sum over k of exp(s[k]/T) + e/K. With two classes and one
 * decision f take s = (0, f). n_held_out is the number of labeled rows used to estimate T. All three are null
 * without calibrate, and if calibration is not possible, which a warning explains: it needs a class with two different
 * labeled rows. If all labels have one class, T is 1, e is 0 and n_held_out is 0. A
 * model file does not store them (metadata can). */
int32_t fewlabel_report(int64_t handle, char *text, int64_t text_size, int64_t *needed, char *error,
                        int64_t error_size);

/* Copy a named array. `length` must be the length that fewlabel_report gives, and `type` FEWLABEL_FLOAT64, which every
 * array has, or the type that is named here.
 *   FEWLABEL_LINEAR     "coef" [n_features * n_outputs], all outputs of a feature side by side, "intercept"
 *                       [n_outputs], "class_prior" [n_classes]. Directly after a fit also "transduction" [n_rows]
 *                       (class number of every training row, FEWLABEL_INT32), "label_distributions"
 *                       [n_rows * n_classes] where the method has them (not switching: the probabilities of all
 *                       classes of a row side by side), and "history.NAME" for every column of the history
 *   FEWLABEL_SEQUENCE   "coef" [n_features * n_tags], all tags of a feature side by side, "transitions"
 *                       [n_tags * n_tags], all that follow a tag side by side, "start" and "end" [n_tags], and,
 *                       directly after a fit, "history.objective"
 *   FEWLABEL_STRUCTURE  "components" [n_features * n_components], the components of a feature side by side; those of a
 *                       group are stored at its features, where they are orthonormal; "groups" [n_features], the group
 *                       of each feature
 *   data                "indptr" [n_rows + 1] (FEWLABEL_INT64), "indices" [n_values] (FEWLABEL_INT32), "values"
 *                       [n_values], "labels" [n_labels] and "label_indptr" [n_rows + 1] (FEWLABEL_INT64): row i has the
 *                       labels label_indptr[i] ... label_indptr[i+1]-1, label i in a file with one label a row */
int32_t fewlabel_array(int64_t handle, const char *name, int32_t type, void *values, int64_t length, char *error,
                       int64_t error_size);

/* An array and its name. */
typedef struct {
  const char *name;
  const double *values;
  int64_t length;
} fewlabel_named;

/* Create a model from arrays, which are copied.
 *   kind         FEWLABEL_LINEAR, FEWLABEL_SEQUENCE or FEWLABEL_STRUCTURE
 *   description  JSON object with the sizes of the kind, as fewlabel_report gives them, and, where known, "method",
 *                "n_iter", "objective", "termination_condition", "warnings" and "metadata". "n_outputs" may be missing,
 *                and "n_groups" where it is 1
 *   arrays       [n_arrays] the arrays of the kind, in any order, as fewlabel_array gives them for a model from a file.
 *                "groups" may be missing where there is one */
int32_t fewlabel_assemble(int32_t kind, const char *description, const fewlabel_named *arrays, int64_t n_arrays,
                          int64_t *model, char *error, int64_t error_size);

/* Save a model to a safetensors file and load it. `metadata` is any JSON text to store with it, in UTF-8 and without
 * duplicate names in an object; NULL keeps the current metadata. */
int32_t fewlabel_save(int64_t model, const char *path, const char *metadata, char *error, int64_t error_size);
int32_t fewlabel_load(const char *path, int64_t *model, char *error, int64_t error_size);

/* Release a handle. */
int32_t fewlabel_free(int64_t handle, char *error, int64_t error_size);

/* Number of handles not yet freed: 0 at the end of a program without leaks. */
int64_t fewlabel_live_handles(void);

/* ---- svmlight files ---------------------------------------------------------------------------------------------- */

/* Read a svmlight / libsvm file: plain, gzip, bzip2 or zstd, detected by its first bytes.
 *   labels_path   SVMlin format: rows without labels, labels in this second file; NULL: each row starts with its labels
 *   zero_based    1: the first feature is number 0; 0: it is number 1
 *   n_features    0: the largest number found; otherwise a larger number in the file is an error
 *   max_expansion 0: 100. A compressed file that expands to more than 64 MiB of text and by more than this factor is
 *                 refused. Data files expand 2 to 11 times.
 *   progress      setting its `cancel` to 1 from another thread stops reading; may be NULL
 *   data          set to the handle: fewlabel_array gives the arrays, which go into fewlabel_rows as they are
 *   sizes         [4] set to n_rows, n_features, n_values and n_labels */
int32_t fewlabel_svmlight_read(const char *path, const char *labels_path, int32_t zero_based, int64_t n_features,
                               int64_t max_expansion, fewlabel_progress *progress, int64_t *data, int64_t *sizes,
                               char *error, int64_t error_size);

/* Write rows as a svmlight file; compressed when the path ends in .gz or .zst, refused when it ends as compressed files
 * of other programs do (.bz2, .xz, .zip, ...); `labels` [n_rows]. */
int32_t fewlabel_svmlight_write(const char *path, const fewlabel_rows *rows, const double *labels, int32_t zero_based,
                                char *error, int64_t error_size);

#ifdef __cplusplus
}
#endif
#endif
