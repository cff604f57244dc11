/*
 * The net plugin's calls into Java: the table of upcall stubs, and how it is filled.
 */
#ifndef TRIGON_NET_UPCALLS_H
#define TRIGON_NET_UPCALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nccl_net_abi.h"

/* What control is asked for; facts.c tells Java the numbers, which compares. */
#define CONTROL_CALLS(CALL)                                                                                            \
  CALL(open_context)                                                                                                   \
  CALL(open_default_context)                                                                                           \
  CALL(finalize)                                                                                                       \
  CALL(devices)                                                                                                        \
  CALL(get_properties)                                                                                                 \
  CALL(listen)                                                                                                         \
  CALL(connect)                                                                                                        \
  CALL(accept)                                                                                                         \
  CALL(reg_mr)                                                                                                         \
  CALL(reg_mr_dma_buf)                                                                                                 \
  CALL(dereg_mr)                                                                                                       \
  CALL(iflush)                                                                                                         \
  CALL(close_send)                                                                                                     \
  CALL(close_recv)                                                                                                     \
  CALL(close_listen)                                                                                                   \
  CALL(make_room)

#define NUMBER_OF(call) CALL_##call,
enum control_call { CONTROL_CALLS(NUMBER_OF) };
#undef NUMBER_OF

/* In a context's place, for the API versions that have none: the one that open_default_context opens. */
enum { DEFAULT_CONTEXT = -1 };

/*
 * All pointers and sizes are widened to 64 bits. Few stubs, since each costs some milliseconds of the start: what is
 * not called for every message goes through one of them. trigon.entry.net.UpcallTable fills it in this order.
 */
struct net_upcalls {
  int (*control)(int64_t call, int64_t first, int64_t second, int64_t third, int64_t fourth, int64_t fifth);
  int (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t mhandle, int64_t request_out);
  int (*irecv)(int64_t comm, int64_t data, int64_t sizes, int64_t tags, int64_t mhandles, int64_t request);
  int (*test)(int64_t request, int64_t done_out, int64_t sizes);
};

/* Until bind_net has succeeded, all of them refuse: "without a successful init". */
extern struct net_upcalls java_net __attribute__((visibility("hidden")));

#define FIVE_OF(first, second, third, fourth, fifth, ...) (first), (second), (third), (fourth), (fifth)
/* With five arguments at most. */
#define ASK_JAVA(call, ...) java_net.control(CALL_##call, FIVE_OF(__VA_ARGS__, 0, 0, 0, 0, 0))

/*
 * True once NCCL has asked for a device's properties. It asks the net that it takes alone, before the communicator's
 * tuner begins; it initialises nets that it leaves, too (ncclNetInit in net.cc, later plugin/net.cc).
 */
extern _Atomic bool net_is_taken __attribute__((visibility("hidden")));

/* To be called by every init: makes Java's side of the net plugin, once. See bind_java. */
int bind_net(nccl_logger log);

/*
 * Before a call that gives back in an exhausted JVM: what is closed needs a little memory, without which it would stay
 * open, and go on to write to memory that the host takes back.
 */
void make_room(void);

#endif
