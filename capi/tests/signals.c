/* A host with handlers of signals: they run on the host's own stacks and threads, never on Go's, and soon; nothing of
 * the host's threads is changed by a call; callers with unusual stacks.
 *
 *   signals [FITS]     that many fits for each signal, handler and kind of stack (5) */
#define _GNU_SOURCE /* pthread_getattr_np */
#include <fenv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "host.h"
#include "long.h"
#include "network.h"

enum { ROWS = 2000, FEATURES = 1000, EACH = 30 };

/* ---- A problem that takes some milliseconds, and all kinds of calls ---------------------------------------------- */

typedef struct {
  int32_t indptr[ROWS + 1], indices[ROWS * EACH], labels[ROWS];
  double values[ROWS * EACH];
  fewlabel_rows rows;
} text;

static text small;

static void make_small(void) {
  const fewlabel_rows rows =
      FEWLABEL_SPARSE_ROWS(ROWS, FEATURES, ROWS * EACH, small.indptr, small.indices, small.values);
  int i, group;
  for (i = 0; i <= ROWS; i++) small.indptr[i] = EACH * i;
  for (i = 0; i < ROWS * EACH; i++) {
    group = i / EACH % 2;
    small.indices[i] = (int32_t)dice(FEATURES / 2) + (dice(3) ? group * FEATURES / 2 : 0);
    small.values[i] = 0.3;
  }
  for (i = 0; i < ROWS; i++) small.labels[i] = i < 10 ? i % 2 : -1;
  small.rows = rows;
}

/* What a fit, a prediction and a file give: bytes that must be the same every time. */
typedef struct {
  double coef[FEATURES];
  int32_t classes[ROWS];
  double loaded[1];
} result;

static result of_small_stack; /* and by threads that have called in a handler */

static void all_kinds_of_calls(result *r, const char *options) {
  static int number;
  char message[200], path[40];
  int64_t model = 0, again = 0, needed = 0;
  int failed = 0;
  sprintf(path, "signals-%d.safetensors", __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST));
  memset(r, 0, sizeof *r);
  failed += fewlabel_version() == NULL || fewlabel_abi_version() != FEWLABEL_ABI_VERSION;
  failed += fewlabel_options(FEWLABEL_LINEAR, NULL, 0, &needed, message, 200);
  failed += fewlabel_fit(&small.rows, LABELS(small.labels), NULL, 0, options, NULL, NULL, &model, message, 200);
  failed += fewlabel_live_handles() < 1;
  failed += fewlabel_array(model, "coef", FEWLABEL_FLOAT64, r->coef, FEATURES, message, 200);
  failed += fewlabel_predict(model, &small.rows, 2, r->classes, NULL, message, 200);
  failed += fewlabel_report(model, NULL, 0, &needed, message, 200);
  failed += fewlabel_save(model, path, NULL, message, 200);
  failed += fewlabel_load(path, &again, message, 200);
  failed += fewlabel_array(again, "intercept", FEWLABEL_FLOAT64, r->loaded, 1, message, 200);
  failed += fewlabel_free(again, message, 200);
  failed += fewlabel_free(model, message, 200);
  remove(path);
  HOLDS(failed == 0);
}

/* ---- Handlers that need much stack ------------------------------------------------------------------------------- */

enum { ALTERNATE = 1 << 19 }; /* bytes of the host's alternate stack */

/* A handler that writes over so many kilobytes of its stack. */
#define WITH_A_FRAME_OF(kilobytes)                         \
  static void handler_##kilobytes(int signal) {            \
    volatile char frame[1024 * kilobytes];                 \
    size_t k;                                              \
    for (k = 0; k < sizeof frame; k += 64) frame[k] = 'f'; \
    handler(signal);                                       \
  }
WITH_A_FRAME_OF(8)
WITH_A_FRAME_OF(48)
WITH_A_FRAME_OF(200)

/* The alternate stack of this thread: one that the host has made, or none. */
static void have_alternate_stack(void *memory) {
  stack_t own;
  memset(&own, 0, sizeof own);
  own.ss_sp = memory;
  own.ss_size = ALTERNATE;
  own.ss_flags = memory == NULL ? SS_DISABLE : 0;
  HOLDS(sigaltstack(&own, NULL) == 0);
}

