/* The public symbols of the library, and the one way from each of them into Go.
 *
 * EXPORT makes a public function of its row in functions.h, so that each of them
 *
 *   refuses to work in a forked child: a child has none of the threads of the Go runtime, so that a call into Go may
 *     wait for ever. A library that is loaded in the child is a copy with a runtime of its own and is not refused;
 *   keeps the host's signals away from Go. Where a handler of the host was installed without SA_ONSTACK it would run on
 *     the stack of a goroutine, which is small, and write over other memory. Go's own threads are built with all
 *     signals blocked (python/signal_masks.py), but for those that are caused by the thread itself.
 *     Here the same is done to the thread that enters Go: the caller's own for a short call; for a long one a thread
 *     of the library, while the caller waits, with the signals it had, on its own stack;
 *   leaves the thread the alternate stack for handlers that it had, or none. Go keeps one of 32 KB on every thread that
 *     has called it, on which the host's handlers with SA_ONSTACK would run from then on;
 *   computes with numbers rounded to nearest, whatever the caller has chosen for its own. */
#include "_cgo_export.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif

static const char *version_text = "";

void shim_keep_version(const char *text) { version_text = text; }

/* ---- Forked children --------------------------------------------------------------------------------------------- */

#ifdef _WIN32
static int in_child(void) { return 0; } /* no fork() there */
#else
static pid_t loaded_by;
static volatile sig_atomic_t forked; /* a child in a new namespace may have the number of its parent */

static void note_fork(void) { forked = 1; }

__attribute__((constructor)) static void remember_process(void) {
  loaded_by = getpid();
  pthread_atfork(NULL, NULL, note_fork);
}

static int in_child(void) { return forked || getpid() != loaded_by; } /* not every fork calls note_fork */
#endif

/* Tells whether the call must be refused, and then why. */
static int refused(char *error, int64_t error_size) {
  static const char reason[] =
      "this process was forked after its parent had loaded fewlabel: "
      "load the library in the child, or start the child with exec.";
  if (!in_child()) return 0;
  if (error != NULL && error_size > 0) snprintf(error, (size_t)error_size, "%s", reason);
  return 1;
}

/* ---- What a thread of the host keeps for itself ------------------------------------------------------------------ */

/* How numbers are rounded, and whether tiny ones become 0. A new thread gets it from the one that makes it. */
#if defined(__x86_64__)
typedef unsigned int rounding;
#define TO_NEAREST 0x1F80
static rounding get_rounding(void) { return __builtin_ia32_stmxcsr(); }
static void set_rounding(rounding r) { __builtin_ia32_ldmxcsr(r); }
#elif defined(__aarch64__)
typedef uint64_t rounding;
#define TO_NEAREST 0
static rounding get_rounding(void) {
  rounding r;
  __asm__ volatile("mrs %0, fpcr" : "=r"(r));
  return r;
}
static void set_rounding(rounding r) { __asm__ volatile("msr fpcr, %0" : : "r"(r)); }
#else
typedef int rounding;
#define TO_NEAREST 0
static rounding get_rounding(void) { return 0; }
static void set_rounding(rounding r) { (void)r; }
#endif

typedef struct {
  rounding rounded;
  int on_its_alternate_stack; /* a handler there makes the call */
#ifndef _WIN32
  stack_t alternate;
  sigset_t signals;
  int cancelled; /* whether pthread_cancel may end the thread */
#endif
} host;

