/* Components that are kept, from C: what they give rows, files, and what must be refused. */
#include <math.h>

#include "check.h"

enum { N_COMPONENTS = 1, N_GROUPS = 2, N_OUTPUTS = 1, N_ADDED = N_GROUPS * N_COMPONENTS };

#define SIZES "{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 2, \"n_outputs\": 1, \"structure_weight\": 0.5}"
#define BARE "{\"n_features\": 4, \"n_components\": 1, \"method\": \"squared\", \"n_iter\": 3}"
#define STRUCTURE_FILE "structure-test.fewlabel"

static const double components[N_FEATURES] = {0.6, 0.8, 1, 0}, coef[N_FEATURES] = {1, 2, 3, 4};
static const double structure_coef[N_ADDED] = {-10, 10}, intercept[N_OUTPUTS] = {0.25};
static const int32_t groups[N_FEATURES] = {0, 0, 1, 1};

static int64_t assembled(void) {
  int64_t model = 0;
  WORKS(fewlabel_structure_assemble(SIZES, components, groups, coef, structure_coef, intercept, &model, ERROR));
  return model;
}

/* A row of check.h has features of one group only: its structure feature has half the length of the row. */
static void features_and_decisions(int64_t model) {
  problem p;
  double features[N_ROWS * N_ADDED], decisions[N_ROWS];
  int i;
  good_problem(&p);
  WORKS(fewlabel_structure_features(model, &p.rows, 2, features, ERROR));
  WORKS(fewlabel_structure_decision(model, &p.rows, 2, decisions, ERROR));
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
  WORKS(fewlabel_array(loaded, "groups", values, N_FEATURES, ERROR));
  HOLDS(values[1] == 0 && values[2] == 1);
  WORKS(fewlabel_report(loaded, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"metadata\":{\"classes\":[\"no\",\"yes\"]}") != NULL);
  HOLDS(strstr(report, "\"n_groups\":2") != NULL && strstr(report, "\"structure_coef\":2") != NULL);
  HOLDS(strstr(report, "\"objective\":null") != NULL);
  WORKS(fewlabel_free(loaded, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_structure_assemble(BARE, components, NULL, NULL, NULL, NULL, &model, ERROR));
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
  double wrong[N_FEATURES] = {0.6, NAN, 1, 0}, values[N_ROWS * N_ADDED];
  const int32_t beyond[N_FEATURES] = {0, 0, 2, 1};
  int32_t classes[N_ROWS];
  good_problem(&p);
#define ASSEMBLE(sizes, components, groups, coef) \
  fewlabel_structure_assemble(sizes, components, groups, coef, structure_coef, intercept, &model, ERROR)
  FAILS(FEWLABEL_BAD_ARGUMENT, "description is NULL", ASSEMBLE(NULL, components, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the field n_components is missing",
        ASSEMBLE("{\"n_features\": 4}", components, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown field \"groups\"",
        ASSEMBLE("{\"n_features\": 4, \"n_components\": 1, \"groups\": 2}", components, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_groups is 5: there are 4 features",
        ASSEMBLE("{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 5}", components, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "structure_weight[0] is 0",
        ASSEMBLE("{\"n_features\": 4, \"n_components\": 1, \"structure_weight\": 0}", components, NULL, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components is NULL", ASSEMBLE(SIZES, NULL, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "coef is NULL", ASSEMBLE(SIZES, components, groups, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components[1] is NaN", ASSEMBLE(SIZES, wrong, groups, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "groups[2] is 2: it must be a whole number, 0 to 1",
        ASSEMBLE(SIZES, components, beyond, coef));
  FAILS(FEWLABEL_BAD_ARGUMENT, "model is NULL",
        fewlabel_structure_assemble(SIZES, components, groups, coef, structure_coef, intercept, NULL, ERROR));
  HOLDS(model == -7);
  WORKS(fewlabel_structure_assemble(BARE, components, NULL, NULL, NULL, NULL, &bare, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the model has no classifier",
        fewlabel_structure_decision(bare, &p.rows, 1, values, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "features is NULL", fewlabel_structure_features(bare, &p.rows, 1, NULL, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows is NULL", fewlabel_structure_features(bare, NULL, 1, values, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "threads is 0", fewlabel_structure_decision(with, &p.rows, 0, values, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "or of a structure", fewlabel_predict(with, &p.rows, 1, classes, ERROR));
  WORKS(fewlabel_fit(&p.rows, p.labels, NULL, 0, NULL, NULL, NULL, &linear, ERROR));
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of another kind of model",
        fewlabel_structure_features(linear, &p.rows, 1, values, ERROR));
  p.rows.n_features--;
  FAILS(FEWLABEL_BAD_DATA, "", fewlabel_structure_decision(with, &p.rows, 1, values, ERROR));
  p.rows.n_features += 2;
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows have 5 features, the model has 4",
        fewlabel_structure_decision(with, &p.rows, 1, values, ERROR));
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
