#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cuts.h"
#include "host.h"
#include "one-sided.h"

/* Places of one size in each half of the window: the lower one is put from, the upper one into. */
enum { PLACE = 64 << 10, PLACES = 24, LAYERS = 3, PUTS = PLACES + LAYERS, LAYERED = PLACES, FETCHED = PUTS };
enum { HALF = WINDOW_BYTES / 2, DATA_WORD = 3, ROUND_WORD = 4, COMMON_WORD = 6, ROUNDS_AFTER_CUTS = 8 };

/* What one rank does in one round, as it and its target know by chance alone. */
struct plan {
  int comm;
  size_t bytes[PUTS];
  uint64_t addends[PUTS];
};

static struct plan plan_of(const struct rank *r, int rank, long round) {
  unsigned random = r->seed * 2654435761u + (unsigned)rank * 40503u + (unsigned)round;
  struct plan plan = {.comm = (int)(round % COMMS)};
  for (int i = 0; i < PUTS; i++) {
    int most = rand_r(&random) % 3 == 0 ? PLACE : 5000;
    plan.bytes[i] = (size_t)(1 + rand_r(&random) % most);
    plan.addends[i] = 1 + (uint64_t)(rand_r(&random) % 1000);
  }
  return plan;
}

static unsigned char byte_of(int rank, long round, int place, size_t at) {
  return (unsigned char)(at * 31 + (at >> 8) + (size_t)place * 17 + (size_t)rank * 7 + (size_t)round * 13);
}

static bool send_round(const struct rank *r, long round) {
  struct plan plan = plan_of(r, r->number, round);
  int next = (r->number + 1) % r->ranks;
  void *requests[PUTS + 1];
  for (int i = 0; i < PUTS; i++) {
    uint64_t from = (uint64_t)i * PLACE;
    for (size_t at = 0; at < plan.bytes[i]; at++) {
      r->window[from + at] = byte_of(r->number, round, i, at);
    }
    /* the last ones go one over the other, so in one context */
    uint64_t to = HALF + (uint64_t)(i < PLACES ? i : LAYERED) * PLACE;
    int context = i < PLACES ? i % CONTEXTS : 0;
    if (!one_sided_check(r, "put",
                         one_sided_put(r, plan.comm, context, from, plan.bytes[i], to, next, 8 * DATA_WORD,
                                       plan.addends[i], NCCL_ONE_SIDED_ADD, &requests[i]))) {
      return false;
    }
  }
  if (!one_sided_check(r, "signal",
                       one_sided_put(r, plan.comm, 0, 0, 0, 0, 0, 8 * COMMON_WORD, 1, NCCL_ONE_SIDED_INCREMENT,
                                     &requests[PUTS]))) {
    return false;
  }
  for (int i = 0; i <= PUTS; i++) {
    if (!one_sided_finish(r, plan.comm, requests[i])) {
      return false;
    }
  }
  return true;
}

static bool are_bytes(const struct rank *r, uint64_t where, int rank, long round, int place, size_t from, size_t to) {
  for (size_t at = from; at < to; at++) {
    if (r->window[where + at] != byte_of(rank, round, place, at)) {
      return fail(r->number, "byte %zu of put %d in round %ld is wrong", at, place, round);
    }
  }
  return true;
}

/* What comes last lies on top. */
static bool are_layers(const struct rank *r, const struct plan *plan, int rank, long round) {
  size_t covered = 0;
  for (int i = PUTS - 1; i >= PLACES; i--) {
    if (!are_bytes(r, HALF + (uint64_t)LAYERED * PLACE, rank, round, i, covered, plan->bytes[i])) {
      return false;
    }
    covered = plan->bytes[i] > covered ? plan->bytes[i] : covered;
  }
  return true;
}

static bool fetch(const struct rank *r, const struct plan *plan, int rank, long round) {
  int place = (int)(round % PLACES);
  uint64_t to = HALF + (uint64_t)FETCHED * PLACE;
  void *request = NULL;
  int result =
      one_sided_get(r, plan->comm, 0, (uint64_t)place * PLACE, plan->bytes[place], to, rank, &request);
  return one_sided_check(r, "iget", result) && one_sided_finish(r, plan->comm, request) &&
         are_bytes(r, to, rank, round, place, 0, plan->bytes[place]);
}

