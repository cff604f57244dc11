/*
 * The stacks of the calling threads. HotSpot needs about 100 KiB for an upcall, more where pages are larger than 4 KiB:
 * guard pages, and a zone that it keeps for native code. Where there is less it ends the process, so such a call is
 * turned back before.
 */
#ifndef TRIGON_HOST_STACK_H
#define TRIGON_HOST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an upcall needs. */
size_t least_stack_bytes(void);

/* The lowest frame from which this thread may call; UINTPTR_MAX before its first call. */
extern __thread uintptr_t lowest_frame __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline uintptr_t frame_of_caller(void) {
  return (uintptr_t)__builtin_frame_address(0);
}

/* Slow path: this thread's first call, or one that has too little stack. */
__attribute__((cold)) bool look_for_stack(void);

/* Whether this thread has enough stack for an upcall. */
static inline bool has_stack(void) {
  return __builtin_expect(frame_of_caller() >= lowest_frame, 1) || look_for_stack();
}

#endif
