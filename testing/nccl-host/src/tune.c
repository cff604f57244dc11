#include "tune.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "net.h"
#include "profiler.h"
#include "rendezvous.h"
#include "tuner.h"

enum { ALL_REDUCE = NCCL_TUNER_ALL_REDUCE, MEASURED_CALLS = 200000, LEAST_BYTES = 1024, CHANGES = 64 };

static const char *const collectives[] = {"broadcast", "reduce", "all-gather", "reduce-scatter", "all-reduce"};
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

struct tuned {
  const struct options *options;
  const struct tuner *tuner; /* NULL: the library has none */
  int rank;
};

static bool is_asked_before(const struct decision *now, const struct decision *before) {
  return now->algorithm == before->algorithm && now->protocol == before->protocol &&
         now->channels == before->channels && now->chunk == before->chunk;
}

/* Decides the same again and again, and says each time that the answer changes. */
static bool decide(const struct tuned *tuned, void *ctx, int coll, size_t bytes) {
  struct decision before = {0};
  struct decision decision;
  int changes = 0;
  for (int i = 0; i < tuned->options->iterations; i++) {
    int result = tuner_decide(tuned->tuner, ctx, coll, bytes, &decision);
    if (result != NCCL_SUCCESS) {
      return fail(tuned->rank, "getCollInfo returned %d (%s)", result, result_name(result));
    }
    if ((i == 0 || !is_asked_before(&decision, &before)) && changes++ < CHANGES && tuned->options->print_json) {
      pthread_mutex_lock(&print_lock);
      printf("{\"rank\": %d, \"collective\": \"%s\", \"bytes\": %zu, \"call\": %d, \"algorithm\": \"%s\", "
             "\"protocol\": \"%s\", \"channels\": %d, \"chunk\": %zu}\n",
             tuned->rank, collectives[coll], bytes, i, algorithm_name(decision.algorithm),
             protocol_name(decision.protocol), decision.channels, decision.chunk);
      fflush(stdout);
      pthread_mutex_unlock(&print_lock);
    }
    before = decision;
  }
  return true;
}

/* ---- what a profiler hears ---- */

/* All-reduces of one message each, which takes so long; then asks until the answer is another one. */
static bool decide_by_events(const struct tuned *tuned, struct profile *profile, void *ctx) {
  enum { EVENTS = 32, PAUSE_MICROSECONDS = 10000, PAUSES_A_SECOND = 100 };
  struct decision before;
  struct decision decision;
  int pauses = tuned->options->timeout_seconds * PAUSES_A_SECOND;
  (void)tuner_decide(tuned->tuner, ctx, ALL_REDUCE, tuned->options->bytes, &before);
  for (int i = 0; i < EVENTS; i++) {
    struct flow flow = {0};
    profile_collective_begin(profile, tuned->options->bytes / sizeof(float), 1);
    profile_flow_begin(profile, &flow, true, 0, 0, 1);
    profile_collective_end(profile);
    profile_step_begin(&flow);
    profile_step_ready(&flow);
    profile_step_posted(&flow, 0);
    (void)usleep((useconds_t)tuned->options->event_microseconds);
    profile_step_done(&flow, 0);
    profile_flow_end(&flow);
  }
  do {
    (void)usleep(PAUSE_MICROSECONDS);
    (void)tuner_decide(tuned->tuner, ctx, ALL_REDUCE, tuned->options->bytes, &decision);
  } while (is_asked_before(&decision, &before) && --pauses > 0);
  printf("{\"rank\": %d, \"before_events\": {\"algorithm\": \"%s\", \"channels\": %d}, \"after_events\": "
         "{\"algorithm\": \"%s\", \"channels\": %d}}\n",
         tuned->rank, algorithm_name(before.algorithm), before.channels, algorithm_name(decision.algorithm),
         decision.channels);
  fflush(stdout);
  return true;
}

/* ---- what a call costs ---- */

