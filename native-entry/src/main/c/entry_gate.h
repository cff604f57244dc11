/*
 * Which calls may go to Java, and what the others are told. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_GATE_H
#define TRIGON_ENTRY_GATE_H

#include <stdatomic.h>

#include "entry_log.h"
#include "entry_stack.h"

enum { NOT_STARTED, READY, FAILED, FORKED, EXHAUSTED };
static atomic_int state = NOT_STARTED;

static void after_fork_in_child(void) {
  atomic_store(&state, FORKED);
}

static void stop_calls(void) {
  int expected = READY;
  (void)atomic_compare_exchange_strong(&state, &expected, EXHAUSTED);
}

/* Slow path of every call that cannot go to Java. */
__attribute__((cold, noinline)) static int refuse(const char *call) {
  static atomic_flag said_fork = ATOMIC_FLAG_INIT;
  if (atomic_load(&state) == FORKED) {
    if (!atomic_flag_test_and_set(&said_fork)) {
      log_text(NCCL_LOG_WARN,
               "%s in a process forked after Trigon started: its JVM did not come along; start the processes "
               "before NCCL, or with exec (python: multiprocessing's \"spawn\" or \"forkserver\")",
               call);
    }
    return NCCL_SYSTEM_ERROR;
  }
  if (atomic_load(&state) == EXHAUSTED) { /* said once, and at every init */
    return NCCL_SYSTEM_ERROR;
  }
  if (atomic_load(&state) == READY) {
    log_text(NCCL_LOG_WARN,
             "%s on a thread with too little stack: Java needs %zu KiB of it; give the program's threads more, for "
             "example with ulimit -s 8192",
             call, least_stack_bytes() / 1024);
    return NCCL_SYSTEM_ERROR;
  }
  log_text(NCCL_LOG_WARN, "%s without a successful init", call);
  return NCCL_SYSTEM_ERROR;
}

#define UNLIKELY(condition) __builtin_expect((condition), 0)
#define IS_READY() (atomic_load_explicit(&state, memory_order_acquire) == READY)
#define HAS_STACK() (!UNLIKELY(frame_of_caller() < lowest_frame) || has_stack())
#define MAY_CALL() (IS_READY() && HAS_STACK())
/* What only gives back is done in an exhausted JVM too. */
#define MAY_RELEASE() (MAY_CALL() || (atomic_load(&state) == EXHAUSTED && HAS_STACK()))

#endif
