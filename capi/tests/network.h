/* A network between threads, each of them a machine of a group. */
#ifndef NETWORK_H
#define NETWORK_H

#include <pthread.h>

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  double sums[4096];
  int size, came, left, lost; /* lost: the network has failed */
} net = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0, 0};

static void connect_machines(int size) {
  net.size = size;
  net.came = net.left = net.lost = 0;
}

/* Every machine adds its part when all have come and waits for the others to do so; sums are added in no order of their
 * own, but of small numbers of rows all machines still read one and the same array. fails: the network fails here. */
static int32_t add_over_network(double *values, int64_t n, int fails) {
  int64_t k;
  pthread_mutex_lock(&net.mutex);
  net.lost |= fails;
  while (net.left > 0 && !net.lost) pthread_cond_wait(&net.changed, &net.mutex); /* the call before is not over */
  for (k = 0; k < n && n <= 4096; k++) net.sums[k] = (net.came > 0 ? net.sums[k] : 0) + values[k];
  net.came++;
  if (net.came == net.size) net.left = net.size;
  pthread_cond_broadcast(&net.changed);
  while (net.left == 0 && !net.lost) pthread_cond_wait(&net.changed, &net.mutex);
  for (k = 0; k < n && n <= 4096; k++) values[k] = net.sums[k];
  if (--net.left == 0) net.came = 0;
  pthread_cond_broadcast(&net.changed);
  pthread_mutex_unlock(&net.mutex);
  return net.lost;
}

#endif