static int has_alternate_stack(const void *memory) {
  stack_t found;
  HOLDS(sigaltstack(NULL, &found) == 0);
  return memory == NULL ? found.ss_flags == SS_DISABLE : found.ss_sp == memory && found.ss_size == ALTERNATE;
}

/* ---- Signals all the time ---------------------------------------------------------------------------------------- */

static volatile sig_atomic_t sent;
static int ticking, signal_sent;

/* Sends the process a signal every 0.3 ms. */
static void *tick(void *unused) {
  const struct timespec pause = {0, 300000};
  while (__atomic_load_n(&ticking, __ATOMIC_SEQ_CST)) {
    kill(getpid(), signal_sent);
    sent++;
    nanosleep(&pause, NULL);
  }
  return unused;
}

static void under_signals(int signal, void (*with)(int), int flags, void *alternate, int n_fits,
                          const result *expected) {
  static result found;
  pthread_t ticker;
  int k, equal = 0, kept = 0;
  have_alternate_stack(alternate);
  on_the_host = elsewhere = on_another_stack = sent = 0;
  signal_sent = signal;
  ticking = 1;
  install(signal, with, flags);
  start_thread(&ticker, tick, NULL);
  set_timer(signal, 1);
  for (k = 0; k < n_fits; k++) {
    all_kinds_of_calls(&found, "{\"threads\": 2}");
    equal += memcmp(&found, expected, sizeof found) == 0;
    kept += has_alternate_stack(alternate);
  }
  set_timer(signal, 0);
  __atomic_store_n(&ticking, 0, __ATOMIC_SEQ_CST);
  pthread_join(ticker, NULL);
  install(signal, SIG_IGN, 0);
  have_alternate_stack(NULL);
  printf("signal %2d %s SA_ONSTACK, %s alternate stack: %d fits, %ld handled\n", signal,
         flags & SA_ONSTACK ? "with   " : "without", alternate == NULL ? "no" : "an", n_fits,
         (long)(on_the_host + on_another_stack + elsewhere));
  HOLDS(equal == n_fits && kept == n_fits);
  HOLDS(elsewhere == 0);
  if (flags & SA_ONSTACK && alternate != NULL) {
    HOLDS(on_the_host == 0 && on_another_stack > n_fits);
  } else {
    HOLDS(on_the_host > n_fits && on_another_stack == 0);
  }
}

static void handlers_stay_with_the_host(int n_fits) {
  const int signals[] = {SIGPROF, SIGALRM, SIGINT, SIGCHLD, SIGUSR1, SIGRTMIN};
  void (*const handlers[])(int) = {handler_8, handler_48, handler_200};
  static result expected;
  char *alternate = malloc(ALTERNATE);
  size_t k, h;
  all_kinds_of_calls(&expected, "{\"threads\": 2}");
  for (k = 0; k < sizeof signals / sizeof *signals; k++) {
    for (h = 0; h < sizeof handlers / sizeof *handlers; h++) {
      under_signals(signals[k], handlers[h], SA_RESTART, NULL, n_fits, &expected);
      under_signals(signals[k], handlers[h], SA_RESTART | SA_ONSTACK, NULL, n_fits, &expected);
      under_signals(signals[k], handlers[h], SA_RESTART | SA_ONSTACK, alternate, n_fits, &expected);
    }
  }
  free(alternate);
}

/* A handler on the host's alternate stack may call the library, in a thread's first call as well. */
static result of_handler;

static void call_in_handler(int signal) {
  (void)signal;
  all_kinds_of_calls(&of_handler, NULL);
}

static void *raise_first(void *alternate) {
  have_alternate_stack(alternate);
  pthread_kill(pthread_self(), SIGUSR2);
  HOLDS(has_alternate_stack(alternate));
  have_alternate_stack(NULL);
  all_kinds_of_calls(&of_small_stack, NULL);
  HOLDS(has_alternate_stack(NULL));
  return NULL;
}

