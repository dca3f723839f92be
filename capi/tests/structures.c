/* Components that are kept, from C: what they give rows, files, and what must be refused. */
#include <math.h>

#include "check.h"

enum { N_COMPONENTS = 1, N_GROUPS = 2, N_OUTPUTS = 1, N_ADDED = N_GROUPS * N_COMPONENTS };

#define SIZES "{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 2, \"n_outputs\": 1}"
#define BARE "{\"n_features\": 4, \"n_components\": 1, \"method\": \"squared\", \"n_iter\": 3}"
#define STRUCTURE_FILE "structure-test.fewlabel"

static const double components[N_FEATURES] = {0.6, 0.8, 1, 0}, coef[N_FEATURES] = {1, 2, 3, 4};
static const double structure_coef[N_ADDED] = {-10, 10}, intercept[N_OUTPUTS] = {0.25};
static const double groups[N_FEATURES] = {0, 0, 1, 1}, weight[] = {0.5};

enum { COMPONENTS, GROUPS, COEF, STRUCTURE_COEF, INTERCEPT, WEIGHT, N_PARTS };

static const fewlabel_named good_parts[N_PARTS] = {
    {"components", components, N_FEATURES}, {"groups", groups, N_FEATURES}, {"coef", coef, N_FEATURES},
    {"structure_coef", structure_coef, N_ADDED}, {"intercept", intercept, N_OUTPUTS}, {"structure_weight", weight, 1}};

static int64_t assembled(void) {
  int64_t model = 0;
  WORKS(fewlabel_assemble(FEWLABEL_STRUCTURE, SIZES, good_parts, N_PARTS, &model, ERROR));
  return model;
}

/* With other numbers for one part. */
static int32_t assemble_with(const char *description, int part, const double *values) {
  int64_t model = -7;
  fewlabel_named parts[N_PARTS];
  int32_t status;
  memcpy(parts, good_parts, sizeof parts);
  parts[part].values = values;
  status = fewlabel_assemble(FEWLABEL_STRUCTURE, description, parts, N_PARTS, &model, ERROR);
  HOLDS((model == -7) == (status != FEWLABEL_OK));
  return status;
}

/* A row of check.h has features of one group only: its structure feature has half the length of the row. */
static void features_and_decisions(int64_t model) {
  problem p;
  double features[N_ROWS * N_ADDED], decisions[N_ROWS];
  int i;
  good_problem(&p);
  WORKS(fewlabel_structure_features(model, &p.rows, 2, features, ERROR));
  WORKS(fewlabel_predict(model, &p.rows, 2, NULL, decisions, ERROR));
  for (i = 0; i < N_ROWS; i++) {
    const int group = i >= N_ROWS / 2;
    const double a = p.values[2 * i], b = p.values[2 * i + 1], length = 0.5 * sqrt(a * a + b * b);
    const double of_words = coef[2 * group] * a + coef[2 * group + 1] * b;
    HOLDS(fabs(features[N_ADDED * i + group] - length) < 1e-12 && features[N_ADDED * i + 1 - group] == 0);
    HOLDS(fabs(decisions[i] - (of_words + structure_coef[group] * length + 0.25)) < 1e-12);
  }
}

static void files(void) {
  int64_t model = assembled(), loaded = 0, needed;
  double values[N_FEATURES];
  char report[2000];
  features_and_decisions(model);
  WORKS(fewlabel_save(model, STRUCTURE_FILE, "{\"classes\": [\"no\", \"yes\"]}", ERROR));
  WORKS(fewlabel_load(STRUCTURE_FILE, &loaded, ERROR));
  features_and_decisions(loaded);
  WORKS(fewlabel_array(loaded, "groups", FEWLABEL_FLOAT64, values, N_FEATURES, ERROR));
  HOLDS(values[1] == 0 && values[2] == 1);
  WORKS(fewlabel_report(loaded, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"metadata\":{\"classes\":[\"no\",\"yes\"]}") != NULL);
  HOLDS(strstr(report, "\"n_groups\":2") != NULL && strstr(report, "\"structure_coef\":2") != NULL);
  HOLDS(strstr(report, "\"objective\":null") != NULL);
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_assemble(FEWLABEL_STRUCTURE, BARE, good_parts, 1, &model, ERROR));
  WORKS(fewlabel_save(model, STRUCTURE_FILE, NULL, ERROR));
  WORKS(fewlabel_load(STRUCTURE_FILE, &loaded, ERROR));
  WORKS(fewlabel_report(loaded, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"method\":\"squared\"") != NULL && strstr(report, "\"n_iter\":3") != NULL);
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  HOLDS(remove(STRUCTURE_FILE) == 0);
}

