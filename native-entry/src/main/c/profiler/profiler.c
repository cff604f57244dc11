/*
 * The profiler's tables for versions 1 to 7 of its API: NCCL says what it does, and a trace (TRIGON_TRACE) and a
 * policy's program of events get it. A call never fails, and none but init goes to Java: it is made on the user's
 * thread and on NCCL's progress thread.
 *
 * The versions' descriptors differ in where things are, and in whether functions and types have numbers or names. So
 * each version has a layout; what is done with it is the same for all, and compiled for each.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "../tuner/upcalls.h"
#include "events.h"

/* What names and numbers are in a trace: trigon.report.model.CollectiveFinder has them. 0: another one. */
enum { SEND = 6, RECV = 7, NODES_SHIFT = 32 };

/* A communicator's profiler. */
struct profile {
  uint64_t hash; /* NCCL's number of the communicator; up to v3 the events have it */
  uint64_t ranks; /* and above them the nodes; up to v3 both are 0 */
};

/* Where things are in a descriptor; 0: nowhere. */
struct layout {
  unsigned version;
  struct {
    uint8_t comm, sequence, function, count, datatype, channels, algorithm, protocol;
  } coll;
  struct {
    uint8_t comm, function, count, datatype, peer;
  } p2p;
};

#define AT(version, field) offsetof(struct nccl_profiler_event_v##version, field)
#define COLL(v, comm_at, channels_field)                                                                               \
  {                                                                                                                    \
    comm_at, AT(v, coll.seqNumber), AT(v, coll.func), AT(v, coll.count), AT(v, coll.datatype),                         \
        AT(v, coll.channels_field), AT(v, coll.algo), AT(v, coll.proto)                                                \
  }
#define P2P(v, comm_at)                                                                                                \
  {                                                                                                                    \
    comm_at, AT(v, p2p.func), AT(v, p2p.count), AT(v, p2p.datatype), AT(v, p2p.peer)                                   \
  }

static const struct layout layout_v1 = {1, COLL(1, AT(1, coll.commHash), nMaxChannels), P2P(1, AT(1, p2p.commHash))};
static const struct layout layout_v2 = {2, COLL(2, AT(2, coll.commHash), nMaxChannels), P2P(2, AT(2, p2p.commHash))};
static const struct layout layout_v3 = {3, COLL(3, AT(3, coll.commHash), nMaxChannels), P2P(3, AT(3, p2p.commHash))};
static const struct layout layout_v4 = {4, COLL(4, 0, nChannels), P2P(4, 0)};
static const struct layout layout_v5 = {5, COLL(7, 0, nChannels), P2P(7, 0)};
static const struct layout layout_v6 = {6, COLL(7, 0, nChannels), P2P(7, 0)};
static const struct layout layout_v7 = {7, COLL(7, 0, nChannels), P2P(7, 0)};

/* ---- what a descriptor says ---- */

static inline uint64_t word_at(const char *descriptor, uint8_t offset) {
  uint64_t word;
  memcpy(&word, descriptor + offset, sizeof word);
  return word;
}

static inline int32_t number_at(const char *descriptor, uint8_t offset) {
  int32_t number;
  memcpy(&number, descriptor + offset, sizeof number);
  return number;
}

static inline const char *name_at(const char *descriptor, uint8_t offset) {
  return (const char *)(uintptr_t)word_at(descriptor, offset);
}

/* The place of a name among others, from 1 on. */
static uint32_t place_of(const char *name, const char *const *names) {
  for (uint32_t i = 0; name != NULL && names[i] != NULL; i++) {
    if (strcasecmp(name, names[i]) == 0) {
      return i + 1;
    }
  }
  return 0;
}

static uint32_t function_of(const struct layout *layout, const char *descriptor, uint8_t offset) {
  static const char *const names[] = {"AllReduce", "Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                      "Send",      "Recv",      "AlltoAll", "Gather",    "Scatter",
                                      NULL};
  static const uint8_t of_v1[] = {2, 3, 4, 5, 1, 0, SEND, RECV};
  if (layout->version > 1) {
    return place_of(name_at(descriptor, offset), names);
  }
  const uint8_t number = (uint8_t)descriptor[offset];
  return number < sizeof of_v1 ? of_v1[number] : 0;
}

static uint32_t algorithm_of(const struct layout *layout, const char *descriptor, uint8_t offset) {
  static const char *const names[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT",
                                      NULL};
  return layout->version > 1 ? place_of(name_at(descriptor, offset), names) : (uint8_t)descriptor[offset] + 1U;
}

static uint32_t protocol_of(const struct layout *layout, const char *descriptor, uint8_t offset) {
  static const char *const names[] = {"LL", "LL128", "SIMPLE", NULL};
  return layout->version > 1 ? place_of(name_at(descriptor, offset), names) : (uint8_t)descriptor[offset] + 1U;
}

