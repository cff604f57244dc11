/*
 * Plays NCCL's part with a network plugin: loads it, initialises it, and for each rank connects a ring of ranks from
 * one thread and moves data from another. Knows nothing of the plugin but NCCL's interface. Exits with 0 only if all
 * was right.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuts.h"
#include "host.h"
#include "profiler.h"
#include "trace.h"
#include "transfers.h"
#include "tune.h"
#include "tuner.h"

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

/* Apart from NCCL's own calls. */
static void show_devices(struct rank *rank) {
  for (int dev = 0; dev < rank->devices; dev++) {
    struct net_properties p;
    if (net_get_properties(rank->net, dev, &p) == NCCL_SUCCESS) {
      fprintf(stderr,
              "rank %d: device %d: %s, pci %s, guid 0x%llx, port %d, %d Mbit/s, %g us, pointers %d, receives %d\n",
              rank->number, dev, p.name, p.pci_path == NULL ? "none" : p.pci_path, (unsigned long long)p.guid, p.port,
              p.speed, (double)p.latency, p.pointer_support, p.max_receives);
    }
  }
}

static void print_rounds(const struct rank *rank) {
  for (int i = 0; rank->round_seconds != NULL && i < rank->rounds; i++) {
    printf("%s%.1f", i == 0 ? ", \"round_us\": [" : ", ", rank->round_seconds[i] * 1e6);
  }
  fputs(rank->round_seconds == NULL ? "" : "]", stdout);
}

static void report(const struct rank *rank) {
  const struct options *o = rank->options;
  bool ring = o->test == TEST_RING;
  double seconds = rank->seconds / (ring && rank->rounds > 0 ? rank->rounds : 1);
  double algorithm = ring && seconds > 0 ? (double)o->bytes / seconds / 1e9 : 0;
  double bus = algorithm * 2 * (o->ranks - 1) / o->ranks;
  pthread_mutex_lock(&print_lock);
  if (o->print_json) {
    printf("{\"rank\": %d, \"ranks\": %d, \"plugin\": \"%s\", \"api\": %d, \"test\": \"%s\", \"channels\": %d, "
           "\"bytes\": %zu, \"iterations\": %d, \"seconds\": %.9f, \"algbw_gbytes\": %.6f, \"busbw_gbytes\": %.6f, "
           "\"wrong\": %zu",
           rank->number, o->ranks, net_name(rank->net), rank->net->api, test_name(o->test), o->channels, o->bytes,
           ring ? rank->rounds : o->iterations, seconds, algorithm, bus, rank->wrong);
    print_rounds(rank);
    puts("}");
    fflush(stdout);
  } else {
    fprintf(stderr, "rank %d: %zu bytes, %.3f ms, algbw %.3f GB/s, busbw %.3f GB/s, %zu wrong\n", rank->number,
            o->bytes, seconds * 1e3, algorithm, bus, rank->wrong);
  }
  pthread_mutex_unlock(&print_lock);
}

/* The name that NCCL gives to such a thread. */
static void name_thread(const char *role, const char *name) {
  trace_thread(role);
  pthread_setname_np(pthread_self(), name);
}

/* JavaVM of jni.h, as far as it is called here; and what GetEnv answers a thread that the JVM does not know. */
struct java_vm {
  void *before[6];
  int32_t (*get_env)(struct java_vm **vm, void **environment, int32_t version);
};
enum { DETACHED = -2, VERSION_1_8 = 0x00010008 };

/* An upcall makes its thread one of the JVM's, until that ends. */
static bool has_called_java(void) {
  void *library = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  int32_t (*find)(struct java_vm ***, int32_t, int32_t *) = NULL;
  if (library != NULL) {
    *(void **)&find = dlsym(library, "JNI_GetCreatedJavaVMs");
  }
  struct java_vm **vm = NULL;
  int32_t count = 0;
  void *environment;
  return find == NULL || find(&vm, 1, &count) != 0 || count != 1 ||
         (*vm)->get_env(vm, &environment, VERSION_1_8) != DETACHED;
}

