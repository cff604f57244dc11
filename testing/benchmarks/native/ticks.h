/* The processor's time stamp counter: finer, and cheaper to read, than the kernel's clock. */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>

#if defined(__x86_64__)

#include <x86intrin.h>

/* Not before the instructions in front of it are done. */
static inline uint64_t ticks_now(void) {
  unsigned processor;
  return __rdtscp(&processor);
}

#elif defined(__aarch64__)

static inline uint64_t ticks_now(void) {
  uint64_t ticks;
  __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks;
}

#else
#error "how to read this processor's time stamp counter is not known"
#endif

#endif