static int ascending(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a;
  uint64_t right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

static uint64_t nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* Each call by itself, the clock's own cost included; the table is not filled anew: NCCL's time for that is no part. */
static bool measure_calls(const struct tuned *tuned, const struct tuner *tuner, void *ctx, const char *name) {
  uint64_t *times = calloc(MEASURED_CALLS, sizeof *times);
  float table[21] = {0};
  int channels = 0;
  if (times == NULL) {
    return fail(tuned->rank, "no memory for %d times", MEASURED_CALLS);
  }
  for (int i = 0; i < 2 * MEASURED_CALLS; i++) { /* the first half warms up */
    table[3] = 1;
    uint64_t start = nanoseconds();
    (void)tuner_ask(tuner, ctx, ALL_REDUCE, (size_t)(i & 1023) << 16, table, &channels);
    times[i % MEASURED_CALLS] = nanoseconds() - start;
  }
  qsort(times, MEASURED_CALLS, sizeof *times, ascending);
  pthread_mutex_lock(&print_lock);
  printf("{\"rank\": %d, \"tuner\": \"%s\", \"calls\": %d, \"p50_ns\": %llu, \"p99_ns\": %llu, \"p99_9_ns\": %llu}\n",
         tuned->rank, name, MEASURED_CALLS, (unsigned long long)times[MEASURED_CALLS / 2],
         (unsigned long long)times[MEASURED_CALLS / 100 * 99], (unsigned long long)times[MEASURED_CALLS / 1000 * 999]);
  fflush(stdout);
  pthread_mutex_unlock(&print_lock);
  free(times);
  return true;
}

static bool measure(const struct tuned *tuned, void *ctx) {
  struct tuner empty = empty_tuner();
  if (tuned->tuner == NULL || tuned->tuner->api < 4) {
    return fail(tuned->rank, "--measure needs a tuner of version 4 or later");
  }
  bool ok = true;
  for (int round = 0; round < 3; round++) { /* the first rounds warm up both */
    ok = ok && measure_calls(tuned, &empty, NULL, "empty") && measure_calls(tuned, tuned->tuner, ctx, "plugin");
  }
  return ok;
}

/* ---- a communicator ---- */

/* NCCL's ranks have met before their tuners begin. */
static bool meet(const struct tuned *tuned) {
  const struct options *o = tuned->options;
  const double deadline = now() + o->timeout_seconds;
  struct rendezvous *rendezvous = rendezvous_open(o->rendezvous, tuned->rank, deadline);
  if (rendezvous == NULL) {
    return false;
  }
  bool ok = (rendezvous_barrier(rendezvous, "tuner", o->ranks, deadline) || fail(tuned->rank, "ranks are missing")) &&
            rendezvous_leave(rendezvous, o->ranks, deadline);
  rendezvous_close(rendezvous);
  return ok;
}

static void *run_rank(void *argument) {
  const struct tuned *tuned = argument;
  const struct options *o = tuned->options;
  thread_rank = tuned->rank;
  bool ok = o->rendezvous == NULL || meet(tuned);
  for (int k = 1; ok && k <= o->communicators; k++) {
    void *ctx = NULL;
    struct profile profile;
    const uint64_t comm = 0x7267000000000000ULL + ((uint64_t)(o->seed - 1) << 16) + (unsigned)k;
    if (!profile_begin(&profile, o, comm, tuned->rank)) { /* NCCL does that first */
      return NULL;
    }
    int result = tuned->tuner == NULL ? NCCL_SUCCESS
                                      : tuner_init(tuned->tuner, &ctx, comm, (size_t)o->ranks, (size_t)o->nodes);
    if (result != NCCL_SUCCESS) {
      fail(tuned->rank, "init of the tuner returned %d (%s)", result, result_name(result));
      return NULL;
    }
    if (o->measure) {
      ok = measure(tuned, ctx);
    } else if (o->event_microseconds != 0) {
      ok = decide_by_events(tuned, &profile, ctx);
    } else {
      for (int coll = 0; ok && coll <= ALL_REDUCE; coll++) {
        for (size_t bytes = LEAST_BYTES; ok && bytes <= o->bytes; bytes *= 4) {
          ok = decide(tuned, ctx, coll, bytes);
        }
      }
    }
    ok = (tuned->tuner == NULL || tuner_finalize(tuned->tuner, ctx) == NCCL_SUCCESS ||
          fail(tuned->rank, "finalize of the tuner failed")) && ok;
    ok = profile_end(&profile) && ok;
  }
  return ok ? argument : NULL;
}

static bool run_ranks(const struct options *options, const struct tuner *tuner) {
  pthread_t threads[64];
  struct tuned tuned[64];
  bool ok = true;
  int started = 0;
  for (; ok && started < options->local_ranks; started++) {
    tuned[started] = (struct tuned){.options = options, .tuner = tuner, .rank = options->rank + started};
    ok = pthread_create(&threads[started], NULL, run_rank, &tuned[started]) == 0;
  }
  for (int i = 0; i < started; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    ok &= result != NULL;
  }
  return ok;
}

/* NCCL has initialised the net plugin by then, unless the tuner alone is used. */
bool run_tune(const struct options *options) {
  struct net net;
  struct tuner tuner;
  void *ctx = NULL;
  int devices = 0;
  thread_rank = options->rank;
  if (!caller_open(&net, options->as, options->plugin, options->api)) {
    return false;
  }
  int result = options->without_net ? NCCL_SUCCESS : net_begin(&net, &ctx, 1, &devices);
  if (result != NCCL_SUCCESS) {
    return fail(options->rank, "init returned %d (%s)", result, result_name(result));
  }
  bool found = tuner_find(&tuner, net.library, options->tuner);
  fprintf(stderr, "rank %d: %s ncclTunerPlugin_v%d\n", options->rank, found ? "found" : "there is no", options->tuner);
  bool ok = profiler_open(options, net.library) && run_ranks(options, found ? &tuner : NULL);
  if (!options->without_net) {
    ok = net_finalize(&net, ctx) == NCCL_SUCCESS && ok;
  }
  net_close(&net);
  return ok && !is_failing();
}
