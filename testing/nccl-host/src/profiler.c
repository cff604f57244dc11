#include "profiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "nccl_profiler_abi.h"

struct profiler {
  int api; /* 1 to 7 */
  union {
    const void *table;
    const struct nccl_profiler_v1 *v1;
    const struct nccl_profiler_v4 *v4;
    const struct nccl_profiler_v5 *v5;
  };
};

static struct profiler of_process;
static int mask; /* one for the process, as in NCCL */
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* A descriptor of any version: all begin alike. */
union descriptor {
  struct nccl_profiler_event_v1 v1;
  struct nccl_profiler_event_v2 v2;
  struct nccl_profiler_event_v3 v3;
  struct nccl_profiler_event_v4 v4;
  struct nccl_profiler_event_v7 v7;
};

static bool wants(unsigned types) {
  return ((unsigned)mask & types) != 0;
}

static void *start(const struct profile *profile, unsigned type, void *parent, union descriptor *descriptor) {
  void *handle = NULL;
  if (profile->profiler->api < 5) {
    descriptor->v1.type = (uint8_t)(1U << type);
  } else {
    descriptor->v7.type = 1UL << type;
  }
  descriptor->v7.parentObj = parent;
  descriptor->v7.rank = profile->rank;
  (void)profile->profiler->v5->startEvent(profile->ctx, &handle, descriptor);
  return handle;
}

static void stop(const struct profile *profile, void **handle) {
  if (*handle != NULL) {
    (void)profile->profiler->v5->stopEvent(*handle);
    *handle = NULL;
  }
}

static void say(const struct profile *profile, void *handle, int state, size_t bytes) {
  union nccl_profiler_state_args_v4 args = {.proxyStep = {.transSize = bytes}};
  union nccl_profiler_state_args_v1 args_v1 = {.proxyOp = {.transSize = bytes}};
  if (handle != NULL) {
    void *of_version = profile->profiler->api < 4 ? (void *)&args_v1 : (void *)&args;
    (void)profile->profiler->v5->recordEventState(handle, state, of_version);
  }
}

/* ---- one that counts what net plugins report ---- */

static _Atomic uint64_t net_events_begun;
static _Atomic uint64_t net_events_ended;
static _Atomic uint64_t net_events_wrong;

static int count_init(void **ctx, uint64_t comm_id, int *events, const char *name, int nodes, int ranks, int rank,
                      nccl_logger log) {
  static int some;
  (void)comm_id, (void)name, (void)nodes, (void)ranks, (void)rank, (void)log;
  *ctx = &some;
  *events = 1 << NCCL_PROFILE_NET_PLUGIN;
  return NCCL_SUCCESS;
}

/* Steps are started for the sake of what is below them, whatever the mask says. */
static int count_start(void *ctx, void **handle, void *event) {
  const struct nccl_profiler_event_v7 *descriptor = event;
  (void)ctx;
  *handle = NULL;
  if (descriptor->type == 1 << NCCL_PROFILE_PROXY_STEP) {
    *handle = &net_events_wrong;
  } else if (descriptor->type == 1 << NCCL_PROFILE_NET_PLUGIN) {
    *handle = &net_events_begun;
    net_events_wrong += descriptor->parentObj != &net_events_wrong || descriptor->netPlugin.id == 0 ||
                        descriptor->netPlugin.data == NULL;
    net_events_begun++;
  }
  return NCCL_SUCCESS;
}

static int count_stop(void *handle) {
  net_events_ended += handle == &net_events_begun;
  return NCCL_SUCCESS;
}

static int count_state(void *handle, int state, void *args) {
  (void)handle, (void)state, (void)args;
  return NCCL_SUCCESS;
}

static int count_finalize(void *ctx) {
  (void)ctx;
  return NCCL_SUCCESS;
}

bool profile_check_net_events(int rank) {
  fprintf(stderr, "rank %d: %llu net events\n", rank, (unsigned long long)net_events_begun);
  return (net_events_begun == net_events_ended && net_events_wrong == 0) ||
         fail(rank, "net events: %llu begun, %llu ended, %llu wrong", (unsigned long long)net_events_begun,
              (unsigned long long)net_events_ended, (unsigned long long)net_events_wrong);
}

/* ---- a communicator ---- */

