/*
 * The stacks of the calling threads. HotSpot needs about 100 KiB for an upcall: guard pages, and a zone that it keeps for
 * native code. Where there is less it ends the process, so such a call is turned back before. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_STACK_H
#define TRIGON_ENTRY_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* JDK 25 on x86-64: 97 KiB are too few; below 106 KiB a thread cannot be attached. A thread of 128 KiB has some to spare. */
enum { LEAST_STACK_BYTES = 108 * 1024 };

/* The lowest frame from which this thread may call; not known before its first call. */
static __thread uintptr_t lowest_frame __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

static inline uintptr_t frame_of_caller(void) {
  return (uintptr_t)__builtin_frame_address(0);
}

/* Slow path: this thread's first call, or one that has too little stack. */
__attribute__((cold, noinline)) static bool has_stack(void) {
  if (lowest_frame == UINTPTR_MAX) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
      return false;
    }
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      lowest_frame = (uintptr_t)lowest + LEAST_STACK_BYTES;
    }
    (void)pthread_attr_destroy(&attributes);
  }
  return frame_of_caller() >= lowest_frame;
}

#endif