/* A type's name has its bits as the first number in it: ncclFloat32, ncclFloat8e4m3. */
static uint64_t element_bytes(const char *type) {
  const char *bits = type == NULL ? NULL : strpbrk(type, "0123456789");
  return bits == NULL ? 1 : strtoul(bits, NULL, 10) / 8;
}

static uint64_t bytes_of(const struct layout *layout, const char *descriptor, uint8_t count, uint8_t datatype) {
  static const uint8_t of_v1[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const uint64_t elements = word_at(descriptor, count);
  if (layout->version > 1) {
    return elements * element_bytes(name_at(descriptor, datatype));
  }
  const uint8_t number = (uint8_t)descriptor[datatype];
  return elements * (number < sizeof of_v1 ? of_v1[number] : 1);
}

/* ---- events ---- */

static inline void *begin(struct trace_ring *ring, uint64_t time, unsigned type, bool sends, const void *parent,
                          uint32_t argument) {
  void *handle = new_handle(ring, type, sends);
  trace_write(ring, time, number_of(handle), TRACE_EVENT_START | type << 16, argument, number_of(parent));
  return handle;
}

static void *begin_collective(const struct layout *l, const struct profile *profile, struct trace_ring *ring,
                              uint64_t time, const char *d, const void *parent) {
  void *handle = begin(ring, time, NCCL_PROFILE_COLL, false, parent, 0);
  const uint32_t how = function_of(l, d, l->coll.function) | algorithm_of(l, d, l->coll.algorithm) << 8 |
                       protocol_of(l, d, l->coll.protocol) << 16 | (uint32_t)(uint8_t)d[l->coll.channels] << 24;
  const uint32_t rank = (uint32_t)number_at(d, AT(7, rank));
  write_detail(ring, time, handle, 0, rank, profile->ranks);
  write_detail(ring, time, handle, 1, how, bytes_of(l, d, l->coll.count, l->coll.datatype));
  write_detail(ring, time, handle, 2, 0, word_at(d, l->coll.sequence));
  write_detail(ring, time, handle, 3, 0, l->coll.comm == 0 ? profile->hash : word_at(d, l->coll.comm));
  return handle;
}

static void *begin_message(const struct layout *l, const struct profile *profile, struct trace_ring *ring,
                           uint64_t time, const char *d, const void *parent) {
  void *handle = begin(ring, time, NCCL_PROFILE_P2P, false, parent, 0);
  const uint32_t rank = (uint32_t)number_at(d, AT(7, rank));
  const uint32_t peer = (uint32_t)number_at(d, l->p2p.peer);
  write_detail(ring, time, handle, 0, rank, profile->ranks);
  write_detail(ring, time, handle, 1, function_of(l, d, l->p2p.function),
               bytes_of(l, d, l->p2p.count, l->p2p.datatype));
  write_detail(ring, time, handle, 2, peer, 0);
  write_detail(ring, time, handle, 3, 0, l->p2p.comm == 0 ? profile->hash : word_at(d, l->p2p.comm));
  return handle;
}

/* A parent in another process (PXN) is none here. */
static void *begin_operation(struct trace_ring *ring, uint64_t time, const struct nccl_profiler_proxy_op *op,
                             const void *parent) {
  const bool sends = op->isSend != 0;
  void *handle = begin(ring, time, NCCL_PROFILE_PROXY_OP, sends, op->pid == getpid() ? parent : NULL,
                       (uint32_t)op->channelId | (sends ? 1U << 8 : 0));
  write_detail(ring, time, handle, 1, (uint32_t)op->nSteps,
               (uint32_t)op->peer | (uint64_t)(uint32_t)op->chunkSize << 32);
  return handle;
}

/* v6 and v7 */
static void *begin_copy_collective(const struct profile *profile, struct trace_ring *ring, uint64_t time,
                                   const struct nccl_profiler_event_v7 *d, const void *parent) {
  const char *bytes = (const char *)d;
  void *handle = begin(ring, time, NCCL_PROFILE_CE_COLL, false, parent, 0);
  write_detail(ring, time, handle, 0, (uint32_t)d->rank, profile->ranks);
  write_detail(ring, time, handle, 1, function_of(&layout_v6, bytes, AT(7, ceColl.func)),
               d->ceColl.count * element_bytes(d->ceColl.datatype));
  write_detail(ring, time, handle, 2, 0, d->ceColl.seqNumber);
  write_detail(ring, time, handle, 3, 0, profile->hash);
  return handle;
}

static void *begin_kernel(const struct layout *l, struct trace_ring *ring, uint64_t time,
                          const struct nccl_profiler_kernel_ch *kernel, const void *parent) {
  void *handle = begin(ring, time, NCCL_PROFILE_KERNEL_CH, false, parent, kernel->channelId);
  if (l->version >= 4) {
    write_detail(ring, time, handle, 1, 0, kernel->pTimer);
  }
  return handle;
}

/* What is called for each message. */
static inline void *begin_step(struct trace_ring *ring, uint64_t time, int step, const void *parent) {
  trace_thread.stream = 0; /* a receive's irecv comes next */
  return begin(ring, time, NCCL_PROFILE_PROXY_STEP, is_send(parent), parent, (uint32_t)step);
}

static inline int start(const struct layout *l, const void *ctx, void **handle, const void *descriptor) {
  const struct nccl_profiler_event_v7 *d = descriptor; /* what all versions have is where v7 has it */
  struct trace_ring *ring = ctx == NULL || handle == NULL || d == NULL ? NULL : ring_of_thread();
  if (handle != NULL) {
    *handle = NULL;
  }
  const uint64_t bit = ring == NULL ? 0 : l->version < 5 ? (uint8_t)d->type : d->type;
  if (bit == 0) {
    return NCCL_SUCCESS;
  }
  const uint64_t time = trace_now();
  const void *parent = d->parentObj;
  const unsigned type = (unsigned)__builtin_ctzll(bit);
  switch (type) {
  case NCCL_PROFILE_PROXY_STEP: *handle = begin_step(ring, time, d->proxyStep.step, parent); break;
  case NCCL_PROFILE_PROXY_OP: *handle = begin_operation(ring, time, &d->proxyOp, parent); break;
  case NCCL_PROFILE_COLL: *handle = begin_collective(l, ctx, ring, time, descriptor, parent); break;
  case NCCL_PROFILE_P2P: *handle = begin_message(l, ctx, ring, time, descriptor, parent); break;
  case NCCL_PROFILE_KERNEL_CH: *handle = begin_kernel(l, ring, time, &d->kernelCh, parent); break;
  case NCCL_PROFILE_GROUP:
    if (l->version < 5) { /* the call, as far as these versions know it */
      *handle = begin(ring, time, type, false, parent, 0);
    }
    break;
  case NCCL_PROFILE_COLL_API:
  case NCCL_PROFILE_P2P_API:
  case NCCL_PROFILE_KERNEL_LAUNCH: *handle = begin(ring, time, type, false, parent, 0); break;
  case NCCL_PROFILE_CE_COLL: *handle = begin_copy_collective(ctx, ring, time, d, parent); break;
  case NCCL_PROFILE_CE_SYNC:
    *handle = begin(ring, time, type, false, parent, (uint32_t)d->ceCollSync.nRanks);
    break;
  case NCCL_PROFILE_CE_BATCH:
    *handle = begin(ring, time, type, false, parent, (uint32_t)d->ceCollBatch.numOps);
    write_detail(ring, time, *handle, 1, 0, d->ceCollBatch.totalBytes);
    break;
  case NCCL_PROFILE_KERNEL_PHASE:
    *handle = begin(ring, time, type, false, parent, d->kernelPhase.channelId | (uint32_t)d->kernelPhase.phaseId << 8);
    write_detail(ring, time, *handle, 1, 0, d->kernelPhase.pTimer);
    break;
  default: break; /* nobody asked for it */
  }
  return NCCL_SUCCESS;
}

/* ---- communicators ---- */

#define BIT(type) (1 << NCCL_PROFILE_##type)

/*
 * NCCL's mask is the process's. Channels of kernels only where they are asked for: NCCL connects 128 more channels for
 * them, and small messages take longer.
 */
static int events_of(unsigned version) {
  const char *kernels = getenv("TRIGON_TRACE_KERNELS");
  const bool with_kernels = kernels != NULL && strcmp(kernels, "true") == 0;
  int mask = BIT(COLL) | BIT(P2P) | BIT(PROXY_OP) | BIT(PROXY_STEP);
  mask |= version < 5 ? BIT(GROUP) : BIT(COLL_API) | BIT(P2P_API) | BIT(KERNEL_LAUNCH);
  mask |= version >= 6 ? BIT(CE_COLL) | BIT(CE_SYNC) | BIT(CE_BATCH) : 0;
  mask |= with_kernels && version >= 3 ? BIT(KERNEL_CH) : 0;
  mask |= with_kernels && version >= 7 ? BIT(KERNEL_PHASE) : 0;
  return mask;
}

static bool is_set(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && *value != '\0';
}

/* There is a policy, as far as is known before Java has read the settings. */
static bool may_have_policy(void) {
  const int64_t setting = atomic_load(&policy_state.setting);
  return setting == POLICY_SET || (setting == POLICY_UNKNOWN && is_set("TRIGON_POLICY"));
}

/*
 * Whether the policy has a program for events. Its file is read meanwhile, as for the tuner, whose init waits for that,
 * too; NCCL asks for the profiler first.
 */
static bool policy_wants_events(nccl_logger log) {
  enum { LONGEST_WAIT_MS = 30 * 1000 };
  if (!may_have_policy() || bind_tuner(log) != NCCL_SUCCESS) {
    return false;
  }
  const struct timespec moment = {.tv_nsec = 1000 * 1000};
  for (int waited = 0; waited < LONGEST_WAIT_MS && atomic_load(&policy_state.setting) == POLICY_SET &&
                       atomic_load(&policy_state.events) == EVENTS_UNKNOWN;
       waited++) {
    (void)nanosleep(&moment, NULL);
  }
  return atomic_load(&policy_state.events) == EVENTS_WANTED;
}

/* Where nothing can be recorded NCCL calls nothing more: no error of ours is the user's. */
static int open_profile(unsigned version, void **ctx, int *mask, uint64_t hash, int ranks, int nodes,
                        nccl_logger log) {
  if (ctx == NULL) {
    return NCCL_SUCCESS;
  }
  *ctx = NULL;
  const bool is_asked = policy_wants_events(log) || atomic_load(&trace_table.is_tracing) != 0;
  struct profile *profile = is_asked && mask != NULL ? malloc(sizeof *profile) : NULL;
  if (profile != NULL) {
    *profile = (struct profile){.hash = hash, .ranks = (uint32_t)ranks | (uint64_t)(uint32_t)nodes << NODES_SHIFT};
    *ctx = profile;
    *mask |= events_of(version);
  }
  return NCCL_SUCCESS;
}

static int finalize(void *ctx) {
  free(ctx);
  return NCCL_SUCCESS;
}

/* ---- tables ---- */

/* Up to v3 no state that is looked at has arguments. */
static int state_without_arguments(void *handle, int state, void *args) {
  (void)args;
  return record_state(handle, state, NULL);
}

static int state_with_arguments(void *handle, int state, void *args) {
  return record_state(handle, state, args);
}

#define START(v)                                                                                                       \
  static int start_v##v(void *ctx, void **handle, void *event) {                                                       \
    return start(&layout_v##v, ctx, handle, event);                                                                    \
  }

#define INIT_UNTIL_V3(v)                                                                                               \
  static int init_v##v(void **ctx, int *mask) {                                                                        \
    return open_profile(v, ctx, mask, 0, 0, 0, NULL);                                                                  \
  }