#ifdef _WIN32
static void block_signals(host *h) { (void)h; }
static void let_signals(const host *h) { (void)h; }
static void give_alternate_stack(host *h) { h->on_its_alternate_stack = 0; }
static void put_back_alternate_stack(const host *h) { (void)h; }
#else
static void block_signals(host *h) {
  static const int of_the_thread[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t all;
  size_t k;
  sigfillset(&all);
  for (k = 0; k < sizeof of_the_thread / sizeof *of_the_thread; k++) sigdelset(&all, of_the_thread[k]);
  pthread_sigmask(SIG_SETMASK, &all, &h->signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &h->cancelled);
}

static void let_signals(const host *h) {
  pthread_setcancelstate(h->cancelled, NULL);
  pthread_sigmask(SIG_SETMASK, &h->signals, NULL);
}

/* Go's alternate stack of this thread: Go makes it in the thread's first call, where it finds none, and expects it in
 * the calls that follow. */
static __thread stack_t of_go = {.ss_flags = SS_DISABLE};

static void give_alternate_stack(host *h) { h->on_its_alternate_stack = sigaltstack(&of_go, &h->alternate) != 0; }

static void put_back_alternate_stack(const host *h) {
  if (!h->on_its_alternate_stack) sigaltstack(&h->alternate, &of_go);
}
#endif

static void leave_host(host *h) {
  block_signals(h);
  give_alternate_stack(h);
  h->rounded = get_rounding();
  set_rounding(TO_NEAREST);
}

static void return_to_host(const host *h) {
  set_rounding(h->rounded);
  put_back_alternate_stack(h);
  let_signals(h);
}

/* ---- Threads for long calls -------------------------------------------------------------------------------------- */

typedef void *(*routine)(void *);

/* Numbers that a call wants to have added, by the thread that made it. */
typedef struct {
  const fewlabel_group *group;
  double *values;
  int64_t n;
  int32_t status;
} sum_request;

static void add_up(sum_request *r) { r->status = r->group->allreduce(r->group->context, r->values, r->n); }

#ifdef _WIN32
int32_t shim_allreduce(const fewlabel_group *group, double *values, int64_t n) {
  sum_request r = {group, values, n, 0};
  add_up(&r);
  return r.status;
}

static int on_own_thread(routine run, void *call, host *h) {
  (void)run, (void)call, (void)h;
  return 0;
}
#else
/* A thread of the library, which has all signals blocked and makes one call after another. It is kept when it has none:
 * to make one takes 0.1 to 0.3 ms. */
typedef struct worker {
  routine run; /* NULL: nothing to do */
  void *call;
  sum_request *asked;    /* of the thread that waits for the call; NULL: nothing */
  pthread_mutex_t mutex; /* of run, call and asked */
  pthread_cond_t wake, ended;
  struct worker *next;
} worker;

static worker *idle;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER; /* of idle; signals are blocked where it is held */

static __thread worker *self; /* NULL on threads of the host */

static void *serve(void *argument) {
  worker *w = self = (worker *)argument;
  for (;;) {
    pthread_mutex_lock(&w->mutex);
    while (w->run == NULL) pthread_cond_wait(&w->wake, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    w->run(w->call);
    pthread_mutex_lock(&w->mutex);
    w->run = NULL;
    pthread_mutex_unlock(&w->mutex);
    pthread_cond_signal(&w->ended);
  }
  return NULL;
}

/* The worker of a call asks the caller, which waits for its end, to add numbers up; a call that has no worker does. */
int32_t shim_allreduce(const fewlabel_group *group, double *values, int64_t n) {
  sum_request r = {group, values, n, 0};
  worker *w = self;
  if (w == NULL) {
    add_up(&r);
    return r.status;
  }
  pthread_mutex_lock(&w->mutex);
  w->asked = &r;
  pthread_cond_signal(&w->ended);
  while (w->asked != NULL) pthread_cond_wait(&w->wake, &w->mutex);
  pthread_mutex_unlock(&w->mutex);
  return r.status;
}

/* Waits for the end of a worker's call and adds numbers up for it, in the host's rounding; its mutex is held. */
static void attend(worker *w, const host *h) {
  while (w->run != NULL) {
    sum_request *r = w->asked;
    if (r == NULL) {
      pthread_cond_wait(&w->ended, &w->mutex);
      continue;
    }
    pthread_mutex_unlock(&w->mutex);
    set_rounding(h->rounded);
    add_up(r);
    set_rounding(TO_NEAREST);
    pthread_mutex_lock(&w->mutex);
    w->asked = NULL;
    pthread_cond_signal(&w->wake);
  }
}

static worker *new_worker(void) {
  static const worker fresh = {NULL, NULL, NULL, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                               PTHREAD_COND_INITIALIZER, NULL};
  worker *w = (worker *)malloc(sizeof *w);
  pthread_t thread;
  if (w == NULL) return NULL;
  *w = fresh;
  if (pthread_create(&thread, NULL, serve, w) != 0) {
    free(w);
    return NULL;
  }
  pthread_detach(thread);
  return w;
}

/* A worker without work; NULL if there can be none. */
static worker *hire(void) {
  worker *w;
  pthread_mutex_lock(&door);
  w = idle;
  if (w != NULL) idle = w->next;
  pthread_mutex_unlock(&door);
  return w != NULL ? w : new_worker();
}

static void release(worker *w) {
  pthread_mutex_lock(&door);
  w->next = idle;
  idle = w;
  pthread_mutex_unlock(&door);
}

/* Has a worker make a call and waits, with the signals of the host, for its end; 0 if there is no worker. A handler
 * that runs meanwhile may make a call: it gets another worker. */
static int on_own_thread(routine run, void *call, host *h) {
  worker *w = hire();
  host here;
  if (w == NULL) return 0;
  pthread_mutex_lock(&w->mutex);
  w->run = run;
  w->call = call;
  pthread_mutex_unlock(&w->mutex);
  pthread_cond_signal(&w->wake);
  put_back_alternate_stack(h);
  pthread_sigmask(SIG_SETMASK, &h->signals, NULL);
  pthread_mutex_lock(&w->mutex);
  attend(w, h);
  pthread_mutex_unlock(&w->mutex);
  block_signals(&here);
  give_alternate_stack(h);
  release(w);
  return 1;
}
#endif

/* ---- The functions ----------------------------------------------------------------------------------------------- */

#define PARAMETER(type, name) type name,
#define NAME(type, name) name,

/* fewlabel_NAME, for a row of functions.h. */
#define EXPORT(function, is_long)                                                                \
  static void *run_##function(void *call) {                                                      \
    function##_call *c = (function##_call *)call;                                                \
    c->status = go_call(CALL_##function, c, c->error, c->error_size);                            \
    return NULL;                                                                                 \
  }                                                                                              \
  int32_t fewlabel_##function(function##_ARGUMENTS(PARAMETER) char *error, int64_t error_size) { \
    function##_call call = {function##_ARGUMENTS(NAME) error, error_size, FEWLABEL_FORKED};      \
    host h;                                                                                      \
    if (refused(error, error_size)) return FEWLABEL_FORKED;                                      \
    leave_host(&h);                                                                              \
    if (!(h.on_its_alternate_stack || (is_long)) || !on_own_thread(run_##function, &call, &h))   \
      run_##function(&call);                                                                     \
    return_to_host(&h);                                                                          \
    return call.status;                                                                          \
  }

#define LONG 1 /* what may take longer than a millisecond */
#define BRIEF 0
#define LONG_ARRAY (1 << 20) /* values copied in a millisecond */

ALL_FUNCTIONS(EXPORT)

/* Those without a status. */

int32_t fewlabel_abi_version(void) { return FEWLABEL_ABI_VERSION; }

/* A child has no handles: those of its parent are out of its reach. */
int64_t fewlabel_live_handles(void) {
  int64_t count;
  host h;
  if (in_child()) return 0;
  leave_host(&h);
  count = go_fewlabel_live_handles();
  return_to_host(&h);
  return count;
}

const char *fewlabel_version(void) {
  fewlabel_live_handles(); /* Go answers when it is ready: then it has set the text */
  return version_text;
}
