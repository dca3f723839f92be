/* Fits whose rows several machines share, each of them a thread here.
 *
 * They find the model of one machine; allreduce is called on the thread that called the fit and not again after it has
 * failed; whatever ends the fit on one of them ends it on all. */
#include "check.h"
#include "network.h"

#include <math.h>

enum { SIZE = 3 };

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

static int fails_at; /* the call that fails on rank 1; 0: none */

typedef struct {
  int32_t rank;
  pthread_t thread;
  problem p;
  const char *options;
  fewlabel_progress progress;
  int calls, elsewhere, after;
  int32_t status;
  int32_t classes[N_ROWS];
  double coef[N_FEATURES];
  char message[300];
} machine;

static int32_t add(void *context, double *values, int64_t n) {
  machine *m = (machine *)context;
  m->calls++;
  m->after += net.lost && m->rank == 1;
  m->elsewhere += !pthread_equal(m->thread, pthread_self());
  return add_over_network(values, n, m->rank == 1 && m->calls == fails_at);
}

/* The rows of the small problem: rank 1 has none, rank 0 the first three, rank 2 the rest. */
static void share_rows(machine *m) {
  static const int first[SIZE] = {0, 3, 3}, end[SIZE] = {3, 3, N_ROWS};
  int i;
  good_problem(&m->p);
  m->p.rows.n_rows = end[m->rank] - first[m->rank];
  m->p.rows.indptr = m->p.indptr;
  for (i = 0; i <= m->p.rows.n_rows; i++) m->p.indptr[i] = 2 * i;
  for (i = 0; i < m->p.rows.n_rows; i++) m->p.labels[i] = m->p.labels[i + first[m->rank]];
  m->p.rows.n_values = 2 * m->p.rows.n_rows;
  m->p.rows.indices = m->p.indices + 2 * first[m->rank];
  m->p.rows.values = m->p.values + 2 * first[m->rank];
}

static void *run(void *argument) {
  machine *m = (machine *)argument;
  fewlabel_group group;
  int64_t model = 0;
  group.rank = m->rank;
  group.size = SIZE;
  group.allreduce = add;
  group.context = m;
  m->thread = pthread_self();
  m->status = fewlabel_fit(&m->p.rows, LABELS(m->p.labels), NULL, 0, m->options, &m->progress, &group, &model,
                           m->message,
                           (int64_t)sizeof m->message);
  if (m->status == FEWLABEL_OK) {
    m->status = fewlabel_array(model, "coef", FEWLABEL_FLOAT64, m->coef, N_FEATURES, m->message,
                               (int64_t)sizeof m->message);
    fewlabel_free(model, NULL, 0);
  }
  return NULL;
}

static void run_all(machine *m, int failing_call) {
  pthread_t threads[SIZE];
  int k;
  connect_machines(SIZE);
  fails_at = failing_call;
  for (k = 0; k < SIZE; k++) HOLDS(pthread_create(&threads[k], NULL, run, &m[k]) == 0);
  for (k = 0; k < SIZE; k++) pthread_join(threads[k], NULL);
}

static const char options[] = "{\"class_prior\": [0.5, 0.5], \"threads\": 2}";

static void set_up(machine *m) {
  int k;
  memset(m, 0, SIZE * sizeof *m);
  for (k = 0; k < SIZE; k++) {
    m[k].rank = k;
    m[k].options = options;
    share_rows(&m[k]);
  }
}

static void finds_the_model_of_one(machine *m) {
  problem p;
  double coef[N_FEATURES];
  int64_t model = 0;
  int j, k;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, options, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, N_FEATURES, ERROR));
  WORKS(fewlabel_free(model, ERROR));
  set_up(m);
  run_all(m, 0);
  for (k = 0; k < SIZE; k++) {
    HOLDS(m[k].status == FEWLABEL_OK);
    HOLDS(m[k].elsewhere == 0 && m[k].calls == m[0].calls && m[k].calls > 10);
    HOLDS(memcmp(m[k].coef, m[0].coef, sizeof m[k].coef) == 0);
    for (j = 0; j < N_FEATURES; j++) HOLDS(fabs(m[k].coef[j] - coef[j]) < 1e-9);
  }
}

static void ends_on_all(machine *m) {
  int k, at, calls = m[0].calls;
  for (at = 1; at < calls; at++) { /* a network that fails */
    set_up(m);
    run_all(m, at);
    for (k = 0; k < SIZE; k++) HOLDS(m[k].status == FEWLABEL_GROUP_FAILED && m[k].after == 0);
    HOLDS(m[1].calls == at && strstr(m[1].message, "allreduce returned 1") != NULL);
  }
  set_up(m); /* bad data */
  m[2].p.labels[1] = INT32_MIN;
  run_all(m, 0);
  HOLDS(m[2].status == FEWLABEL_BAD_DATA && m[0].status == FEWLABEL_GROUP_FAILED);
  HOLDS(strstr(m[0].message, "failed on rank 2 of 3") != NULL);
  set_up(m); /* other options */
  m[1].options = "{\"class_prior\": [0.4, 0.6], \"threads\": 1}";
  run_all(m, 0);
  for (k = 0; k < SIZE; k++) HOLDS(m[k].status == FEWLABEL_GROUP_FAILED && strstr(m[k].message, "different options"));
  set_up(m); /* an option that is none */
  m[0].options = "{\"tol\": -1}";
  run_all(m, 0);
  HOLDS(m[0].status == FEWLABEL_BAD_ARGUMENT && m[1].status == FEWLABEL_GROUP_FAILED);
  HOLDS(strstr(m[1].message, "failed on rank 0 of 3") != NULL);
  set_up(m); /* cancelled */
  m[1].progress.cancel = 1;
  run_all(m, 0);
  for (k = 0; k < SIZE; k++) HOLDS(m[k].status == FEWLABEL_CANCELLED);
}

static void bad_groups(void) {
  problem p;
  int64_t model = 0;
  fewlabel_group group = {2, 2, add, NULL};
  good_problem(&p);
  FAILS(FEWLABEL_BAD_ARGUMENT, "group.rank is 2 of size 2",
        fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, &group, &model, ERROR));
  group.rank = 0;
  group.allreduce = NULL;
  FAILS(FEWLABEL_BAD_ARGUMENT, "group.allreduce is NULL",
        fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, &group, &model, ERROR));
}

int main(void) {
  static machine m[SIZE];
  finds_the_model_of_one(m);
  ends_on_all(m);
  finds_the_model_of_one(m);
  bad_groups();
  library_is_usable();
  HOLDS(fewlabel_live_handles() == 0);
  return conclude("groups");
}
