/*
 * The calls into Java: the table of upcall stubs, what is done with it before NCCL's first call, and what before the calls that
 * close in an exhausted JVM. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_UPCALLS_H
#define TRIGON_ENTRY_UPCALLS_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "entry_gate.h"

/* What control is asked for; entry_facts.h tells Java the numbers, which compares. */
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
  CALL(dereg_mr)                                                                                                       \
  CALL(iflush)                                                                                                         \
  CALL(close_send)                                                                                                     \
  CALL(close_recv)                                                                                                     \
  CALL(close_listen)                                                                                                   \
  CALL(make_room)

#define NUMBER_OF(call) CALL_##call,
enum control_call { CONTROL_CALLS(NUMBER_OF) };
#undef NUMBER_OF

/*
 * Filled by trigon.entry.UpcallTable, in this order. All pointers and sizes are widened to 64 bits. Few, since each costs some
 * milliseconds of the start: what is not called for every message goes through one of them.
 */
struct upcalls {
  int (*control)(int64_t call, int64_t first, int64_t second, int64_t third, int64_t fourth, int64_t fifth);
  int (*isend)(int64_t comm, int64_t data, int64_t size, int64_t tag, int64_t mhandle, int64_t request_out);
  int (*irecv)(int64_t comm, int64_t data, int64_t sizes, int64_t tags, int64_t mhandles, int64_t request);
  int (*test)(int64_t request, int64_t done_out, int64_t sizes);
};

static struct upcalls java;

#define FIVE_OF(first, second, third, fourth, fifth, ...) (first), (second), (third), (fourth), (fifth)
/* With five arguments at most. */
#define ASK_JAVA(call, ...) java.control(CALL_##call, FIVE_OF(__VA_ARGS__, 0, 0, 0, 0, 0))

/* One of each. */
static void practise_control(int64_t at) {
  (void)ASK_JAVA(open_context, at, 0, at);
  (void)ASK_JAVA(open_default_context, 0);
  (void)ASK_JAVA(finalize, 0);
  (void)ASK_JAVA(devices, at);
  (void)ASK_JAVA(get_properties, 12, 0, at);
  (void)ASK_JAVA(listen, 0, 0, at, at);
  (void)ASK_JAVA(connect, 0, 0, at, at, at);
  (void)ASK_JAVA(accept, 0, at);
  (void)ASK_JAVA(reg_mr, 0, at, 1, 0, at);
  (void)ASK_JAVA(dereg_mr, 0, 0);
  (void)ASK_JAVA(iflush, 0, at, at, at, at);
  (void)ASK_JAVA(close_send, 0);
  (void)ASK_JAVA(close_recv, 0);
  (void)ASK_JAVA(close_listen, 0);
  (void)ASK_JAVA(make_room, 0);
}

/*
 * Calls every entry so often that the JDK has done for it what it does for handles that are called often, at the 128th call, and
 * has linked that, at the next. No plugin is behind them yet; results and pointers go to memory of no meaning.
 * trigon.entry.UpcallTable says why.
 */
static int practise(void) {
  enum { CALLS = 160, CONTROL_EVERY = 15 };
  static int64_t memory[512];
  const int64_t at = (int64_t)(intptr_t)memory;
  for (int call = 0; call < CALLS; call++) {
    if (call % CONTROL_EVERY == 0) {
      practise_control(at);
      memset(memory, 0, sizeof memory);
    }
    (void)java.isend(0, at, 0, 0, 0, at);
    (void)java.irecv(0, at, at, at, at, at);
    (void)java.test(1, at, at);
  }
  return 0;
}

/* What is closed in an exhausted JVM needs a little memory: without it, it would stay open, and go on to write to memory that
 * the host takes back. */
static inline void make_room(void) {
  static atomic_flag made = ATOMIC_FLAG_INIT;
  if (UNLIKELY(!IS_READY()) && !atomic_flag_test_and_set(&made)) {
    (void)ASK_JAVA(make_room, 0);
  }
}

#endif
