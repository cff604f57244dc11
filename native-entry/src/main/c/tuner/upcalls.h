/*
 * The tuner's calls into Java: the table of upcall stubs, how it is filled, and whether a call is worth it.
 */
#ifndef TRIGON_TUNER_UPCALLS_H
#define TRIGON_TUNER_UPCALLS_H

#include <stdatomic.h>
#include <stdint.h>

#include "nccl_tuner_abi.h"

/* Whether this process has a policy; Java says so when it has read the settings. */
enum policy_setting { POLICY_UNKNOWN, POLICY_NOT_SET, POLICY_SET };

/* Whether the policy has a program for NCCL's events; Java says so when it has looked at the file first. */
enum policy_events { EVENTS_UNKNOWN, EVENTS_UNWANTED, EVENTS_WANTED };

/* The setting "tuning": whether the built-in tuner decides; Java says so when it has read the settings. */
enum tuning_setting { TUNING_UNKNOWN, TUNING_OFF, TUNING_AUTO };

/* What Java tells C; it writes. */
struct policy_state {
  _Atomic(int64_t) setting;  /* an enum policy_setting */
  _Atomic(int64_t) deciding; /* communicators whose policy has programs for the tuner; 0: no call has to go to Java */
  _Atomic(int64_t) events;   /* an enum policy_events */
  _Atomic(int64_t) tuning;   /* an enum tuning_setting */
};
extern struct policy_state policy_state __attribute__((visibility("hidden")));

/* What a program works on: its context, and behind it its stack. On the calling thread's own stack. */
enum { TUNER_SCRATCH_BYTES = 1536, TUNER_SCRATCH_ALIGNMENT = 64 };

/* All pointers and sizes are widened to 64 bits. trigon.entry.tuner.TunerUpcalls fills it in this order. */
struct tuner_upcalls {
  int (*open)(int64_t comm_id, int64_t ranks, int64_t nodes, int64_t ctx_out);
  int (*get_coll_info)(int64_t ctx, int64_t scratch, int64_t coll, int64_t bytes, int64_t pipe_ops, int64_t table,
                       int64_t algorithms, int64_t protocols, int64_t reg_buff, int64_t channels_out);
  int (*get_chunk_size)(int64_t ctx, int64_t scratch, int64_t coll, int64_t bytes, int64_t algorithm, int64_t protocol,
                        int64_t channels, int64_t chunk);
  int (*close)(int64_t ctx);
};

/* To be called after a successful bind_tuner only. */
extern struct tuner_upcalls java_tuner __attribute__((visibility("hidden")));

/* To be called by every init: makes Java's side of the tuner, once. See bind_java. */
int bind_tuner(nccl_logger log);

#endif
