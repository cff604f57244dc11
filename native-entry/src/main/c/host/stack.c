#include "stack.h"

#include <pthread.h>
#include <unistd.h>

/*
 * What HotSpot keeps of each stack by its defaults, the same on x86-64 and arm64: the red, yellow, reserved and shadow
 * zones.
 */
static const size_t kept_zones[] = {4 * 1024, 8 * 1024, 4 * 1024, 80 * 1024};

/*
 * What is left to a call. JDK 25 on x86-64, with pages of 4 KiB, so 96 KiB in the zones: 97 KiB in all are too few;
 * below 106 KiB a thread cannot be attached. A thread of 128 KiB has some to spare.
 */
enum { CALL_STACK_BYTES = 12 * 1024 };

/* HotSpot rounds each zone up to whole pages, which have up to 64 KiB on arm64. */
size_t least_stack_bytes(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = CALL_STACK_BYTES;
  for (size_t i = 0; i < sizeof kept_zones / sizeof kept_zones[0]; i++) {
    bytes += (kept_zones[i] + page - 1) / page * page;
  }
  return bytes;
}

__thread uintptr_t lowest_frame __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

bool look_for_stack(void) {
  if (lowest_frame == UINTPTR_MAX) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
      return false;
    }
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      lowest_frame = (uintptr_t)lowest + least_stack_bytes();
    }
    (void)pthread_attr_destroy(&attributes);
  }
  return frame_of_caller() >= lowest_frame;
}
