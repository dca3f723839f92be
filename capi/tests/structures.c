/* Components that are kept, from C: files, and what must be refused. */
#include <math.h>

#include "check.h"

#define SIZES "{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 2}"
#define BARE "{\"n_features\": 4, \"n_components\": 1, \"method\": \"squared\", \"n_iter\": 3}"
#define STRUCTURE_FILE "structure-test.safetensors"

static const double components[N_FEATURES] = {0.6, 0.8, 1, 0}, groups[N_FEATURES] = {0, 0, 1, 1};

enum { COMPONENTS, GROUPS, N_PARTS };

static const fewlabel_named good_parts[N_PARTS] = {{"components", components, N_FEATURES},
                                                   {"groups", groups, N_FEATURES}};

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

static void files(void) {
  int64_t model = assembled(), loaded = 0, needed;
  double values[N_FEATURES];
  char report[2000];
  WORKS(fewlabel_save(model, STRUCTURE_FILE, "{\"words\": [\"no\", \"yes\"]}", ERROR));
  WORKS(fewlabel_load(STRUCTURE_FILE, &loaded, ERROR));
  WORKS(fewlabel_array(loaded, "components", FEWLABEL_FLOAT64, values, N_FEATURES, ERROR));
  HOLDS(memcmp(values, components, sizeof values) == 0);
  WORKS(fewlabel_array(loaded, "groups", FEWLABEL_FLOAT64, values, N_FEATURES, ERROR));
  HOLDS(memcmp(values, groups, sizeof values) == 0);
  WORKS(fewlabel_report(loaded, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"metadata\":{\"words\":[\"no\",\"yes\"]}") != NULL);
  HOLDS(strstr(report, "\"n_groups\":2") != NULL && strstr(report, "\"objective\":null") != NULL);
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
  int64_t model = -7, bare = 0;
  const fewlabel_named strange = {"weights", components, 1}, nameless = {NULL, components, 1};
  fewlabel_named twice[2];
  double wrong[N_FEATURES] = {0.6, NAN, 1, 0}, values[N_ROWS];
  const double beyond[N_FEATURES] = {0, 0, 2, 1};
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "description is NULL", assemble_with(NULL, GROUPS, groups));
  FAILS(FEWLABEL_BAD_ARGUMENT, "the field n_components is missing",
        assemble_with("{\"n_features\": 4}", GROUPS, groups));
  FAILS(FEWLABEL_BAD_ARGUMENT, "unknown field \"groups\"",
        assemble_with("{\"n_features\": 4, \"n_components\": 1, \"groups\": 2}", GROUPS, groups));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_groups is 5: there are 4 features",
        assemble_with("{\"n_features\": 4, \"n_components\": 1, \"n_groups\": 5}", GROUPS, groups));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components is NULL", assemble_with(SIZES, COMPONENTS, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "components[1] is NaN", assemble_with(SIZES, COMPONENTS, wrong));
  FAILS(FEWLABEL_BAD_ARGUMENT, "groups[2] is 2: it must be a whole number, 0 to 1",
        assemble_with(SIZES, GROUPS, beyond));
#define ASSEMBLE(kind, parts, n, at) fewlabel_assemble(kind, SIZES, parts, n, at, ERROR)
  FAILS(FEWLABEL_BAD_ARGUMENT, "model is NULL", ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, N_PARTS, NULL));
  FAILS(FEWLABEL_BAD_ARGUMENT, "kind is 4: use FEWLABEL_LINEAR, ", ASSEMBLE(4, good_parts, 1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays is NULL", ASSEMBLE(FEWLABEL_STRUCTURE, NULL, 1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "n_arrays is -1", ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, -1, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays has no \"groups\", which must have 4 values",
        ASSEMBLE(FEWLABEL_STRUCTURE, good_parts, GROUPS, &model));
  FAILS(FEWLABEL_BAD_ARGUMENT, "arrays has \"weights\": a model of kind structure has components, groups",
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
  FAILS(FEWLABEL_BAD_HANDLE, "the handle of a model of components",
        fewlabel_predict(bare, &p.rows, 1, NULL, values, ERROR));
  WORKS(fewlabel_free(bare, ERROR));
}

int main(void) {
  files();
  refused();
  HOLDS(fewlabel_live_handles() == 0);
  return conclude("structures");
}
