/*
 * What a record costs the thread that writes it: the entry library's own code, which is inline, on a ring that nobody
 * drains, and in a shared library, where a thread's variables are further away. Off: the look that each call takes to
 * see that there is no trace. Best of ROUNDS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "net/trace.h"
#include "profiler/events.h"

enum { ROUNDS = 2000, CALLS = 1 << 12, CAPACITY = 8192 }; /* a round is shorter than a time slice */

static struct trace_ring *comm;

static uint64_t handle_of(int call) {
  return 1UL << 32 | (uint64_t)(unsigned)call << 2 | 1;
}

/* The loop itself, which all of them have. */
static void nothing(int call) {
  uint64_t handle = handle_of(call);
  __asm__ __volatile__("" : : "r"(handle) : "memory");
}

static void off(int call) {
  struct trace_ring *ring = trace_of(handle_of(call));
  __asm__ __volatile__("" : : "r"(ring) : "memory");
}

static void posted(int call) {
  void *request = (void *)(uintptr_t)handle_of(call);
  struct trace_ring *ring = trace_of(handle_of(call));
  (void)trace_sent(ring, trace_now(), 65536, request, 0);
}

static void tested(int call) {
  (void)trace_tested(trace_of(handle_of(call)), handle_of(call), false, 0, 0);
}

static void done(int call) {
  (void)trace_tested(trace_of(handle_of(call)), handle_of(call), true, 65536, 0);
}

static void clock_alone(int call) {
  (void)call;
  uint64_t time = trace_now();
  __asm__ __volatile__("" : : "r"(time) : "memory");
}

static void profiler_state(int call) {
  (void)call;
  (void)record_state((void *)(uintptr_t)(1UL << HANDLE_NUMBER_SHIFT | NCCL_PROFILE_PROXY_STEP), NCCL_STEP_SEND_WAIT,
                     NULL);
}

static void profiler_event(int call) {
  struct trace_ring *ring = ring_of_thread();
  const uint64_t time = trace_now();
  void *handle = new_handle(ring, NCCL_PROFILE_PROXY_STEP, true);
  trace_write(ring, time, number_of(handle), TRACE_EVENT_START | NCCL_PROFILE_PROXY_STEP << 16, (uint32_t)call, 1);
}

static double nanoseconds(void (*one)(int)) {
  double best = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    const uint64_t start = trace_now();
    for (int call = 0; call < CALLS; call++) {
      one(call);
    }
    const double each = (double)(trace_now() - start) / CALLS;
    best = each < best ? each : best;
  }
  return best;
}

static struct trace_ring *new_ring(uint32_t stream) {
  struct trace_ring *ring = calloc(1, sizeof *ring + CAPACITY * sizeof(struct trace_record));
  if (ring == NULL) {
    abort();
  }
  ring->capacity = CAPACITY;
  ring->stream = stream;
  return ring;
}

__attribute__((visibility("default"))) void measure_trace(void);

void measure_trace(void) {
  const double loop = nanoseconds(nothing);
  const double call_off = nanoseconds(off) - loop;
  comm = new_ring(1);
  comm->is_send = 1;
  atomic_store(&trace_table.comms[1], comm);
  atomic_store(&trace_table.threads[0], new_ring(2));
  atomic_store(&trace_table.is_tracing, 1);
  printf("{\"off_ns\": %.2f, \"clock_ns\": %.1f, \"posted_ns\": %.1f, \"test_ns\": %.1f, \"done_ns\": %.1f, "
         "\"profiler_start_ns\": %.1f, \"profiler_state_ns\": %.1f}\n",
         call_off < 0 ? 0 : call_off, nanoseconds(clock_alone) - loop, nanoseconds(posted) - loop,
         nanoseconds(tested) - loop, nanoseconds(done) - loop, nanoseconds(profiler_event) - loop,
         nanoseconds(profiler_state) - loop);
}
