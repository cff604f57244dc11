#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "one-sided.h"

enum { BATCH = 32, LEFT_SECONDS = 4 };

int one_sided_progress(const struct rank *r, int comm) {
  return r->is_gin ? r->gin->ginProgress(r->contexts[comm]) : r->rma.rmaProgress(r->contexts[comm]);
}

static bool progress_all(const struct rank *r) {
  for (int i = 0; i < COMMS; i++) {
    if (r->comms[i] != NULL && !one_sided_check(r, "progress", one_sided_progress(r, i))) {
      return false;
    }
  }
  return true;
}

/* None, the only one that there is, and all that there could be. */
static uint32_t flags_of(int comm) {
  return comm == 0 ? 0 : comm == COMMS - 1 ? UINT32_MAX : NCCL_RMA_MAY_AGGREGATE;
}

int one_sided_put(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to, int rank,
                  uint64_t signal, uint64_t value, uint32_t op, void **request) {
  void *window = bytes == 0 ? NULL : r->window_handles[comm];
  if (r->is_gin) {
    return op == 0 ? r->gin->iput(r->contexts[comm], from, window, bytes, to, window, (uint32_t)rank, request)
                   : r->gin->iputSignal(r->contexts[comm], from, window, bytes, to, window, (uint32_t)rank, signal,
                                        r->signal_handles[comm], value, op, request);
  }
  void *ctx = r->contexts[comm];
  void *signals = r->signal_handles[comm];
  if (r->rma_api == 14) {
    return op == 0 ? r->rma_v14->iput(ctx, context, from, window, bytes, to, window, (uint32_t)rank, request)
                   : r->rma_v14->iputSignal(ctx, context, from, window, bytes, to, window, (uint32_t)rank, signal,
                                            signals, value, op, true, request);
  }
  return op == 0 ? r->rma.iput(ctx, context, from, window, bytes, to, window, (uint32_t)rank, flags_of(comm), request)
                 : r->rma.iputSignal(ctx, context, from, window, bytes, to, window, (uint32_t)rank, signal, signals,
                                     value, op, true, flags_of(comm), request);
}

int one_sided_get(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to, int rank,
                  void **request) {
  void *ctx = r->contexts[comm];
  void *window = r->window_handles[comm];
  return r->rma_api == 14
             ? r->rma_v14->iget(ctx, context, from, window, bytes, to, window, (uint32_t)rank, request)
             : r->rma.iget(ctx, context, from, window, bytes, to, window, (uint32_t)rank, flags_of(comm), request);
}

int one_sided_ask(const struct rank *r, int comm, void *request, int *done) {
  return r->is_gin ? r->gin->test(r->comms[comm], request, done) : r->rma.test(r->comms[comm], request, done);
}

static void wait_a_little(const struct rank *r, unsigned *idle) {
  if (r->yields) {
    idle_wait(idle);
  }
}

bool one_sided_finish(const struct rank *r, int comm, void *request) {
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  int done = 0;
  while (!done) {
    wait_a_little(r, &idle);
    if (!one_sided_check(r, "test", one_sided_ask(r, comm, request, &done)) || !progress_all(r)) {
      return false;
    }
    if (!done && now() > deadline) {
      return fail(r->number, "timeout: a request is not done");
    }
  }
  return true;
}

bool one_sided_put_and_finish(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to,
                              int rank, uint64_t signal, uint64_t value, uint32_t op) {
  void *request = NULL;
  if (!one_sided_check(r, "put", one_sided_put(r, comm, context, from, bytes, to, rank, signal, value, op, &request))) {
    return false;
  }
  return (request != NULL || fail(r->number, "put gave no request")) && one_sided_finish(r, comm, request);
}

bool one_sided_await(const struct rank *r, int comm, int word, uint64_t value) {
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  uint64_t seen = 0;
  for (uint64_t found; (found = atomic_load(&r->signals[comm][word])) < value;) {
    if (!progress_all(r)) {
      return false;
    }
    wait_a_little(r, &idle);
    if (found != seen) { /* it comes on */
      seen = found;
      deadline = now() + DEADLINE_SECONDS;
    }
    if (now() > deadline || is_failing() || atomic_load(&r->shared->failures) > 0) {
      return fail(r->number, "timeout, or another rank has failed: signal %d is %llu instead of %llu", word,
                  (unsigned long long)atomic_load(&r->signals[comm][word]), (unsigned long long)value);
    }
  }
  return true;
}

