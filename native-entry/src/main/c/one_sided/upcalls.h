/*
 * One-sided communication's calls into Java: the table of upcall stubs, how it is filled, and whether there is anything
 * to call.
 */
#ifndef TRIGON_ONE_SIDED_UPCALLS_H
#define TRIGON_ONE_SIDED_UPCALLS_H

#include <stdatomic.h>
#include <stdint.h>

#include "nccl_one_sided_abi.h"

/* What control is asked for; upcalls.c tells Java the numbers, which compares. */
#define ONE_SIDED_CALLS(CALL)                                                                                          \
  CALL(open_context)                                                                                                   \
  CALL(finalize)                                                                                                       \
  CALL(listen)                                                                                                         \
  CALL(connect)                                                                                                        \
  CALL(create_context)                                                                                                 \
  CALL(destroy_context)                                                                                                \
  CALL(reg_mr_sym)                                                                                                     \
  CALL(dereg_mr_sym)                                                                                                   \
  CALL(close_coll)                                                                                                     \
  CALL(close_listen)                                                                                                   \
  CALL(query_last_error)

#define NUMBER_OF_ONE_SIDED(call) ONE_SIDED_##call,
enum one_sided_call { ONE_SIDED_CALLS(NUMBER_OF_ONE_SIDED) };
#undef NUMBER_OF_ONE_SIDED

/* Whether this process is asked for one-sided communication; Java says so when it has read the settings. */
enum one_sided_setting { ONE_SIDED_UNKNOWN, ONE_SIDED_OFF, ONE_SIDED_ON };

struct one_sided_state {
  _Atomic(int64_t) setting; /* an enum one_sided_setting */
};
extern struct one_sided_state one_sided_state __attribute__((visibility("hidden")));

/* All pointers and sizes are widened to 64 bits. trigon.entry.onesided.OneSidedUpcalls fills it in this order. */
struct one_sided_upcalls {
  int (*control)(int64_t call, int64_t first, int64_t second, int64_t third, int64_t fourth, int64_t fifth,
                 int64_t sixth);
  int (*put)(int64_t handle, int64_t context, int64_t source_offset, int64_t source, int64_t size, int64_t offset,
             int64_t target, int64_t rank, int64_t signal_offset, int64_t signal, int64_t value, int64_t operation,
             int64_t request_out);
  int (*get)(int64_t handle, int64_t context, int64_t remote_offset, int64_t remote, int64_t size, int64_t local_offset,
             int64_t local, int64_t rank, int64_t request_out);
  int (*flush)(int64_t handle, int64_t context, int64_t request_out);
  int (*test)(int64_t handle, int64_t request, int64_t done_out);
  int (*progress)(int64_t handle);
};

/* To be called after a successful bind_one_sided only. */
extern struct one_sided_upcalls java_one_sided __attribute__((visibility("hidden")));

/* To be called by every init: makes Java's side, once. See bind_java. The net plugin's has to be there. */
int bind_one_sided(nccl_logger log);

#endif
