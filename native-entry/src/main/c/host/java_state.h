/* Whether calls may go to Java, and what the others are told. Any thread. */
#ifndef TRIGON_HOST_JAVA_STATE_H
#define TRIGON_HOST_JAVA_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "stack.h"

/*
 * EXHAUSTED: Java has run out of memory or threads; what only gives back goes on. FORKED: this is a child, without a
 * JVM.
 */
enum java_state { NOT_STARTED, READY, FAILED, FORKED, EXHAUSTED };
extern _Atomic(enum java_state) java_state __attribute__((visibility("hidden")));

/* The JVM is there, or not; unless this is a child by now. */
void set_started(bool started);

/* Only what gives back may call from now on. Called by the JVM as well. */
void stop_calls(void);

/* pthread_atfork's. */
void after_fork_in_child(void);

/* The slow path of a call that cannot go to Java: says why where that has not been said. Returns an ncclResult_t. */
__attribute__((cold)) int refuse(const char *call);

/* The same where it could, but its plugin has not been initialised. */
__attribute__((cold)) int refuse_without_init(const char *call);

static inline bool is_ready(void) {
  return atomic_load_explicit(&java_state, memory_order_acquire) == READY;
}

static inline bool may_call(void) {
  return is_ready() && has_stack();
}

/* What only gives back is done in an exhausted JVM too. */
static inline bool may_release(void) {
  return may_call() || (atomic_load(&java_state) == EXHAUSTED && has_stack());
}

#endif
