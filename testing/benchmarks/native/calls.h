/* NCCL's calls on a plugin, each until it has brought something or the patience is over. */
#ifndef CALLS_H
#define CALLS_H

#include <sched.h>

#include "bench.h"
#include "host.h"

enum { TAG = 7, IDLE_BEFORE_YIELD = 16, MAX_COMMS = 65536 };

/* Counts a call that brought nothing. False after the deadline. */
struct patience {
  unsigned idle;
  int64_t deadline;
};

static inline bool wait_more(struct patience *patience) {
  if (++patience->idle > IDLE_BEFORE_YIELD) {
    sched_yield();
    if (patience->idle % 1024 == 0 && now_ns() > patience->deadline) {
      return false;
    }
  }
  return true;
}

static inline bool gives_up(const struct subject *subject, const char *call, int result) {
  return fail(0, "%s: %s: %s", subject->path, call,
              result == NCCL_SUCCESS ? "not done before the deadline" : result_name(result));
}

static inline bool post_receive(struct subject *subject, struct pair *pair, size_t size, void **request,
                                struct patience *patience) {
  void *data = receive_buffer;
  int tag = TAG;
  for (;;) {
    *request = NULL;
    int result =
        net_irecv(&subject->net, pair->receive_comm, 1, &data, &size, &tag, &pair->receive_memory, request);
    if (__builtin_expect(result != NCCL_SUCCESS, 0)) {
      return gives_up(subject, "irecv", result);
    }
    if (*request != NULL) {
      return true;
    }
    if (!wait_more(patience)) {
      return gives_up(subject, "irecv", result);
    }
  }
}

static inline bool post_send(struct subject *subject, struct pair *pair, size_t size, void **request,
                             struct patience *patience) {
  for (;;) {
    *request = NULL;
    int result = net_isend(&subject->net, pair->send_comm, send_buffer, size, TAG, pair->send_memory, request);
    if (__builtin_expect(result != NCCL_SUCCESS, 0)) {
      return gives_up(subject, "isend", result);
    }
    if (*request != NULL) {
      return true;
    }
    if (!wait_more(patience)) {
      return gives_up(subject, "isend", result);
    }
  }
}

static inline bool finish(struct subject *subject, void *request, struct patience *patience, int *size) {
  for (;;) {
    int done = 0;
    int result = net_test(&subject->net, request, &done, size);
    if (__builtin_expect(result != NCCL_SUCCESS, 0)) {
      return gives_up(subject, "test", result);
    }
    if (done) {
      return true;
    }
    if (!wait_more(patience)) {
      return gives_up(subject, "test", result);
    }
  }
}

static inline struct patience patience_of(const struct options *options) {
  return (struct patience){.deadline = now_ns() + options->timeout_seconds * 1000000000LL};
}

#endif