static void handlers_may_call(void) {
  char *alternate = malloc(ALTERNATE);
  static result expected;
  pthread_t thread;
  int64_t needed;
  all_kinds_of_calls(&expected, NULL);
  install(SIGUSR2, call_in_handler, SA_ONSTACK);
  HOLDS(pthread_create(&thread, NULL, raise_first, alternate) == 0);
  pthread_join(thread, NULL);
  raise_first(alternate);
  install(SIGUSR2, SIG_IGN, 0);
  HOLDS(memcmp(&of_handler, &expected, sizeof expected) == 0);
  HOLDS(memcmp(&of_small_stack, &expected, sizeof expected) == 0);
  FAILS(FEWLABEL_BAD_ARGUMENT, "text: the memory of element",
        fewlabel_options(FEWLABEL_LINEAR, (char *)4096, 100000, &needed, ERROR));
  free(alternate);
}

/* Handlers run during long decisions, not after them. */
static void long_decisions_let_signals_in(const long_problem *p) {
  double *coef = calloc(LONG_FEATURES, sizeof *coef), *decisions = malloc(LONG_ROWS * sizeof *decisions), zero = 0;
  int before;
  install(SIGALRM, handler, 0);
  set_timer(SIGALRM, 1);
  before = on_the_host;
  WORKS(fewlabel_decision_with(&p->rows, coef, &zero, 1, 0, 1, decisions, ERROR));
  HOLDS(on_the_host > before + 3);
  set_timer(SIGALRM, 0);
  install(SIGALRM, SIG_IGN, 0);
  free(coef);
  free(decisions);
}