static bool receive_round(const struct rank *r, long round, uint64_t *totals) {
  int previous = (r->number + r->ranks - 1) % r->ranks;
  struct plan plan = plan_of(r, previous, round);
  uint64_t *total = &totals[plan.comm];
  void *request = NULL;
  for (int i = 0; i < PUTS; i++) {
    *total += plan.addends[i];
  }
  if (!one_sided_await(r, plan.comm, DATA_WORD, *total)) {
    return false;
  }
  uint64_t found = atomic_load(&r->signals[plan.comm][DATA_WORD]);
  if (found != *total) {
    return fail(r->number, "signals add up to %llu instead of %llu in round %ld", (unsigned long long)found,
                (unsigned long long)*total, round);
  }
  for (int i = 0; i < PLACES; i++) {
    if (!are_bytes(r, HALF + (uint64_t)i * PLACE, previous, round, i, 0, plan.bytes[i])) {
      return false;
    }
  }
  return are_layers(r, &plan, previous, round) && (r->is_gin || fetch(r, &plan, previous, round)) &&
         one_sided_check(r, "signal",
                         one_sided_put(r, 0, 1, 0, 0, 0, previous, 8 * ROUND_WORD, 1, NCCL_ONE_SIDED_INCREMENT,
                                       &request)) &&
         one_sided_finish(r, 0, request);
}

/* ---- cuts ---- */

struct cutter {
  const struct rank *rank;
  atomic_bool over;
};

/* A cut may hit a connection that carries nothing: what counts is that others went on elsewhere. */
static bool is_enough(const struct rank *r) {
  return atomic_load(&r->shared->cuts) >= r->cuts && atomic_load(&r->shared->moves) >= r->moves;
}

/* The ranks take turns; what was cut last is whole again when all have got on. */
static void *cut(void *argument) {
  struct cutter *c = argument;
  const struct rank *r = c->rank;
  unsigned random = r->seed + (unsigned)r->number;
  long next = 2 * r->ranks;
  double deadline = 0;
  while (!atomic_load(&c->over) && !is_enough(r)) {
    if (atomic_load(&r->shared->cuts) < r->cuts) {
      deadline = now() + DEADLINE_SECONDS;
    } else if (now() > deadline) {
      (void)fail(r->number, "%d cuts, and %d of %d connections have gone on over other paths",
                 atomic_load(&r->shared->cuts), atomic_load(&r->shared->moves), r->moves);
      return NULL;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * (1 + rand_r(&random) % 20)}, NULL);
    int made = atomic_load(&r->shared->cuts);
    if (made % r->cutters != r->number || atomic_load(&r->shared->rounds) < next) {
      continue;
    }
    if (cuts_any(&random, rand_r(&random) % 4 == 0) > 0) {
      next = atomic_load(&r->shared->rounds) + 2 * r->ranks;
      atomic_store(&r->shared->cuts, made + 1);
    }
  }
  return NULL;
}

/* Rank 0 says when it is over, early enough: no rank is further ahead than there are ranks. */
static bool is_over(const struct rank *r, long round) {
  _Atomic long *last = &r->shared->last_round;
  if (r->number == 0 && atomic_load(last) == 0 && round >= r->count && is_enough(r)) {
    atomic_store(last, round + ROUNDS_AFTER_CUTS);
  }
  return atomic_load(last) != 0 && round > atomic_load(last);
}

bool one_sided_rounds(struct rank *r) {
  struct cutter cutter = {.rank = r};
  pthread_t thread;
  uint64_t totals[COMMS] = {0};
  long round = 1;
  double start = now();
  if (pthread_create(&thread, NULL, cut, &cutter) != 0) {
    return fail(r->number, "no thread for cuts");
  }
  bool ok = true;
  for (; ok && !is_over(r, round); round++) {
    ok = send_round(r, round) && receive_round(r, round, totals) &&
         one_sided_await(r, 0, ROUND_WORD, (uint64_t)round);
    atomic_fetch_add(&r->shared->rounds, 1);
  }
  atomic_store(&cutter.over, true);
  pthread_join(thread, NULL);
  ok = ok && all_progress_until(r);
  uint64_t common = 0;
  for (int i = 0; i < COMMS; i++) {
    common += atomic_load(&r->signals[i][COMMON_WORD]);
  }
  uint64_t expected = r->number == 0 ? (uint64_t)(round - 1) * (uint64_t)r->ranks : 0;
  if (ok && common != expected) {
    ok = fail(r->number, "all ranks have added %llu instead of %llu", (unsigned long long)common,
              (unsigned long long)expected);
  }
  if (ok && r->number == 0) {
    printf("{\"rounds\": %ld, \"cuts\": %d, \"moves\": %d, \"seed\": %u, \"wrong\": 0, \"seconds\": %.3f}\n", round - 1,
           atomic_load(&r->shared->cuts), atomic_load(&r->shared->moves), r->seed, now() - start);
  }
  return ok && all_progress_until(r);
}
