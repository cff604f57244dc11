/*
 * The tuner's tables for versions 2 to 7 of its API: NCCL asks it how to run a collective. The answer is a policy's,
 * which runs in Java; without one for this communicator no call goes there. What no policy has chosen, the built-in
 * tuner chooses (built_in.h).
 *
 * NCCL fails the user's collective where getCollInfo fails, whatever its header says. So no call here fails but init
 * of a policy that is required. Where Java cannot be asked, NCCL's own choice stands.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../host/java_state.h"
#include "../net/upcalls.h"
#include "built_in.h"
#include "upcalls.h"

#define P(pointer) ((int64_t)(intptr_t)(pointer))

/* False, and said once: a call cannot go to Java. */
static bool may_ask(const char *call) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (__builtin_expect(may_call(), 1)) {
    return true;
  }
  if (!atomic_flag_test_and_set(&said)) {
    (void)refuse(call);
  }
  return false;
}

/* ---- a communicator's tuner ---- */

/* Java cannot be had: whether that is to fail the communicator is said by the environment alone. */
static bool is_required(void) {
  const char *mode = getenv("TRIGON_POLICY_MODE");
  return mode != NULL && strcmp(mode, "required") == 0;
}

/*
 * NCCL keeps for a communicator, instead of a pointer: in bits 0 to 31, the handle of its policy in Java, 0 where none
 * decides; in bits 32 to 62, how many ranks it has if the built-in tuner decides, else 0; in bit 63, whether ranks
 * share nodes.
 */
enum { RANKS_SHIFT = 32, SHARE_NODES_SHIFT = 63 };
#define POLICY_MASK ((uintptr_t)UINT32_MAX)
#define RANKS_MASK ((uintptr_t)INT32_MAX)

static inline int64_t policy_of(const void *ctx) {
  return (int64_t)((uintptr_t)ctx & POLICY_MASK);
}

static inline struct tuned_ranks ranks_of(const void *ctx) {
  return (struct tuned_ranks){(uintptr_t)ctx >> RANKS_SHIFT & RANKS_MASK, (uintptr_t)ctx >> SHARE_NODES_SHIFT != 0};
}

/* The built-in tuner decides for communicators whose data Trigon carries, all of which have several nodes. */
static uintptr_t ranks_to_tune(size_t ranks, size_t nodes) {
  const bool tunes = nodes > 1 && atomic_load(&net_is_taken) && atomic_load(&policy_state.tuning) == TUNING_AUTO;
  return tunes ? (uintptr_t)(ranks != nodes) << SHARE_NODES_SHIFT | ((uintptr_t)ranks & RANKS_MASK) << RANKS_SHIFT : 0;
}

static int open_policy(int64_t *policy, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger log) {
  if (atomic_load(&policy_state.setting) == POLICY_NOT_SET) {
    return NCCL_SUCCESS;
  }
  int result = bind_tuner(log);
  if (result != NCCL_SUCCESS) {
    return is_ready() || is_required() ? result : NCCL_SUCCESS;
  }
  return may_ask("init") ? java_tuner.open((int64_t)comm_id, (int64_t)ranks, (int64_t)nodes, P(policy)) : NCCL_SUCCESS;
}

static int open_tuner(void **ctx, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger log) {
  int64_t policy = 0;
  if (ctx == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  int result = open_policy(&policy, comm_id, ranks, nodes, log);
  *ctx = result == NCCL_SUCCESS ? (void *)(ranks_to_tune(ranks, nodes) | (uintptr_t)policy) : NULL;
  return result;
}

static int init(void **ctx, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger log,
                struct nccl_tuner_domains *domains, struct nccl_tuner_constants *constants) {
  (void)domains, (void)constants; /* NCCL's numbers stay */
  return open_tuner(ctx, comm_id, ranks, nodes, log);
}

static int init_v7(void **ctx, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger log,
                   struct nccl_tuner_domains *domains, struct nccl_tuner_constants_v7 *constants) {
  (void)domains, (void)constants;
  return open_tuner(ctx, comm_id, ranks, nodes, log);
}

/* Up to v4 a communicator has no number. */
static int init_v4(size_t ranks, size_t nodes, nccl_logger log, void **ctx) {
  return open_tuner(ctx, 0, ranks, nodes, log);
}

static int finalize(void *ctx) {
  return policy_of(ctx) != 0 && may_release() ? java_tuner.close(policy_of(ctx)) : NCCL_SUCCESS;
}

/* ---- decisions ---- */

static inline bool is_asked(const void *ctx) {
  return policy_of(ctx) != 0 && atomic_load_explicit(&policy_state.deciding, memory_order_relaxed) != 0;
}

static int ask_policy(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algorithms, int protocols,
                      int reg_buff, int *channels) {
  if (table == NULL || channels == NULL || !is_asked(ctx) || !may_ask("getCollInfo")) {
    return NCCL_SUCCESS;
  }
  _Alignas(TUNER_SCRATCH_ALIGNMENT) char scratch[TUNER_SCRATCH_BYTES];
  return java_tuner.get_coll_info(policy_of(ctx), P(scratch), coll, (int64_t)bytes, pipe_ops, P(table), algorithms,
                                  protocols, reg_buff, P(channels));
}

static int get_coll_info(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algorithms, int protocols,
                         int reg_buff, int *channels) {
  int result = ask_policy(ctx, coll, bytes, pipe_ops, table, algorithms, protocols, reg_buff, channels);
  const struct tuned_ranks ranks = ranks_of(ctx);
  if (table != NULL && channels != NULL && ranks.count != 0) {
    const struct cost_table costs = {(float *)(void *)table, algorithms, protocols};
    const int own = built_in_decide(costs, ranks, coll, bytes);
    *channels = *channels == 0 ? own : *channels;
  }
  return result;
}

static int get_coll_info_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algorithms,
                            int protocols, int *channels) {
  return get_coll_info(ctx, coll, bytes, pipe_ops, table, algorithms, protocols, 0, channels);
}