/* The guard takes SIGSEGV and SIGBUS on the threads of the library as on those of the caller. */
static void faults_are_named(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *nothing = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int64_t model = 0, needed;
  double number = 0;
  HOLDS(nothing != MAP_FAILED);
  install(SIGALRM, handler, 0);
  set_timer(SIGALRM, 1);
  FAILS(FEWLABEL_BAD_ARGUMENT, "labels.codes: the memory of element 0",
        fewlabel_fit(&small.rows, LABELS((int32_t *)nothing), NULL, 0, NULL, NULL, NULL, &model, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "text: the memory of element",
        fewlabel_options(FEWLABEL_LINEAR, nothing, 100000, &needed, ERROR));
  FAILS(FEWLABEL_BAD_ARGUMENT, "rows: the memory of element 0",
        fewlabel_decision_with((fewlabel_rows *)nothing, &number, &number, 1, 0, 1, &number, ERROR));
  set_timer(SIGALRM, 0);
  install(SIGALRM, SIG_IGN, 0);
  munmap(nothing, page);
}

/* ---- Ctrl-C ------------------------------------------------------------------------------------------------------ */

static fewlabel_progress progress;
static volatile double pressed, answered;
static int64_t wish;

static void stop(int signal) {
  (void)signal;
  answered = now();
  __atomic_store_n(&progress.cancel, wish, __ATOMIC_SEQ_CST);
}

static void *press_ctrl_c(void *unused) {
  pause_ms(300);
  pressed = now();
  kill(getpid(), SIGINT);
  return unused;
}

/* A program of one thread, whose handler sets `cancel`. */
static void ctrl_c(const long_problem *p, const char *options, int64_t cancel, int32_t expected) {
  pthread_t thread;
  int64_t model = 0;
  int32_t status;
  double ended;
  memset(&progress, 0, sizeof progress);
  wish = cancel;
  install(SIGINT, stop, 0);
  start_thread(&thread, press_ctrl_c, NULL);
  status = fewlabel_fit(&p->rows, LABELS(p->labels), NULL, 0, options, &progress, NULL, &model, ERROR);
  ended = now();
  pthread_join(thread, NULL);
  install(SIGINT, SIG_IGN, 0);
  printf("Ctrl-C, cancel = %d: handled after %.1f ms, the fit ended after %.0f ms\n", (int)cancel,
         1e3 * (answered - pressed), 1e3 * (ended - pressed));
  HOLDS(status == expected);
  HOLDS(pressed < answered && answered < ended); /* during the call, not after it */
  if (status == FEWLABEL_OK) WORKS(fewlabel_free(model, ERROR));
}

static void long_calls_in_a_program_of_one_thread(void) {
  long_problem p;
  make_long_problem(&p);
  ctrl_c(&p, "{\"alpha\": 1e-7, \"tol\": 1e-12}", 1, FEWLABEL_CANCELLED);
  ctrl_c(&p, "{\"tol\": 0.1}", FEWLABEL_STOP, FEWLABEL_OK);
  long_decisions_let_signals_in(&p);
  free_long_problem(&p);
}

/* ---- What a thread keeps ----------------------------------------------------------------------------------------- */

/* Signals that a thread has blocked, to take them with sigwait for instance, stay so, in a new thread as well. */
static void *keeps_its_signals(void *unused) {
  static result found;
  sigset_t own, before, after, pending;
  struct timespec no_time = {0, 0};
  int signal, changed = 0;
  sigemptyset(&own);
  sigaddset(&own, SIGCHLD);
  sigaddset(&own, SIGPROF);
  sigaddset(&own, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &own, &before);
  pthread_kill(pthread_self(), SIGCHLD);
  pthread_kill(pthread_self(), SIGPROF);
  all_kinds_of_calls(&found, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (signal = 1; signal <= SIGRTMAX; signal++) changed += sigismember(&own, signal) != sigismember(&after, signal);
  HOLDS(changed == 0);
  sigpending(&pending);
  HOLDS(sigismember(&pending, SIGCHLD) == 1 && sigismember(&pending, SIGPROF) == 1);
  while (sigtimedwait(&own, NULL, &no_time) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return unused;
}

static void threads_keep_their_signals(void) {
  pthread_t thread;
  install(SIGCHLD, handler, 0);
  install(SIGPROF, handler, 0);
  HOLDS(pthread_create(&thread, NULL, keeps_its_signals, NULL) == 0);
  pthread_join(thread, NULL);
  keeps_its_signals(NULL);
  install(SIGCHLD, SIG_DFL, 0);
  install(SIGPROF, SIG_IGN, 0);
}

/* What fegetround tells is not how doubles are rounded, on x86-64. */
static int rounds_up(void) {
  const volatile double tiny = 1e-30;
  return 1 + tiny > 1;
}

/* A caller that rounds otherwise gets the same numbers, and rounds so afterwards. */
static void rounding_stays_with_the_host(void) {
  const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  static result expected, found;
  size_t k;
  all_kinds_of_calls(&expected, NULL);
  for (k = 0; k < sizeof modes / sizeof *modes; k++) {
    HOLDS(fesetround(modes[k]) == 0);
    all_kinds_of_calls(&found, k % 2 ? NULL : "{\"threads\": 2}");
    HOLDS(fegetround() == modes[k] && rounds_up() == (modes[k] == FE_UPWARD));
    HOLDS(memcmp(&found, &expected, sizeof found) == 0);
  }
}

/* pthread_cancel waits for the end of a call. */
static int64_t cancelled_thread_model;

static void *fit_until_cancelled(void *problem) {
  const long_problem *p = problem;
  char message[100];
  fewlabel_fit(&p->rows, LABELS(p->labels), NULL, 0, NULL, &progress, NULL, &cancelled_thread_model, message, 100);
  pthread_testcancel();
  return NULL;
}

static void cancelled_threads_end_their_call(void) {
  long_problem p;
  pthread_t thread;
  void *result = NULL;
  make_long_problem(&p);
  memset(&progress, 0, sizeof progress);
  HOLDS(pthread_create(&thread, NULL, fit_until_cancelled, &p) == 0);
  pause_ms(50);
  HOLDS(pthread_cancel(thread) == 0);
  pause_ms(50);
  __atomic_store_n(&progress.cancel, FEWLABEL_STOP, __ATOMIC_SEQ_CST);
  pthread_join(thread, &result);
  HOLDS(result == PTHREAD_CANCELED);
  WORKS(fewlabel_free(cancelled_thread_model, ERROR));
  free_long_problem(&p);
}

/* allreduce is called on the thread that called the fit, as the host has left it: its signals and its rounding. It may
 * call the library, and pthread_cancel waits for the end of the fit there, too. */
static struct {
  pthread_t thread;
  int n_calls, wrong;
  result found; /* by calls of the library */
} sums;

static int32_t look_around(void *context, double *values, int64_t n) {
  sigset_t blocked;
  (void)context;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  sums.wrong += !pthread_equal(sums.thread, pthread_self()) || !rounds_up();
  sums.wrong += sigismember(&blocked, SIGUSR1) != 1 || sigismember(&blocked, SIGUSR2) != 0;
  if (++sums.n_calls == 3) {
    all_kinds_of_calls(&sums.found, NULL);
    pthread_cancel(sums.thread);
  }
  pthread_testcancel();
  return add_over_network(values, n, 0);
}

static const char group_options[] = "{\"class_prior\": \"labels\", \"threads\": 2}";

static void *fit_in_a_group(void *model) {
  const fewlabel_group group = {0, 2, look_around, NULL};
  sigset_t blocked;
  char message[100];
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
  fesetround(FE_UPWARD);
  sums.thread = pthread_self();
  fewlabel_fit(&small.rows, LABELS(small.labels), NULL, 0, group_options, NULL, &group, model, message, 100);
  pthread_testcancel();
  return NULL;
}

static int32_t add(void *context, double *values, int64_t n) {
  (void)context;
  return add_over_network(values, n, 0);
}

/* The other machine of the group: it has no rows. */
static void *fit_without_rows(void *model) {
  const fewlabel_group group = {1, 2, add, NULL};
  static const int32_t indptr[] = {0};
  fewlabel_rows rows = small.rows;
  char message[100];
  rows.n_rows = rows.n_values = 0;
  rows.indptr = indptr;
  fewlabel_fit(&rows, LABELS(small.labels), NULL, 0, group_options, NULL, &group, model, message, 100);
  return NULL;
}

static void sums_are_made_on_the_host(void) {
  static result expected;
  int64_t model = 0, other = 0;
  pthread_t thread, without_rows;
  void *end = NULL;
  all_kinds_of_calls(&expected, NULL);
  connect_machines(2);
  HOLDS(pthread_create(&thread, NULL, fit_in_a_group, &model) == 0);
  HOLDS(pthread_create(&without_rows, NULL, fit_without_rows, &other) == 0);
  pthread_join(thread, &end);
  pthread_join(without_rows, NULL);
  HOLDS(end == PTHREAD_CANCELED);
  HOLDS(sums.n_calls > 10 && sums.wrong == 0);
  HOLDS(memcmp(&sums.found, &expected, sizeof expected) == 0);
  WORKS(fewlabel_free(model, ERROR));
  WORKS(fewlabel_free(other, ERROR));
}

/* ---- Unusual stacks ---------------------------------------------------------------------------------------------- */

static void *call_from_here(void *unused) {
  all_kinds_of_calls(&of_small_stack, NULL);
  return unused;
}

static void small_stacks(void) {
  const long sizes[] = {PTHREAD_STACK_MIN + 8192, 32768, 65536};
  static result expected;
  size_t k;
  all_kinds_of_calls(&expected, NULL);
  for (k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    HOLDS(pthread_attr_setstacksize(&attributes, (size_t)sizes[k]) == 0);
    HOLDS(pthread_create(&thread, &attributes, call_from_here, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    HOLDS(memcmp(&of_small_stack, &expected, sizeof expected) == 0);
  }
}

static ucontext_t outside, coroutine;

static void in_coroutine(void) {
  int k;
  for (k = 0; k < 20; k++) {
    all_kinds_of_calls(&of_small_stack, NULL);
    swapcontext(&coroutine, &outside);
  }
}

/* Calls by turns from a coroutine and from outside. */
static void coroutines(void) {
  enum { SIZE = 65536 };
  static result expected, found;
  char *stack = malloc(SIZE);
  int k;
  all_kinds_of_calls(&expected, NULL);
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = SIZE;
  coroutine.uc_link = &outside;
  makecontext(&coroutine, in_coroutine, 0);
  for (k = 0; k < 20; k++) {
    swapcontext(&outside, &coroutine);
    HOLDS(memcmp(&of_small_stack, &expected, sizeof expected) == 0);
    all_kinds_of_calls(&found, NULL);
    HOLDS(memcmp(&found, &expected, sizeof expected) == 0);
  }
  free(stack);
}

int main(int argc, char **argv) {
  join_host();
  make_small();
  threads_keep_their_signals(); /* first: what Go does to a thread it does in the thread's first call */
  handlers_stay_with_the_host(argc > 1 ? atoi(argv[1]) : 5);
  handlers_may_call();
  faults_are_named();
  long_calls_in_a_program_of_one_thread();
  rounding_stays_with_the_host();
  cancelled_threads_end_their_call();
  sums_are_made_on_the_host();
  small_stacks();
  coroutines();
  return conclude("signals");
}