#define INIT_SINCE_V5(v)                                                                                               \
  static int init_v##v(void **ctx, uint64_t comm_id, int *mask, const char *name, int nodes, int ranks, int rank,      \
                       nccl_logger log) {                                                                              \
    (void)name, (void)rank;                                                                                            \
    return open_profile(v, ctx, mask, comm_id, ranks, nodes, log);                                                     \
  }

static int init_v4(void **ctx, int *mask, const char *name, uint64_t comm_hash, int nodes, int ranks, int rank,
                   nccl_logger log) {
  (void)name, (void)rank;
  return open_profile(4, ctx, mask, comm_hash, ranks, nodes, log);
}

INIT_UNTIL_V3(1)
INIT_UNTIL_V3(2)
INIT_UNTIL_V3(3)
INIT_SINCE_V5(5)
INIT_SINCE_V5(6)
INIT_SINCE_V5(7)

/*
 * NCCL looks for a profiler in every net plugin. Without a trace and a policy there is none: each name is an indirect
 * function (STT_GNU_IFUNC), as those of the tuner are, and dlsym gives what its resolver returns. A policy without a
 * program for events has one that wants none, as the next version may have one.
 */
typedef void (*found)(void);

static found if_asked(const void *table) {
  return (found)(intptr_t)(is_set("TRIGON_TRACE") || may_have_policy() ? table : NULL);
}

#define TABLE(v, type, state)                                                                                          \
  START(v)                                                                                                             \
  static const struct type table_v##v = {"Trigon", init_v##v, start_v##v, stop_event, state, finalize};                \
  static found find_v##v(void) {                                                                                       \
    return if_asked(&table_v##v);                                                                                      \
  }                                                                                                                    \
  __attribute__((visibility("default"), ifunc("find_v" #v))) extern void ncclProfiler_v##v(void);

TABLE(1, nccl_profiler_v1, state_without_arguments)
TABLE(2, nccl_profiler_v1, state_without_arguments)
TABLE(3, nccl_profiler_v1, state_without_arguments)
TABLE(4, nccl_profiler_v4, state_with_arguments)
TABLE(5, nccl_profiler_v5, state_with_arguments)
TABLE(6, nccl_profiler_v5, state_with_arguments)
TABLE(7, nccl_profiler_v5, state_with_arguments)
