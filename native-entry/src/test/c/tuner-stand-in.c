/*
 * Stand-in for the rest of the library around the tuner: a module with it exports NCCL's tables and these functions, by
 * which a test sets the state of the process. No JVM starts; the policy is a fixed choice.
 */
#include "tuner-stand-in.h"

#include "../../main/c/host/java_state.h"
#include "../../main/c/net/upcalls.h"
#include "../../main/c/tuner/upcalls.h"

#define EXPORTED __attribute__((visibility("default")))

struct policy_state policy_state;
struct tuner_upcalls java_tuner;
_Atomic bool net_is_taken;
_Atomic(enum java_state) java_state = READY;
__thread uintptr_t lowest_frame;

static struct fixed_policy policy;

bool look_for_stack(void) {
  return true;
}

int refuse(const char *call) {
  (void)call;
  return NCCL_SYSTEM_ERROR;
}

static int open(int64_t comm_id, int64_t ranks, int64_t nodes, int64_t ctx_out) {
  (void)comm_id, (void)ranks, (void)nodes;
  *(int64_t *)(intptr_t)ctx_out = 1;
  return NCCL_SUCCESS;
}

/* trigon.entry.tuner.CostTable does the same: a chosen entry has the cost 0. */
static int get_coll_info(int64_t ctx, int64_t scratch, int64_t coll, int64_t bytes, int64_t pipe_ops, int64_t table,
                         int64_t algorithms, int64_t protocols, int64_t reg_buff, int64_t channels_out) {
  (void)ctx, (void)scratch, (void)coll, (void)bytes, (void)pipe_ops, (void)algorithms, (void)reg_buff;
  if (policy.algorithm >= 0) {
    ((float *)(intptr_t)table)[policy.algorithm * protocols + policy.protocol] = 0;
  }
  *(int *)(intptr_t)channels_out = policy.channels;
  return NCCL_SUCCESS;
}

static int get_chunk_size(int64_t ctx, int64_t scratch, int64_t coll, int64_t bytes, int64_t algorithm,
                          int64_t protocol, int64_t channels, int64_t chunk) {
  (void)ctx, (void)scratch, (void)coll, (void)bytes, (void)algorithm, (void)protocol, (void)channels, (void)chunk;
  return NCCL_SUCCESS;
}

static int close(int64_t ctx) {
  (void)ctx;
  return NCCL_SUCCESS;
}

int bind_tuner(nccl_logger log) {
  (void)log;
  java_tuner = (struct tuner_upcalls){open, get_coll_info, get_chunk_size, close};
  return NCCL_SUCCESS;
}

EXPORTED void set_process(struct process_state state) {
  atomic_store(&net_is_taken, state.is_net_taken);
  atomic_store(&policy_state.tuning, state.is_tuning_off ? TUNING_OFF : TUNING_AUTO);
  atomic_store(&policy_state.setting, state.has_policy ? POLICY_SET : POLICY_NOT_SET);
  atomic_store(&policy_state.deciding, state.has_policy ? 1 : 0);
  policy = state.policy;
}
