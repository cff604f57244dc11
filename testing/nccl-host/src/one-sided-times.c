/*
 * How long one-sided calls take.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "one-sided.h"

static int by_time(const void *a, const void *b) {
  double left = *(const double *)a;
  double right = *(const double *)b;
  return left < right ? -1 : left > right;
}

static void print_times(const char *what, size_t bytes, double *times, long rounds) {
  qsort(times, (size_t)rounds, sizeof times[0], by_time);
  printf("{\"put_with_signal_bytes\": %zu, \"rounds\": %ld, \"%s_us_p50\": %.2f, \"p99\": %.2f}\n", bytes, rounds,
         what, times[rounds / 2] * 1e6, times[rounds / 100 * 99] * 1e6);
  fflush(stdout);
}

bool one_sided_times(struct rank *r) {
  static const size_t sizes[] = {0, 8, 4096, 65536, 1 << 20};
  enum { LONG_ROUNDS = 1000 };
  double *times = calloc((size_t)r->times, sizeof *times);
  uint64_t seen = 0;
  if (r->number > 1 || times == NULL) {
    free(times);
    return all_progress_until(r);
  }
  for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
    long rounds = sizes[s] >= 65536 && r->times > LONG_ROUNDS ? LONG_ROUNDS : r->times;
    for (long i = 0; i < rounds; i++) {
      double start = now();
      if (r->number == 1 && !one_sided_await(r, 0, 9, ++seen)) {
        return false;
      }
      if (!one_sided_put_and_finish(r, 0, 0, 0, sizes[s], WINDOW_BYTES / 2, 1 - r->number, 72, 1,
                                    NCCL_ONE_SIDED_INCREMENT) ||
          (r->number == 0 && !one_sided_await(r, 0, 9, ++seen))) {
        return false;
      }
      times[i] = (now() - start) / 2;
    }
    if (r->number == 0) {
      print_times("one_way", sizes[s], times, rounds);
    }
  }
  free(times);
  return all_progress_until(r);
}

/* Puts from rank 0 to rank 1, each until it is done here and seen there, by all calls of both on this thread. */
static bool time_calls(struct rank *r, struct rank *peer, double *times) {
  static const size_t sizes[] = {0, 8, 4096};
  uint64_t seen = 0;
  for (int s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
    for (long i = 0; i < r->times; i++) {
      double start = now();
      void *request = NULL;
      int done = 0;
      int result = one_sided_put(r, 0, 0, 0, sizes[s], WINDOW_BYTES / 2, 1, 72, 1, NCCL_ONE_SIDED_INCREMENT, &request);
      seen++;
      while (result == NCCL_SUCCESS && (!done || atomic_load(&peer->signals[0][9]) < seen)) {
        result = one_sided_progress(peer, 0);
        if (result == NCCL_SUCCESS && !done) {
          result = one_sided_ask(r, 0, request, &done);
        }
        if (now() - start > DEADLINE_SECONDS) {
          return fail(r->number, "timeout: a put is not done");
        }
      }
      if (!one_sided_check(r, "put, test or progress", result)) {
        return false;
      }
      times[i] = now() - start;
    }
    print_times("both_ends", sizes[s], times, r->times);
  }
  return true;
}

bool one_sided_calls(struct rank *r) {
  double *times = calloc((size_t)r->times, sizeof *times);
  r->shared->threads[r->number] = r;
  bool ok = times != NULL && one_sided_barrier(r) &&
            (r->number != 0 || r->ranks < 2 || time_calls(r, r->shared->threads[1], times)) && one_sided_barrier(r);
  free(times);
  return ok && all_progress_until(r);
}
