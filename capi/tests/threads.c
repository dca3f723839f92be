/* Threads and processes: fits at the same time, a fit stopped from another thread, a forked child that is refused at
 * once, and (in a library built with -tags provoke) panics. */
#define _GNU_SOURCE /* RTLD_DEFAULT, unshare */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "long.h"

enum { N_THREADS = 8 };

/* ---- Cancel ------------------------------------------------------------------------------------------------------ */

typedef struct {
  fewlabel_progress progress;
  long delay; /* milliseconds, or -1: until the second step */
  double cancelled_at;
} stop_button;

static void *press(void *argument) {
  stop_button *button = argument;
  if (button->delay >= 0) {
    pause_ms(button->delay);
  } else {
    while (__atomic_load_n(&button->progress.step, __ATOMIC_SEQ_CST) < 2) pause_ms(1);
  }
  button->cancelled_at = now();
  __atomic_store_n(&button->progress.cancel, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void cancel_from_another_thread(const long_problem *p, const char *options, long delay) {
  stop_button button;
  pthread_t thread;
  int64_t model = -7;
  int32_t status;
  double waited;
  memset(&button, 0, sizeof button);
  button.delay = delay;
  HOLDS(pthread_create(&thread, NULL, press, &button) == 0);
  status = fewlabel_fit(&p->rows, LABELS(p->labels), NULL, 0, options, &button.progress, NULL, &model, ERROR);
  waited = now();
  pthread_join(thread, NULL);
  waited -= button.cancelled_at;
  HOLDS(status == FEWLABEL_CANCELLED && strcmp(error, "cancelled by the caller") == 0);
  HOLDS(model == -7);
  printf("cancelled at step %ld of %s: back within %.0f ms\n", (long)button.progress.step, options, 1e3 * waited);
  library_is_usable();
}

static void cancel_fits(void) {
  long_problem p;
  make_long_problem(&p);
  cancel_from_another_thread(&p, "{\"method\": \"annealing\"}", 0);
  cancel_from_another_thread(&p, "{\"method\": \"annealing\", \"threads\": 2}", -1);
  cancel_from_another_thread(&p, "{\"method\": \"switching\"}", 200);
  cancel_from_another_thread(&p, "{\"method\": \"switching\", \"threads\": 2}", -1);
  cancel_from_another_thread(&p, "{\"method\": \"pair_switching\", \"loss\": \"hinge\"}", 200);
  free_long_problem(&p);
}

/* FEWLABEL_STOP gives the model of the steps so far. */
static void stop_a_fit(void) {
  problem p;
  fewlabel_progress progress;
  int64_t model = 0, needed;
  char report[4096];
  good_problem(&p);
  memset(&progress, 0, sizeof progress);
  progress.cancel = FEWLABEL_STOP;
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, &progress, NULL, &model, ERROR));
  WORKS(fewlabel_report(model, report, sizeof report, &needed, ERROR));
  HOLDS(strstr(report, "\"termination_condition\":\"stopped\"") != NULL);
  HOLDS(progress.step == 1);
  WORKS(fewlabel_free(model, ERROR));
}

/* ---- At the same time -------------------------------------------------------------------------------------------- */

typedef struct {
  int64_t shared_model;
  const double *expected; /* [N_FEATURES] */
  int wrong;
} worker;

/* Fit, read, predict with an own and with a shared model, make mistakes, free; all with an own error buffer. */
static void *work(void *argument) {
  worker *w = argument;
  char message[200];
  int round, i;
  for (round = 0; round < 20; round++) {
    problem p;
    int64_t model = 0;
    int32_t classes[N_ROWS];
    double coef[N_FEATURES];
    good_problem(&p);
    w->wrong += fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, "{\"threads\": 3}", NULL, NULL, &model, message,
                             200) !=
                FEWLABEL_OK;
    w->wrong += fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, N_FEATURES, message, 200) != FEWLABEL_OK;
    w->wrong += memcmp(coef, w->expected, sizeof coef) != 0;
    w->wrong += fewlabel_predict(w->shared_model, &p.rows, 2, classes, NULL, message, 200) != FEWLABEL_OK;
    for (i = 0; i < N_ROWS; i++) w->wrong += classes[i] != (i >= N_ROWS / 2);
    w->wrong += fewlabel_array(model, "nothing", FEWLABEL_FLOAT64, coef, 1, message, 200) != FEWLABEL_BAD_ARGUMENT;
    w->wrong += strstr(message, "nothing") == NULL;
    w->wrong += fewlabel_free(model, message, 200) != FEWLABEL_OK;
    w->wrong += fewlabel_free(model, message, 200) != FEWLABEL_BAD_HANDLE;
  }
  return NULL;
}

static void fits_at_the_same_time(void) {
  pthread_t threads[N_THREADS];
  worker workers[N_THREADS];
  double coef[N_FEATURES];
  int64_t model = 0;
  problem p;
  int k;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  WORKS(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, coef, N_FEATURES, ERROR));
  for (k = 0; k < N_THREADS; k++) {
    workers[k].shared_model = model;
    workers[k].expected = coef;
    workers[k].wrong = 0;
    HOLDS(pthread_create(&threads[k], NULL, work, &workers[k]) == 0);
  }
  for (k = 0; k < N_THREADS; k++) {
    pthread_join(threads[k], NULL);
    HOLDS(workers[k].wrong == 0);
  }
  WORKS(fewlabel_free(model, ERROR));
  library_is_usable();
}

/* ---- Forked children --------------------------------------------------------------------------------------------- */

#define REFUSED(call) (memset(error, 'x', sizeof error), (call) == FEWLABEL_FORKED && strstr(error, "forked") != NULL)