bool profiler_open(const struct options *options, void *library) {
  static const struct nccl_profiler_v5 counting = {"counting",  count_init,  count_start,
                                                   count_stop, count_state, count_finalize};
  char symbol[32];
  if (options->net_events) {
    of_process = (struct profiler){.api = 6, .v5 = &counting};
    return true;
  }
  snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", options->profiler);
  of_process = (struct profiler){.api = options->profiler};
  of_process.table = options->profiler == 0 ? NULL : dlsym(library, symbol);
  if (options->profiler != 0) {
    fprintf(stderr, "rank %d: %s %s\n", options->rank, of_process.table != NULL ? "found" : "there is no", symbol);
  }
  return true;
}

bool profile_begin(struct profile *profile, const struct options *options, uint64_t comm, int rank) {
  *profile = (struct profile){.ranks = options->ranks, .rank = rank, .comm = comm,
                              .algorithm = "RING", .protocol = "SIMPLE"};
  if (of_process.table == NULL) {
    return true;
  }
  pthread_mutex_lock(&init_lock);
  profile->profiler = &of_process;
  int result = of_process.api < 4    ? of_process.v1->init(&profile->ctx, &mask)
               : of_process.api == 4 ? of_process.v4->init(&profile->ctx, &mask, "host", comm, options->nodes,
                                                           options->ranks, rank, host_logger)
                                     : of_process.v5->init(&profile->ctx, comm, &mask, "host", options->nodes,
                                                           options->ranks, rank, host_logger);
  pthread_mutex_unlock(&init_lock);
  return result == NCCL_SUCCESS || fail(rank, "init of the profiler returned %d (%s)", result, result_name(result));
}

bool profile_end(struct profile *profile) {
  int result = profile->ctx == NULL ? NCCL_SUCCESS : profile->profiler->v5->finalize(profile->ctx);
  return result == NCCL_SUCCESS || fail(profile->rank, "finalize of the profiler returned %d", result);
}

/* ---- collectives ---- */

enum { BELOW = 1 << NCCL_PROFILE_PROXY_OP | 1 << NCCL_PROFILE_PROXY_STEP | 1 << NCCL_PROFILE_NET_PLUGIN };

#define NAMED(c)                                                                                                       \
  (c).count = elements;                                                                                                \
  (c).seqNumber = profile->collectives;                                                                                \
  (c).func = "AllReduce";                                                                                              \
  (c).datatype = "ncclFloat32";                                                                                        \
  (c).algo = profile->algorithm;                                                                                       \
  (c).proto = profile->protocol

static void describe(const struct profile *profile, union descriptor *d, size_t elements, uint8_t channels) {
  switch (profile->profiler->api) {
  case 1:
    d->v1.coll.commHash = profile->comm;
    d->v1.coll.seqNumber = profile->collectives;
    d->v1.coll.func = 4;
    d->v1.coll.datatype = 7;
    d->v1.coll.count = elements;
    d->v1.coll.nMaxChannels = channels;
    d->v1.coll.algo = 1;
    d->v1.coll.proto = 2;
    break;
  case 2:
    NAMED(d->v2.coll);
    d->v2.coll.commHash = profile->comm;
    d->v2.coll.nMaxChannels = channels;
    break;
  case 3:
    NAMED(d->v3.coll);
    d->v3.coll.commHash = profile->comm;
    d->v3.coll.nMaxChannels = channels;
    break;
  case 4:
    NAMED(d->v4.coll);
    d->v4.coll.nChannels = channels;
    break;
  default:
    NAMED(d->v7.coll);
    d->v7.coll.nChannels = channels;
    break;
  }
}

void profile_collective_begin(struct profile *profile, size_t elements, int channels) {
  if (profile->profiler == NULL || mask == 0) {
    return;
  }
  union descriptor api = {0};
  union descriptor group = {0};
  union descriptor collective = {0};
  bool has_api = profile->profiler->api >= 5;
  if (has_api) {
    api.v7.collApi.func = "AllReduce";
    api.v7.collApi.count = elements;
    api.v7.collApi.datatype = "ncclFloat32";
    profile->call = start(profile, NCCL_PROFILE_COLL_API, NULL, &api);
  }
  if (wants(BELOW | 1 << NCCL_PROFILE_GROUP | 1 << NCCL_PROFILE_COLL)) {
    profile->group = start(profile, NCCL_PROFILE_GROUP, NULL, &group);
  }
  if (wants(BELOW | 1 << NCCL_PROFILE_COLL)) {
    describe(profile, &collective, elements, (uint8_t)channels);
    profile->collective =
        start(profile, NCCL_PROFILE_COLL, has_api ? profile->call : profile->group, &collective);
  }
}