bool all_progress_until(struct rank *r) { /* a barrier that moves data meanwhile */
  _Atomic int *arrived = &r->shared->arrived[r->barrier++];
  double deadline = now() + DEADLINE_SECONDS;
  unsigned idle = 0;
  atomic_fetch_add(arrived, 1);
  while (!r->leaves && atomic_load(arrived) < r->ranks) {
    wait_a_little(r, &idle);
    if (!progress_all(r) || atomic_load(&r->shared->failures) > 0 || now() > deadline) {
      return fail(r->number, "another rank has failed, or does not come");
    }
  }
  return true;
}

/* ---- tests ---- */

static unsigned char byte_of(int rank, uint64_t at, int round) {
  return (unsigned char)(at * 31 + (at >> 9) + (uint64_t)rank * 7 + (uint64_t)round);
}

/* To the next rank, in all sizes, each looked at as soon as its signal is there. */
static bool test_puts(struct rank *r) {
  static const size_t sizes[] = {0, 1, 8, 100, 4095, 4096, 4097, 65536, 1 << 20};
  uint64_t half = WINDOW_BYTES / 2;
  int next = (r->number + 1) % r->ranks;
  int previous = (r->number + r->ranks - 1) % r->ranks;
  for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
    int comm = i % COMMS;
    for (size_t at = 0; at < sizes[i]; at++) {
      r->window[at] = byte_of(r->number, at, i);
    }
    if (!one_sided_put_and_finish(r, comm, i % CONTEXTS, 0, sizes[i], half, next, 8, 1, NCCL_ONE_SIDED_INCREMENT) ||
        !one_sided_await(r, comm, 1, (uint64_t)(i / COMMS + 1))) {
      return false;
    }
    for (size_t at = 0; at < sizes[i]; at++) {
      if (r->window[half + at] != byte_of(previous, at, i)) {
        return fail(r->number, "byte %zu of %zu is wrong", at, sizes[i]);
      }
    }
    if (!all_progress_until(r)) {
      return false;
    }
  }
  return true;
}

/* 1000 puts, then one strong signal: all are there; then the words are reset, and it goes on. */
static bool test_strong(struct rank *r) {
  int next = (r->number + 1) % r->ranks;
  int previous = (r->number + r->ranks - 1) % r->ranks;
  uint64_t half = WINDOW_BYTES / 2;
  for (int round = 0; round < 3; round++) {
    for (int at = 0; at < 8000; at++) {
      r->window[at] = byte_of(r->number, (uint64_t)at, round);
    }
    void *requests[1000];
    for (int i = 0; i < 1000; i++) {
      uint64_t at = (uint64_t)i * 8;
      if (!one_sided_check(r, "put", one_sided_put(r, 2, 0, at, 8, half + at, next, 0, 0, 0, &requests[i]))) {
        return false;
      }
      if (i % BATCH == BATCH - 1 || i == 999) {
        for (int j = i - i % BATCH; j <= i; j++) {
          if (!one_sided_finish(r, 2, requests[j])) {
            return false;
          }
        }
      }
    }
    if (!one_sided_put_and_finish(r, 2, 0, 0, 0, 0, next, 16, 5, NCCL_ONE_SIDED_ADD) || !one_sided_await(r, 2, 2, 5)) {
      return false;
    }
    for (int at = 0; at < 8000; at++) {
      if (r->window[half + (uint64_t)at] != byte_of(previous, (uint64_t)at, round)) {
        return fail(r->number, "byte %d of strong round %d is wrong", at, round);
      }
    }
    if (!all_progress_until(r)) {
      return false;
    }
    atomic_store(&r->signals[2][2], 0);
    if (!all_progress_until(r)) {
      return false;
    }
  }
  return true;
}

/* All ranks add to one word of rank 0's, itself too; none is lost. */
static bool test_signals(struct rank *r) {
  void *requests[BATCH];
  uint64_t all = (uint64_t)r->count * (uint64_t)r->ranks;
  double start = now();
  for (long i = 0; i < r->count; i += BATCH) {
    int now_many = r->count - i < BATCH ? (int)(r->count - i) : BATCH;
    for (int j = 0; j < now_many; j++) {
      int result = one_sided_put(r, 0, j % CONTEXTS, 0, 0, 0, 0, 40, 1, NCCL_ONE_SIDED_ADD, &requests[j]);
      if (!one_sided_check(r, "signal", result)) {
        return false;
      }
    }
    for (int j = 0; j < now_many; j++) {
      if (!one_sided_finish(r, 0, requests[j])) {
        return false;
      }
    }
  }
  if (r->number == 0 && !one_sided_await(r, 0, 5, all)) {
    return false;
  }
  if (r->number == 0) {
    uint64_t found = atomic_load(&r->signals[0][5]);
    printf("{\"signals\": %llu, \"lost\": %lld, \"seconds\": %.3f}\n", (unsigned long long)found,
           (long long)(all - found), now() - start);
  }
  return all_progress_until(r);
}