static void refused(void) {
  problem p;
  int64_t model = -7, bare = 0, linear = 0, with = assembled();
  const fewlabel_named strange = {"weights", coef, 1}, nameless = {NULL, coef, 1};
  fewlabel_named twice[2];
  double wrong[N_FEATURES] = {0.6, NAN, 1, 0}, values[N_ROWS * N_ADDED];
  const double beyond[N_FEATURES] = {0, 0, 2, 1}, zero = 0;
  int32_t classes[N_ROWS];
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "description is NULL", assemble_with(NULL, COEF, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the field n_components is missing", assemble_with("{\"n_features\": 4}", COEF, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown field \"groups\"",
        assemble_with("{\"n_features\": 4, \"n_components\": 1, \"groups\": 2}", COEF, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_groups is 5: there are 4 features",
        assemble_with("{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 5}", COEF, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "structure_weight[0] is 0", assemble_with(SIZES, WEIGHT, &zero));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components is NULL", assemble_with(SIZES, COMPONENTS, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "coef is NULL", assemble_with(SIZES, COEF, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components[1] is NaN", assemble_with(SIZES, COMPONENTS, wrong));
  FAILS(FEWLABEL_BAD_ARGUMENT, "groups[2] is 2: it must be a whole number, 0 to 1",
        assemble_with(SIZES, GROUPS, beyond));
#define ASSEMBLE(kind, parts, n, at) fewlabel_assemble(kind, SIZES, parts, n, at, ERROR)
  FAILS(FEWLABEL_BAD_ARGUMENT, "model is NULL", ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, N_PARTS, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "kind is 4: use FEWLABEL_LINEAR, ", ASSEMBLE(4, good_parts, 1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays is NULL", ASSEMBLE(FEWLABEL_STRUCTURE, NULL, 1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_arrays is -1", ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, -1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays has no \"structure_coef\", which must have 2 values",
        ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, STRUCTURE_COEF, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays[0].name is \"weights\": a model of kind structure has components, groups, ",
        ASSEMBLE(FEWLABEL_STRUCTURE, &strange, 1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays[0].name is NULL", ASSEMBLE(FEWLABEL_STRUCTURE, &nameless, 1, &model));
  twice[0] = twice[1] = good_parts[0];
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays[1].name is \"components\", as of an array before",
        ASSEMBLE(FEWLABEL_STRUCTURE, twice, 2, &model));
  twice[1] = good_parts[1];
  twice[1].length = -1;
  FAILS(FEWLABEL_BAD_ARGUMENT, "groups cannot have -1 elements", ASSEMBLE(FEWLABEL_STRUCTURE, twice, 2, &model));
  HOLDS(model == -7);
  WORKS(fewlabel_assemble(FEWLABEL_STRUCTURE, BARE, good_parts, 1, &bare, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the model has no classifier",
        fewlabel_predict(bare, &p.rows, 1, NULL, values, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "features is NULL", fewlabel_structure_features(bare, &p.rows, 1, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL", fewlabel_structure_features(bare, NULL, 1, values, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is 0", fewlabel_predict(with, &p.rows, 0, NULL, values, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "classes is not NULL, but a model of components has decisions only",
        fewlabel_predict(with, &p.rows, 1, classes, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "classes and decisions are both NULL",
        fewlabel_predict(with, &p.rows, 1, NULL, NULL, ERROR));
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &linear, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of a linear classifier",
        fewlabel_structure_features(linear, &p.rows, 1, values, ERROR));
  p.rows.n_features--;
  FAILS(FEWLABEL_BAD_DATA, "", fewlabel_predict(with, &p.rows, 1, NULL, values, ERROR));
  p.rows.n_features += 2;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows have 5 features, the model has 4",
        fewlabel_predict(with, &p.rows, 1, NULL, values, ERROR));
  WORKS(fewlabel_free(linear, ERROR));
  WORKS(fewlabel_free(bare, ERROR));
  WORKS(fewlabel_free(with, ERROR));
}

int main(void) {
  files();
  refused();
  HOLDS(fewlabel_live_handles() == 0);
  return conclude("structures");
}