/* What NCCL's progress thread does. */
static void *run_progress(void *argument) {
  struct rank *rank = argument;
  thread_rank = rank->number;
  name_thread("progress", "NCCL Progress 0");
  bool ok = rank->options->test == TEST_RING ? run_ring(rank) : run_exchange(rank);
  if (ok && rank->options->without_java && has_called_java()) {
    ok = fail(rank->number, "a call for a message has reached the JVM");
  }
  return ok && rank->wrong == 0 ? rank : NULL;
}

/* What NCCL's service thread does. */
static void *run_service(void *argument) {
  struct rank *rank = argument;
  const struct options *options = rank->options;
  thread_rank = rank->number;
  name_thread("service", "NCCL Service 0");
  size_t longest = options->test == TEST_RING ? options->slice_bytes : options->bytes + 128;
  bool ok = connect_channels(rank, longest);
  if (ok && rank->rendezvous != NULL) {
    char name[32];
    snprintf(name, sizeof name, "connected.%d", rank->communicator);
    ok = rendezvous_barrier(rank->rendezvous, name, options->ranks, now() + options->timeout_seconds);
  }
  if (ok) {
    (void)sleep((unsigned)options->pause_seconds);
    pthread_t progress;
    void *result = NULL;
    ok = pthread_create(&progress, NULL, run_progress, rank) == 0 && pthread_join(progress, &result) == 0 &&
         result != NULL;
  }
  trace_ordered(true);
  if (ok) {
    report(rank);
  } else {
    (void)sleep((unsigned)options->linger_seconds);
  }
  return (rank->stays || close_channels(rank)) && ok ? rank : NULL;
}

static bool end_communicator(struct rank *rank) {
  int result = net_finalize(rank->net, rank->ctx);
  return result == NCCL_SUCCESS || fail(rank->number, "finalize returned %d", result);
}

/* What NCCL does from the making of a communicator to its end, or to its last message. */
static bool run_communicator(struct rank *rank) {
  const uint64_t id = 0x7267000000000000ULL + (unsigned)rank->communicator;
  struct profile profile;
  trace_communicator(rank->communicator);
  int result = net_begin(rank->net, &rank->ctx, id, &rank->devices);
  if (result != NCCL_SUCCESS || rank->devices < 1) {
    return fail(rank->number, "init returned %d (%s), with %d devices", result, result_name(result), rank->devices);
  }
  caller_show_one_sided(rank->net, rank->options->as);
  if (rank->options->verbose) {
    show_devices(rank);
  }
  if (!profile_begin(&profile, rank->options, id, rank->number)) {
    return false;
  }
  rank->profile = &profile;
  struct tuner tuner;
  if (rank->options->tuned != 0 && tuner_find(&tuner, rank->net->library, 5)) {
    rank->tuner = &tuner;
    result = tuner_init(&tuner, &rank->tuner_ctx, id, (size_t)rank->options->ranks, (size_t)rank->options->nodes);
    if (result != NCCL_SUCCESS) {
      return fail(rank->number, "init of the tuner returned %d (%s)", result, result_name(result));
    }
  }
  pthread_t service;
  void *served = NULL;
  bool ok = pthread_create(&service, NULL, run_service, rank) == 0 && pthread_join(service, &served) == 0 &&
            served != NULL;
  ok = (rank->tuner == NULL || tuner_finalize(rank->tuner, rank->tuner_ctx) == NCCL_SUCCESS) && ok;
  ok = profile_end(&profile) && ok;
  return (rank->stays || end_communicator(rank)) && ok;
}

/* A communicator of some of the ranks. */
struct member {
  struct rank rank;
  struct options options;
};

static struct member *become_member(const struct rank *of, int communicator) {
  const int *sizes = of->options->sizes;
  const bool shrinks = communicator < of->options->communicators && sizes[communicator] < sizes[communicator - 1];
  struct member *member = calloc(1, sizeof *member);
  if (member != NULL) {
    member->options = *of->options;
    member->options.ranks = sizes[communicator - 1];
    member->rank = (struct rank){.options = &member->options, .net = of->net, .rendezvous = of->rendezvous,
                                 .number = of->number, .communicator = communicator, .stays = true,
                                 .dies = shrinks && of->number >= sizes[communicator]};
  }
  return member;
}

static bool end_membership(struct member *member) {
  bool ok = member == NULL || (close_channels(&member->rank) && end_communicator(&member->rank));
  free(member);
  return ok;
}