/*
 * There is no table, and NCCL takes what it is told, on machines that cannot do it too. So a policy may choose what
 * every machine can do: rings, trees for all-reduce, and not LL128. The built-in tuner decides nothing: it would not
 * see what NCCL prefers, nor what NCCL_ALGO and NCCL_PROTO leave out.
 */
static int get_coll_info_v2(void *ctx, int coll, size_t bytes, int coll_net_support, int nvls_support, int pipe_ops,
                            int *algorithm, int *protocol, int *channels) {
  (void)coll_net_support, (void)nvls_support;
  if (algorithm == NULL || protocol == NULL) {
    return NCCL_SUCCESS;
  }
  float table[NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];
  for (int a = 0; a < NCCL_TUNER_ALGORITHMS; a++) {
    for (int p = 0; p < NCCL_TUNER_PROTOCOLS; p++) {
      bool usable = a == NCCL_TUNER_RING || (a == NCCL_TUNER_TREE && coll == NCCL_TUNER_ALL_REDUCE);
      table[a][p] = usable && p != NCCL_TUNER_LL128 ? 1 : NCCL_TUNER_IGNORE;
    }
  }
  int result = ask_policy(ctx, coll, bytes, pipe_ops, (float **)(void *)table, NCCL_TUNER_ALGORITHMS,
                          NCCL_TUNER_PROTOCOLS, 0, channels);
  for (int a = 0; a < NCCL_TUNER_ALGORITHMS; a++) {
    for (int p = 0; p < NCCL_TUNER_PROTOCOLS; p++) {
      if (table[a][p] == 0) {
        *algorithm = a;
        *protocol = p;
      }
    }
  }
  return result;
}

static int get_chunk_size(void *ctx, int coll, size_t bytes, int algorithm, int protocol, int channels,
                          size_t *chunk) {
  if (!is_asked(ctx) || chunk == NULL || !may_ask("getChunkSize")) {
    return NCCL_SUCCESS;
  }
  _Alignas(TUNER_SCRATCH_ALIGNMENT) char scratch[TUNER_SCRATCH_BYTES];
  return java_tuner.get_chunk_size(policy_of(ctx), P(scratch), coll, (int64_t)bytes, algorithm, protocol, channels,
                                   P(chunk));
}

static const struct nccl_tuner_v2 table_v2 = {"Trigon", init_v4, get_coll_info_v2, finalize};
static const struct nccl_tuner_v3 table_v3 = {"Trigon", init_v4, get_coll_info_v3, finalize};
static const struct nccl_tuner_v4 table_v4 = {"Trigon", init_v4, get_coll_info, finalize};
static const struct nccl_tuner_v5 table_v5 = {"Trigon", init, get_coll_info, finalize};
static const struct nccl_tuner_v6 table_v6 = {"Trigon", init, get_coll_info, finalize, get_chunk_size};
static const struct nccl_tuner_v7 table_v7 = {"Trigon", init_v7, get_coll_info, finalize, get_chunk_size};

/*
 * NCCL looks for a tuner in every net plugin, and leaves out a choice of its own where there is one: what the
 * communicator's CTAPolicy asks for (getAlgoInfo in enqueue.cc), which a tuner cannot see. So there is none without a
 * policy where NCCL_CTA_POLICY is set or the built-in tuner is off: each name is an indirect function (STT_GNU_IFUNC),
 * and dlsym gives what its resolver returns.
 */
typedef void (*found)(void);

static found unless_left(const void *table) {
  bool has_policy = atomic_load(&policy_state.setting) != POLICY_NOT_SET;
  bool is_left = atomic_load(&policy_state.tuning) == TUNING_OFF || getenv("NCCL_CTA_POLICY") != NULL;
  return (found)(intptr_t)(is_left && !has_policy ? NULL : table);
}

#define EXPORTED(version)                                                                                              \
  static found find_v##version(void) {                                                                                 \
    return unless_left(&table_v##version);                                                                             \
  }                                                                                                                    \
  __attribute__((visibility("default"), ifunc("find_v" #version))) extern void ncclTunerPlugin_v##version(void)

EXPORTED(2);
EXPORTED(3);
EXPORTED(4);
EXPORTED(5);
EXPORTED(6);
EXPORTED(7);
