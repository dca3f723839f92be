/* A host's handler of signals that notes where it runs: it must be on a thread of the host, on that thread's own stack.
 * Needs _GNU_SOURCE. */
#ifndef HOST_H
#define HOST_H

#include <pthread.h>

#include "check.h"

#ifdef _WIN32 /* there are no such signals */
enum { SIGPROF, SA_RESTART, elsewhere = 0, on_another_stack = 0 };
static int on_the_host;
static void alarm(unsigned seconds) { (void)seconds; }
static void handler(int signal) { (void)signal; }
static void install(int signal, void (*with)(int), int flags) { (void)signal, (void)with, (void)flags; }
static void set_timer(int signal, int on) { (void)signal, (void)on; }
static void join_host(void) { on_the_host = 1; }
static void start_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
  HOLDS(pthread_create(thread, NULL, run, argument) == 0);
}
#else
#include <signal.h>
#include <sys/time.h>

static __thread char *stack_start, *stack_end; /* NULL in the threads of others */
static volatile sig_atomic_t on_the_host, elsewhere, on_another_stack;

static void handler(int signal) {
  char here;
  (void)signal;
  if (stack_start == NULL) {
    elsewhere++;
  } else if (&here < stack_start || &here >= stack_end) {
    on_another_stack++;
  } else {
    on_the_host++;
  }
}

/* Makes the thread one of the host, and lets it have signals, which it must not have before. */
static void join_host(void) {
  sigset_t none;
  pthread_attr_t attributes;
  void *start;
  size_t size;
  HOLDS(pthread_getattr_np(pthread_self(), &attributes) == 0);
  HOLDS(pthread_attr_getstack(&attributes, &start, &size) == 0);
  pthread_attr_destroy(&attributes);
  stack_start = (char *)start;
  stack_end = stack_start + size;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Starts a thread with all signals blocked. */
static void start_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
  sigset_t all, own;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  HOLDS(pthread_create(thread, NULL, run, argument) == 0);
  pthread_sigmask(SIG_SETMASK, &own, NULL);
}

static void install(int signal, void (*with)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = with;
  action.sa_flags = flags;
  HOLDS(sigaction(signal, &action, NULL) == 0);
}

/* The interval timer of a signal, which a profiler uses: the kernel sends it to the thread that is at work. */
static void set_timer(int signal, int on) {
  const struct itimerval every = {{0, 300 * on}, {0, 300 * on}};
  if (signal == SIGPROF) setitimer(ITIMER_PROF, &every, NULL);
  if (signal == SIGALRM) setitimer(ITIMER_REAL, &every, NULL);
}

#endif /* _WIN32 */

#endif