/* What a child sees; the number of the first thing that is wrong, 0 if all is right. */
static int child(int64_t model, const char *version) {
  problem p;
  int64_t a, sizes[4];
  int32_t classes[N_ROWS];
  double numbers[N_ROWS];
  char tiny[] = "xxxx";
  good_problem(&p);
  if (!REFUSED(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &a, ERROR))) return 1;
  if (!REFUSED(fewlabel_predict(model, &p.rows, 1, classes, NULL, ERROR))) return 2;
  if (!REFUSED(fewlabel_predict(model, &p.rows, 1, NULL, numbers, ERROR))) return 3;
  if (!REFUSED(fewlabel_report(model, NULL, 0, &a, ERROR))) return 4;
  if (!REFUSED(fewlabel_array(model, "coef", FEWLABEL_FLOAT64, numbers, N_FEATURES, ERROR))) return 5;
  if (!REFUSED(fewlabel_save(model, "never-written", NULL, ERROR))) return 6;
  if (!REFUSED(fewlabel_load("never-read", &a, ERROR))) return 7;
  if (!REFUSED(fewlabel_svmlight_read("never-read", NULL, 0, 0, 0, NULL, &a, sizes, ERROR))) return 8;
  if (!REFUSED(fewlabel_svmlight_write("never-written", &p.rows, numbers, 0, ERROR))) return 11;
  if (!REFUSED(fewlabel_options(FEWLABEL_LINEAR, NULL, 0, &a, ERROR))) return 12;
  if (!REFUSED(fewlabel_free(model, ERROR))) return 13;
  if (!REFUSED(fewlabel_assemble(FEWLABEL_LINEAR, "{}", NULL, 0, &a, ERROR))) return 20;
  if (!REFUSED(fewlabel_class_prior(&p.rows, LABELS(p.labels), NULL, NULL, numbers, NULL, NULL, NULL, 0, ERROR))) {
    return 21;
  }
  if (!REFUSED(fewlabel_structure_fit(&p.rows, &p.rows, NULL, NULL, NULL, 1, NULL, NULL, &a, ERROR))) return 22;
  if (fewlabel_abi_version() != FEWLABEL_ABI_VERSION) return 14;
  if (version != NULL && strcmp(fewlabel_version(), version) != 0) return 15;
  if (fewlabel_version() == NULL || fewlabel_live_handles() != 0) return 16;
  if (fewlabel_free(model, tiny, 3) != FEWLABEL_FORKED || strcmp(tiny, "th") != 0 || tiny[3] != 'x') return 17;
  if (fewlabel_free(model, NULL, 0) != FEWLABEL_FORKED) return 18;
  return 0;
}

/* Whether a child ends, in time and with status 0. */
static int ended_well(pid_t pid) {
  const double start = now();
  int status = -1;
  pid_t ended = 0;
  while (ended == 0 && now() - start < 60) {
    pause_ms(1);
    ended = waitpid(pid, &status, WNOHANG);
  }
  if (ended == 0) kill(pid, SIGKILL);
  if (ended != pid || status != 0) fprintf(stderr, "child hung or ended with wait status %#x\n", status);
  return ended == pid && status == 0;
}

static void forked_child(int64_t model, const char *version) {
  pid_t pid = fork();
  if (pid == 0) _exit(child(model, version));
  HOLDS(ended_well(pid));
}

static void children(void) {
  problem p;
  int64_t model = 0;
  good_problem(&p);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  forked_child(model, fewlabel_version());
  WORKS(fewlabel_free(model, ERROR));
  library_is_usable();
}

/* The first process of a namespace of processes has the number 1. So has its child in another. */
static void first_process(void) {
  int64_t model = 0;
  problem p;
  good_problem(&p);
  HOLDS(getpid() == 1);
  WORKS(fewlabel_fit(&p.rows, LABELS(p.labels), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  HOLDS(unshare(CLONE_NEWPID) == 0);
  forked_child(model, fewlabel_version());
  WORKS(fewlabel_free(model, ERROR));
  failures = conclude("threads, first process");
  fflush(NULL);
  _exit(failures); /* this process can have no more threads, which a sanitizer wants at the end */
}

static void child_with_the_number_of_its_parent(char *program) {
  pid_t pid = fork();
  if (pid == 0) {
    if (unshare(CLONE_NEWPID) != 0) {
      printf("children with the number of their parent not tested: no namespaces of processes here\n");
      exit(0);
    }
    pid = fork();
    if (pid == 0) execl(program, program, "first process", (char *)NULL);
    _exit(ended_well(pid) ? 0 : 1);
  }
  HOLDS(ended_well(pid));
}

/* ---- Panics ------------------------------------------------------------------------------------------------------ */

typedef int32_t (*provoke_function)(int32_t where, char *message, int64_t size);

static void panics(void) {
  provoke_function provoke;
  void *symbol = dlsym(RTLD_DEFAULT, "fewlabel_provoke");
  if (symbol == NULL) {
    printf("panics not tested: the library was built without -tags provoke\n");
    return;
  }
  memcpy(&provoke, &symbol, sizeof provoke); /* C has no cast from object to function */
  FAILS(FEWLABEL_INTERNAL, "internal error of fewlabel", provoke(0, ERROR));
  FAILS(FEWLABEL_INTERNAL, "provoked", provoke(1, ERROR));
  FAILS(FEWLABEL_INTERNAL, "nil pointer", provoke(2, ERROR));
}

int main(int argc, char **argv) {
  if (argc > 1) first_process();
  child_with_the_number_of_its_parent(argv[0]);
  forked_child(1, NULL); /* before the first call */
  library_is_usable();
  fits_at_the_same_time();
  children();
  cancel_fits();
  stop_a_fit();
  panics();
  return conclude("threads");
}