/*
 * Communicators whose ranks change. One that the next one is smaller than loses a rank, and has to fail; it is closed
 * all the same, before the next one is made or after.
 */
static bool run_sizes(const struct rank *of) {
  const struct options *options = of->options;
  struct member *former = NULL;
  bool ok = true;
  for (int k = options->from; ok && k <= options->communicators && of->number < options->sizes[k - 1]; k++) {
    struct member *member = become_member(of, k);
    if (member == NULL) {
      return fail(of->number, "no memory");
    }
    const bool loses = k < options->communicators && options->sizes[k] < options->sizes[k - 1];
    ok = run_communicator(&member->rank) != loses || fail(of->number, "communicator %d: a rank lost, %d", k, loses);
    if (ok && loses) {
      recover();
    }
    ok = end_membership(former) && ok;
    former = options->overlapping ? member : NULL;
    ok = (options->overlapping || end_membership(member)) && ok;
  }
  return end_membership(former) && ok;
}

/* What an application's thread does, for one rank. */
static void *run_rank(void *argument) {
  struct rank *rank = argument;
  const struct options *options = rank->options;
  thread_rank = rank->number;
  double deadline = now() + options->timeout_seconds;
  if (options->ranks > 1 &&
      (rank->rendezvous = rendezvous_open(options->rendezvous, rank->number, deadline)) == NULL) {
    return NULL;
  }
  bool ok = !options->print_rounds || options->test != TEST_RING ||
            (rank->round_seconds = calloc((size_t)options->iterations, sizeof *rank->round_seconds)) != NULL ||
            fail(rank->number, "no memory for the times of %d rounds", options->iterations);
  const bool changing = options->sizes[0] != 0;
  ok = ok && (!changing || run_sizes(rank));
  for (int k = 1; ok && !changing && k <= options->communicators; k++) {
    rank->communicator = k;
    rank->seconds = 0;
    rank->rounds = 0;
    ok = run_communicator(rank);
  }
  if (rank->rendezvous != NULL) {
    const int last = changing ? options->sizes[options->communicators - 1] : options->ranks;
    ok = ok && rendezvous_leave(rank->rendezvous, last, now() + options->timeout_seconds);
    rendezvous_close(rank->rendezvous);
  }
  free(rank->round_seconds);
  return ok ? rank : NULL;
}

static bool run_transfer(const struct options *options) {
  struct net net;
  thread_rank = options->rank;
  if ((options->trace != NULL && !trace_open(options->trace, options->rank, options->ranks)) ||
      !caller_open(&net, options->as, options->plugin, options->api)) {
    return false;
  }
  if (!profiler_open(options, net.library)) {
    return false;
  }
  trace_line("open ncclNetPlugin_v%d, optional slots: %s", net.api, net_optional_slots(&net));
  struct rank *ranks = calloc((size_t)options->local_ranks, sizeof *ranks);
  pthread_t threads[64];
  bool ok = ranks != NULL;
  int started = 0;
  for (; ok && started < options->local_ranks; started++) {
    ranks[started] = (struct rank){.options = options, .net = &net, .number = options->rank + started};
    ok = pthread_create(&threads[started], NULL, run_rank, &ranks[started]) == 0;
  }
  for (int i = 0; i < started; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    ok &= result != NULL;
  }
  (void)sleep((unsigned)options->rest_seconds);
  int kept = gpu_descriptors();
  ok &= kept == 0 || fail(options->rank, "%d descriptors of a GPU's memory are left", kept);
  net_close(&net);
  free(ranks);
  ok &= trace_write() && (!options->net_events || profile_check_net_events(options->rank));
  return ok && !is_failing();
}

int main(int argc, char **argv) {
  struct options options;
  if (!parse_options(&options, argc, argv)) {
    return 2;
  }
  if (options.spin) {
    never_sleep();
  }
  if (options.mode == MODE_CONTRACT) {
    return run_contract(&options) == 0 ? 0 : 1;
  }
  if (options.tuner != 0) {
    return run_tune(&options) ? 0 : 1;
  }
  if (options.cuts != NULL && !cuts_watch(options.cuts)) {
    return 1;
  }
  return run_transfer(&options) ? 0 : 1;
}