/* The events of the calls end before the operations do; their handles are still the operations' parents. */
void profile_collective_end(struct profile *profile) {
  if (profile->profiler != NULL) {
    stop(profile, &profile->collective);
    stop(profile, &profile->group);
    stop(profile, &profile->call);
    profile->collectives++;
  }
}

/* ---- operations and steps ---- */

void profile_flow_begin(struct profile *profile, struct flow *flow, bool sends, int channel, int peer,
                        size_t messages) {
  flow->sends = sends;
  if (profile->profiler == NULL || !wants(BELOW)) {
    return;
  }
  union descriptor operation = {0};
  operation.v7.proxyOp = (struct nccl_profiler_proxy_op){
      .pid = getpid(), .channelId = (uint8_t)channel, .peer = peer, .nSteps = (int)messages, .isSend = sends};
  flow->profile = profile;
  flow->operation = start(profile, NCCL_PROFILE_PROXY_OP, profile->collective, &operation);
  say(profile, flow->operation, NCCL_OP_IN_PROGRESS, 0);
  for (int i = 0; i < DEPTH; i++) {
    flow->steps[i] = (struct step){.profile = profile};
  }
}

void profile_flow_end(struct flow *flow) {
  if (flow->profile != NULL) {
    stop(flow->profile, &flow->operation);
    flow->profile = NULL;
  }
}

void profile_step_begin(struct flow *flow) {
  struct step *step = &flow->steps[flow->posted % DEPTH];
  if (flow->profile == NULL || !wants(1 << NCCL_PROFILE_PROXY_STEP | 1 << NCCL_PROFILE_NET_PLUGIN) ||
      (flow->sends && step->event != NULL)) {
    return;
  }
  union descriptor descriptor = {0};
  descriptor.v7.proxyStep.step = (int)flow->posted;
  step->event = start(flow->profile, NCCL_PROFILE_PROXY_STEP, flow->operation, &descriptor);
  if (flow->sends) {
    say(flow->profile, step->event, NCCL_STEP_SEND_GPU_WAIT, 0);
  }
}

void profile_step_ready(struct flow *flow) {
  if (flow->profile != NULL && flow->profile->profiler->api >= 4) {
    say(flow->profile, flow->steps[flow->posted % DEPTH].event, NCCL_STEP_SEND_PEER_WAIT, 0);
  }
}

void profile_step_posted(struct flow *flow, size_t number) {
  if (flow->profile != NULL) {
    int state = flow->sends ? NCCL_STEP_SEND_WAIT : NCCL_STEP_RECV_WAIT;
    say(flow->profile, flow->steps[number % DEPTH].event, state, 0);
  }
}

void profile_step_done(struct flow *flow, size_t number) {
  struct step *step = &flow->steps[number % DEPTH];
  if (flow->profile == NULL) {
    return;
  }
  if (!flow->sends) {
    say(flow->profile, step->event, NCCL_STEP_RECV_FLUSH_WAIT, 0);
    say(flow->profile, step->event, NCCL_STEP_RECV_GPU_WAIT, 0);
  }
  stop(flow->profile, &step->event);
}

void *profile_parent(struct flow *flow) {
  return flow->profile == NULL ? NULL : &flow->steps[flow->posted % DEPTH];
}

int profile_net_event(void **event, int type, void *parent, int64_t plugin_id, void *data) {
  if (type == NCCL_NET_EVENT_START) {
    const struct step *step = parent;
    if (of_process.table != NULL && step->profile != NULL && wants(1 << NCCL_PROFILE_NET_PLUGIN)) {
      union descriptor descriptor = {0};
      descriptor.v7.netPlugin = (struct nccl_profiler_net_plugin){.id = plugin_id, .data = data};
      *event = start(step->profile, NCCL_PROFILE_NET_PLUGIN, step->event, &descriptor);
    }
  } else if (of_process.table != NULL) {
    if (type != NCCL_NET_EVENT_STOP) {
      union nccl_profiler_state_args_v4 args = {.netPlugin = {.data = data}};
      (void)of_process.v5->recordEventState(*event, NCCL_NET_PLUGIN_UPDATE, &args);
    }
    if (type != NCCL_NET_EVENT_UPDATE) {
      (void)of_process.v5->stopEvent(*event);
    }
  }
  return NCCL_SUCCESS;
}