static bool test_gets(struct rank *r) {
  if (r->is_gin) {
    return true;
  }
  uint64_t half = WINDOW_BYTES / 2;
  for (size_t at = 0; at < 300000; at++) {
    r->window[at] = byte_of(r->number, at, 99);
  }
  if (!all_progress_until(r)) {
    return false;
  }
  for (int from = 0; from < r->ranks; from++) {
    void *request = NULL;
    size_t bytes = from % 2 == 0 ? 300000 : 1000;
    void *window = r->window_handles[1];
    int result = one_sided_get(r, 1, 1, 0, bytes, half, from, &request);
    if (!one_sided_check(r, "iget", result) ||
        !one_sided_finish(r, 1, request) ||
        !one_sided_check(r, "iflush", r->rma.iflush(r->contexts[1], 1, window, (uint32_t)from, &request)) ||
        !one_sided_finish(r, 1, request)) {
      return false;
    }
    for (size_t at = 0; at < bytes; at++) {
      if (r->window[half + at] != byte_of(from, at, 99)) {
        return fail(r->number, "byte %zu from rank %d is wrong", at, from);
      }
    }
  }
  return all_progress_until(r);
}

/* What NCCL must not leave out, and nothing is done without. */
static bool test_nulls(const struct rank *r) {
  struct nccl_rma_config_v17 none = {0};
  struct nccl_rma_config_v17 config = {.nContexts = 1};
  struct nccl_rma_properties_v16 properties = {true};
  void *handles[MOST_RANKS] = {NULL};
  void *out = (void *)8;
  void *comm = r->comms[0];
  bool is_since_v16 = r->rma_api >= 16;
  if (r->is_gin) {
    return (r->gin->createContext(comm, 1, 1, NULL, NULL) == NCCL_INVALID_ARGUMENT &&
            r->gin->createContext(NULL, 1, 1, &out, NULL) == NCCL_INVALID_ARGUMENT) ||
           fail(r->number, "GIN takes NULL for what it needs");
  }
  bool ok = one_sided_put(r, 0, 0, 0, 8, 0, 0, 0, 0, 0, NULL) == NCCL_INVALID_ARGUMENT &&
            one_sided_put(r, 0, 0, 0, 8, 0, 0, 8, 1, NCCL_ONE_SIDED_ADD, NULL) == NCCL_INVALID_ARGUMENT &&
            one_sided_get(r, 0, 0, 0, 8, 0, 0, NULL) == NCCL_INVALID_ARGUMENT &&
            r->rma.iflush(r->contexts[0], 0, NULL, 0, NULL) == NCCL_INVALID_ARGUMENT &&
            r->rma.test(comm, NULL, NULL) == NCCL_INVALID_ARGUMENT &&
            r->rma.queryLastError(r->contexts[0], NULL) == NCCL_INVALID_ARGUMENT &&
            r->rma.connect(NULL, NULL, 1, 0, comm, &out) == NCCL_INVALID_ARGUMENT &&
            r->rma.connect(NULL, handles, 1, 0, NULL, &out) == NCCL_INVALID_ARGUMENT &&
            one_sided_create_context(r, comm, NULL, &out) == NCCL_INVALID_ARGUMENT &&
            one_sided_create_context(r, NULL, &config, &out) == NCCL_INVALID_ARGUMENT &&
            one_sided_create_context(r, comm, &config, NULL) == NCCL_INVALID_ARGUMENT &&
            one_sided_create_context(r, comm, &none, &out) != NCCL_SUCCESS && out == NULL;
  bool is_right = !is_since_v16 || (r->rma.getRmaProperties(comm, NULL) == NCCL_INVALID_ARGUMENT &&
                                    r->rma.getRmaProperties(NULL, &properties) == NCCL_INVALID_ARGUMENT);
  return (ok && is_right) || fail(r->number, "RMA v%d takes NULL for what it needs", r->rma_api);
}

