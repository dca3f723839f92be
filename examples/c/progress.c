/* Watch a fit from another thread, and stop it.
 *
 * The fit and its caller share a fewlabel_progress: the fit writes how far it is after every step, the caller writes
 * `cancel`. Both sides use atomic operations; the built-in ones of gcc and clang work on the plain struct.
 */
#define _POSIX_C_SOURCE 200112L /* nanosleep */
#include <pthread.h>
#include <time.h>

#include "example.h"

enum { N_DOCUMENTS = 20000, N_TOPICS = 8, N_LABELED = 80 };

/* A fit that runs in a thread of its own, with an error buffer of its own. */
typedef struct {
  const dataset *d;
  fewlabel_progress progress;
  int64_t model;
  int32_t status, ended;
  char message[1000];
} job;

static void *run(void *argument) {
  job *j = (job *)argument;
  /* Each topic has its share of the labels. */
  const char *options = "{\"class_prior\": \"labels\"}";
  const fewlabel_labels labels = FEWLABEL_LABELS(j->d->labels);
  j->status = fewlabel_fit(&j->d->rows, &labels, NULL, 0, options, &j->progress, NULL, &j->model, j->message,
                           sizeof j->message);
  __atomic_store_n(&j->ended, 1, __ATOMIC_RELEASE);
  return NULL;
}

static void wait_a_moment(void) {
  struct timespec moment = {0, 2000000}; /* 2 ms */
  nanosleep(&moment, NULL);
}

static void print_progress(fewlabel_progress *progress, int64_t step) {
  int64_t n_switched = __atomic_load_n(&progress->n_switched, __ATOMIC_RELAXED);
  double objective, temperature, n_passes;
  __atomic_load(&progress->objective, &objective, __ATOMIC_RELAXED);
  __atomic_load(&progress->level, &temperature, __ATOMIC_RELAXED);
  __atomic_load(&progress->n_passes, &n_passes, __ATOMIC_RELAXED);
  printf("step %2ld: objective %.5f at temperature %.3g, %ld labels changed, %.0f passes over the data\n", (long)step,
         objective, temperature, (long)n_switched, n_passes);
}

/* Print a line after every step until the fit has ended; ask it to stop once it has done `stop_after` steps. */
static void watch(job *j, int64_t stop_after) {
  int64_t seen = 0;
  while (!__atomic_load_n(&j->ended, __ATOMIC_ACQUIRE)) {
    int64_t step = __atomic_load_n(&j->progress.step, __ATOMIC_ACQUIRE);
    if (step > seen) print_progress(&j->progress, seen = step);
    if (seen >= stop_after) __atomic_store_n(&j->progress.cancel, 1, __ATOMIC_RELEASE);
    wait_a_moment();
  }
}

static job *start(const dataset *d, pthread_t *thread) {
  job *j = NEW(job, 1); /* zeroed: no step done, not cancelled */
  j->d = d;
  j->model = 0;
  ensure(pthread_create(thread, NULL, run, j) == 0, "a thread cannot be started");
  return j;
}

/* Stop a fit after its first step: no model, and the status says why. */
static void cancelled_fit(const dataset *d) {
  pthread_t thread;
  job *j = start(d, &thread);
  watch(j, 1);
  pthread_join(thread, NULL);
  printf("status %d: %s\n", (int)j->status, j->message);
  ensure(j->status == FEWLABEL_CANCELLED, "the fit was not cancelled");
  ensure(j->model == 0, "a cancelled fit has given a model");
  free(j);
}

/* Let a fit run to its end. */
static void whole_fit(const dataset *d) {
  int32_t *classes = NEW(int32_t, d->rows.n_rows);
  int64_t i, right = 0;
  pthread_t thread;
  job *j = start(d, &thread);
  watch(j, INT64_MAX);
  pthread_join(thread, NULL);
  ensure(j->status == FEWLABEL_OK, j->message);
  ensure(j->progress.step > 1, "the progress was not told");
  need(fewlabel_predict(j->model, &d->rows, 2, classes, NULL, error, sizeof error), "predicting classes");
  for (i = 0; i < d->rows.n_rows; i++) right += classes[i] == i % N_TOPICS;
  printf("%ld of %ld topics found\n", (long)right, (long)d->rows.n_rows);
  ensure(right >= d->rows.n_rows * 9 / 10, "fewer topics were found than expected");
  need(fewlabel_free(j->model, error, sizeof error), "freeing the model");
  free(classes);
  free(j);
}

int main(void) {
  dataset d;
  make_documents(&d, N_DOCUMENTS, N_TOPICS, 2, N_LABELED);
  cancelled_fit(&d);
  free_dataset(&d);
  make_documents(&d, N_DOCUMENTS / 10, N_TOPICS, 2, N_LABELED);
  whole_fit(&d);
  free_dataset(&d);
  ensure(fewlabel_live_handles() == 0, "a handle was not freed");
  return EXIT_SUCCESS;
}
