/*
 * What NCCL's profiler events become in a trace: records in a ring of the thread that NCCL calls on. An event's handle
 * has its number, and what is looked at later without any table: its type, and whether it is of a send.
 *
 * All of it is inline, in profiler.c alone; a record costs what one of the net plugin's does.
 */
#ifndef TRIGON_PROFILER_EVENTS_H
#define TRIGON_PROFILER_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../net/trace.h"
#include "nccl_profiler_abi.h"

/* trigon.trace.RecordKind has the meanings. */
enum { TRACE_EVENT_START = 16, TRACE_EVENT_DETAIL = 17, TRACE_EVENT_STOP = 18, TRACE_EVENT_STATE = 19 };

enum { HANDLE_TYPE_BITS = 4, HANDLE_NUMBER_SHIFT = 5, HANDLE_IS_SEND = 1 << HANDLE_TYPE_BITS };

static inline unsigned type_of(const void *handle) {
  return (unsigned)((uintptr_t)handle & ((1 << HANDLE_TYPE_BITS) - 1));
}

static inline bool is_send(const void *handle) {
  return ((uintptr_t)handle & HANDLE_IS_SEND) != 0;
}

/* 0: no event. */
static inline uint64_t number_of(const void *handle) {
  return (uint64_t)(uintptr_t)handle >> HANDLE_NUMBER_SHIFT;
}

/* The calling thread's ring; NULL: there is no trace, or no ring left, and the event is counted as lost. */
static inline struct trace_ring *ring_of_thread(void) {
  if (__builtin_expect(atomic_load_explicit(&trace_table.is_tracing, memory_order_relaxed) == 0, 0)) {
    return NULL;
  }
  struct trace_thread *thread = &trace_thread;
  return __builtin_expect(thread->ring != NULL, 1) ? thread->ring : trace_take_ring(thread);
}

/* Numbers are the process's: a thread's have its ring's place in their lower bits. */
static inline void *new_handle(struct trace_ring *ring, unsigned type, bool sends) {
  const uint64_t number = ++ring->events * TRACE_THREADS + trace_thread.place;
  return (void *)(uintptr_t)(number << HANDLE_NUMBER_SHIFT | (sends ? HANDLE_IS_SEND : 0) | type);
}

static inline void write_detail(struct trace_ring *ring, uint64_t time, const void *handle, unsigned index,
                                uint32_t argument, uint64_t value) {
  trace_write(ring, time, number_of(handle), TRACE_EVENT_DETAIL | index << 16, argument, value);
}

static inline int stop_event(void *handle) {
  struct trace_ring *ring = handle == NULL ? NULL : ring_of_thread();
  if (ring != NULL) {
    trace_write(ring, trace_now(), number_of(handle), TRACE_EVENT_STOP | type_of(handle) << 16, 0, 0);
  }
  return NCCL_SUCCESS;
}

/* NCCL says again and again that a message's data are there, at each try to send it; once is enough. */
static inline bool is_said_again(struct trace_ring *ring, uint64_t number) {
  uint64_t *last = &ring->numbers[number / TRACE_THREADS % LANE_REQUESTS];
  const bool again = *last == number;
  *last = number;
  return again;
}

/*
 * States of steps, and the kernel's stop. What isend or irecv took right before on this thread is the step's message:
 * the record names it by its comm's stream and its number.
 */
static inline int record_state(const void *handle, int state, const union nccl_profiler_state_args_v4 *timed) {
  struct trace_ring *ring = handle == NULL ? NULL : ring_of_thread();
  if (ring == NULL) {
    return NCCL_SUCCESS;
  }
  const uint64_t number = number_of(handle);
  uint32_t argument = 0;
  uint64_t value = 0;
  switch (state) {
  case NCCL_STEP_SEND_PEER_WAIT:
    if (is_said_again(ring, number)) {
      return NCCL_SUCCESS;
    }
    break;
  case NCCL_STEP_SEND_WAIT:
  case NCCL_STEP_RECV_WAIT: {
    struct trace_thread *thread = &trace_thread;
    argument = thread->stream;
    value = thread->message;
    thread->stream = 0;
    break;
  }
  case NCCL_KERNEL_STOP: value = timed == NULL ? 0 : timed->kernelCh.pTimer; break;
  case NCCL_STEP_SEND_GPU_WAIT:
  case NCCL_STEP_RECV_FLUSH_WAIT:
  case NCCL_STEP_RECV_GPU_WAIT:
  case NCCL_OP_IN_PROGRESS: break;
  default: return NCCL_SUCCESS;
  }
  trace_write(ring, trace_now(), number, TRACE_EVENT_STATE | (unsigned)state << 16, argument, value);
  return NCCL_SUCCESS;
}

#endif