/* Refused, and nothing else fails by it. */
static bool test_refusals(struct rank *r) {
  void *request = NULL;
  bool has_error = true;
  bool ok = one_sided_put(r, 0, 0, WINDOW_BYTES - 4, 8, 0, 0, 0, 0, 0, &request) == NCCL_INVALID_ARGUMENT &&
            request == NULL &&
            one_sided_put(r, 0, 0, 0, 8, 0, r->ranks, 0, 0, 0, &request) == NCCL_INVALID_ARGUMENT &&
            one_sided_put(r, 0, 0, 0, 0, 0, 0, 4, 1, NCCL_ONE_SIDED_ADD, &request) == NCCL_INVALID_ARGUMENT &&
            one_sided_put(r, 0, 0, 0, 0, 0, 0, 8, 1, 7, &request) == NCCL_INVALID_ARGUMENT;
  void *handle = r->contexts[0];
  int result = r->is_gin ? r->gin->queryLastError(handle, &has_error) : r->rma.queryLastError(handle, &has_error);
  return (ok || fail(r->number, "wrong use is not refused")) &&
         ((result == NCCL_SUCCESS && !has_error) || fail(r->number, "refusals count as errors"));
}

/* The last rank ends as it should, and the others go on: longer than it takes to see that its connections are gone. */
static bool test_leave(struct rank *r) {
  int next = (r->number + 1) % r->ranks;
  int others = r->ranks - 1;
  r->leaves = r->number == others;
  if (!one_sided_put_and_finish(r, 0, 0, 0, 100, WINDOW_BYTES / 2, next, 8, 1, NCCL_ONE_SIDED_ADD) ||
      !one_sided_await(r, 0, 1, 1)) {
    return false;
  }
  double later = now() + LEFT_SECONDS;
  unsigned idle = 0;
  while (!r->leaves && now() < later) {
    idle_wait(&idle);
    if (!progress_all(r)) {
      return fail(r->number, "rank %d has left, and so nothing works any more", others);
    }
  }
  return r->leaves || (one_sided_put_and_finish(r, 0, 0, 0, 1 << 20, WINDOW_BYTES / 2, (r->number + 1) % others, 8, 1,
                                      NCCL_ONE_SIDED_ADD) &&
                       one_sided_await(r, 0, 1, 2));
}

/* The last rank dies with puts under way: every other one's calls fail within the time limit, and go on failing. */
static bool test_death(struct rank *r) {
  int last = r->ranks - 1;
  void *request = NULL;
  double deadline = now() + DEADLINE_SECONDS;
  bool has_error = false;
  if (r->number == last) {
    (void)one_sided_put(r, 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, &request);
    raise(SIGKILL);
  }
  int result = NCCL_SUCCESS;
  unsigned idle = 0;
  while (result == NCCL_SUCCESS && now() < deadline) {
    result = one_sided_put(r, 0, 0, 0, 8, 0, last, 8, 1, NCCL_ONE_SIDED_ADD, &request);
    int done = 0;
    while (result == NCCL_SUCCESS && !done && now() < deadline) {
      wait_a_little(r, &idle);
      result = one_sided_ask(r, 0, request, &done);
    }
  }
  void *handle = r->contexts[0];
  int queried = r->is_gin ? r->gin->queryLastError(handle, &has_error) : r->rma.queryLastError(handle, &has_error);
  return (result != NCCL_SUCCESS || fail(r->number, "nobody notices that rank %d is dead", last)) &&
         (one_sided_put(r, 0, 0, 0, 8, 0, 0, 0, 0, 0, &request) != NCCL_SUCCESS ||
          fail(r->number, "the next put succeeds")) &&
         (one_sided_progress(r, 0) != NCCL_SUCCESS || fail(r->number, "progress succeeds")) &&
         ((queried == NCCL_SUCCESS && has_error) || fail(r->number, "queryLastError knows of nothing"));
}

bool one_sided_test(struct rank *r, const char *name) {
  if (strcmp(name, "all") == 0) {
    return test_puts(r) && test_strong(r) && test_gets(r) && test_nulls(r) && test_refusals(r) && test_signals(r);
  }
  if (strcmp(name, "rounds") == 0) {
    return one_sided_rounds(r);
  }
  if (strcmp(name, "signals") == 0) {
    return test_signals(r);
  }
  if (strcmp(name, "calls") == 0) {
    return one_sided_calls(r);
  }
  if (strcmp(name, "leave") == 0) {
    return test_leave(r);
  }
  return strcmp(name, "times") == 0 ? one_sided_times(r) : test_death(r);
}
