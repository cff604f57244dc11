/*
 * The recorder's half in C: what NCCL's threads write down of their calls, when TRIGON_TRACE is set. A record is 32
 * bytes of a ring that Java has made (trigon.trace.RingLayout; layouts are compared at the start) and that a thread of
 * Java's takes into a file. A comm's ring is written by the thread that makes the comm's calls; no atomics are
 * needed but the release of the head. Without a trace a call costs one look at `is_tracing`.
 *
 * All of it is inline, in net.c alone.
 */
#ifndef TRIGON_NET_TRACE_H
#define TRIGON_NET_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "../host/probe.h"
#include "lanes.h"

/* trigon.trace.RecordKind has the meanings. */
enum trace_kind {
  TRACE_SEND_WAITS = 1,
  TRACE_SEND_POSTED = 2,
  TRACE_SEND_DONE = 3,
  TRACE_RECEIVE_POSTED = 4,
  TRACE_RECEIVE_DONE = 5,
  TRACE_CALL_FAILED = 6,
};

enum trace_call { TRACE_ISEND = 1, TRACE_IRECV = 2, TRACE_TEST = 3 };

/* What histograms are of. */
enum trace_measure { TRACE_WAIT, TRACE_SENT, TRACE_RECEIVED, TRACE_MEASURES };

enum {
  TRACE_SIZE_CLASSES = 8,
  TRACE_HISTOGRAM_WORDS = 128,
  TRACE_FIRST_BUCKET = 2,
  TRACE_HISTOGRAMS_AT = 1024,
  TRACE_RECORDS_AT = 28 << 10,
  TRACE_THREADS = 64,
  TRACE_CONNECTIONS = 512,
};

struct trace_record {
  uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
  uint64_t subject;
  uint16_t kind;
  uint16_t detail;
  uint32_t argument;
  uint64_t value;
};

struct trace_histogram {
  uint64_t count;
  uint64_t nanoseconds;
  uint64_t buckets[TRACE_HISTOGRAM_WORDS - TRACE_FIRST_BUCKET];
};

struct trace_ring {
  uint64_t magic;
  uint32_t capacity; /* a power of two */
  uint32_t stream;
  _Atomic uint64_t head; /* records ever written */
  uint64_t drained;
  uint64_t waiting_since; /* the next message was refused first; 0: it was not */
  uint64_t posted;
  uint64_t last_call;
  uint64_t done;
  uint64_t posted_at[LANE_REQUESTS]; /* by the request's slot */
  uint64_t numbers[LANE_REQUESTS];
  _Atomic uint64_t owner; /* of a thread's ring: 1 while a thread has it */
  uint64_t events;        /* of a thread's ring: numbers given to events */
  uint64_t is_send;       /* of a comm's ring: 1 if it sends */
  uint64_t absent;        /* of a comm's ring: for how long the thread was elsewhere, as far as it may matter */
  uint64_t asked_in_vain; /* when a test first found nothing since then; 0: none has */
  uint64_t unused[(TRACE_HISTOGRAMS_AT - 64 - 2 * 8 * LANE_REQUESTS - 40) / 8];
  struct trace_histogram histograms[TRACE_MEASURES][TRACE_SIZE_CLASSES];
  uint64_t unused_behind[(TRACE_RECORDS_AT - TRACE_HISTOGRAMS_AT) / 8 -
                         TRACE_MEASURES * TRACE_SIZE_CLASSES * TRACE_HISTOGRAM_WORDS];
  struct trace_record records[];
};

/* TCP's counters of one of this process's connections. */
struct trace_connection {
  uint8_t local[16]; /* as IPv6 has it */
  uint64_t retransmits;
  uint64_t window_limited; /* microseconds */
  uint64_t busy;           /* microseconds */
  uint64_t unused;
};

/* What Java and this library share. Java fills in rings with a release; it takes a comm's out when no calls come. */
struct trace_table {
  _Atomic uint64_t is_tracing;                      /* 1: there are rings */
  _Atomic uint64_t is_ending;                       /* the process exits: Java is to close the trace */
  _Atomic uint64_t has_ended;                       /* it has */
  _Atomic uint64_t lost_events;                     /* of threads that found no ring */
  uint64_t connection_count; /* of the last sample */
  struct trace_connection connections[TRACE_CONNECTIONS];
  struct trace_ring *_Atomic threads[TRACE_THREADS]; /* for threads that NCCL's profiler is called on */
  struct trace_ring *_Atomic comms[LANES];     /* by the slot number in a handle */
};
extern struct trace_table trace_table __attribute__((visibility("hidden")));

/* What a thread of NCCL's has of the trace. */
struct trace_thread {
  struct trace_ring *ring; /* for the events of NCCL's profiler; NULL: none yet */
  uint32_t place;          /* that ring's in the table */
  uint32_t refused;        /* events since there was no ring left */
  uint32_t stream;         /* of the comm whose isend or irecv took a message last; 0: none since somebody asked */
  uint64_t message;        /* that message's number */
};
extern __thread struct trace_thread trace_thread __attribute__((visibility("hidden")));

/* A ring for the calling thread, which gives it back when it ends; NULL: there is none, which is counted. */
struct trace_ring *trace_take_ring(struct trace_thread *thread);

/* Java's thread asks once a second: reads TCP's counters into the table. Returns 0. */
int trace_sample_connections(void);

/* The file of a process that exits gets its end. To be called at the start. */
void trace_until_exit(void);

static inline uint64_t trace_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* The ring of a comm, by its handle or that of one of its requests; NULL: it is not traced. */
static inline struct trace_ring *trace_of(uint64_t handle) {
  if (__builtin_expect(atomic_load_explicit(&trace_table.is_tracing, memory_order_relaxed) == 0, 1)) {
    return NULL;
  }
  return atomic_load_explicit(&trace_table.comms[(handle >> 32) & (LANES - 1)], memory_order_acquire);
}

static inline void trace_write(struct trace_ring *ring, uint64_t time, uint64_t subject, unsigned kind_and_detail,
                               uint32_t argument, uint64_t value) {
  const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  struct trace_record *record = &ring->records[head & (ring->capacity - 1)];
  record->time = time;
  record->subject = subject;
  record->kind = (uint16_t)kind_and_detail;
  record->detail = (uint16_t)(kind_and_detail >> 16);
  record->argument = argument;
  record->value = value;
  atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* Four buckets for each power of two; trigon.trace.RingLayout.bucketOf. */
static inline unsigned trace_bucket(uint64_t nanoseconds) {
  if (nanoseconds < 4) {
    return (unsigned)nanoseconds;
  }
  const unsigned power = 63 - (unsigned)__builtin_clzll(nanoseconds);
  const unsigned bucket = 4 * (power - 1) + (unsigned)(nanoseconds >> (power - 2) & 3);
  const unsigned last = TRACE_HISTOGRAM_WORDS - TRACE_FIRST_BUCKET - 1;
  return bucket < last ? bucket : last;
}

static inline unsigned trace_size_class(uint64_t bytes) {
  static const uint64_t largest[] = {64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  unsigned class = 0;
  while (class < TRACE_SIZE_CLASSES - 1 && bytes > largest[class]) {
    class++;
  }
  return class;
}

static inline void trace_measured(struct trace_ring *ring, enum trace_measure measure, uint64_t bytes,
                                  uint64_t nanoseconds) {
  struct trace_histogram *histogram = &ring->histograms[measure][trace_size_class(bytes)];
  histogram->count++;
  histogram->nanoseconds += nanoseconds;
  histogram->buckets[trace_bucket(nanoseconds)]++;
}

/*
 * A call for the comm: whether its thread was elsewhere while a message was under way. A message that is done soon
 * after the thread is back was late for its absence. Soon is short against the absence: a thread that sleeps between
 * its tests, again and again, was elsewhere for its last sleep only.
 */
static inline void trace_called(struct trace_ring *ring, uint64_t now) {
  enum { ABSENT_NS = 30 * 1000, SOON_NS = 100 * 1000, SOON_PART = 8 };
  const uint64_t gap = ring->last_call == 0 ? 0 : now - ring->last_call;
  if (ring->asked_in_vain != 0 && now - ring->asked_in_vain > SOON_NS &&
      now - ring->asked_in_vain > ring->absent / SOON_PART) {
    ring->absent = 0;
    ring->asked_in_vain = 0;
  }
  if (gap > ABSENT_NS && ring->posted != ring->done) {
    ring->absent += gap;
  }
  ring->last_call = now;
}

static inline uint32_t trace_absence(struct trace_ring *ring) {
  const uint64_t absent = ring->absent;
  ring->absent = 0;
  ring->asked_in_vain = 0;
  return absent > UINT32_MAX ? UINT32_MAX : (uint32_t)absent;
}

static inline void trace_found_nothing(struct trace_ring *ring, uint64_t now) {
  if (ring->absent != 0 && ring->asked_in_vain == 0) {
    ring->asked_in_vain = now;
  }
}

static inline void trace_failed(struct trace_ring *ring, uint64_t time, enum trace_call call, int result) {
  trace_write(ring, time, ring->posted, TRACE_CALL_FAILED | (unsigned)call << 16, 0, (uint64_t)(int64_t)result);
}

/* A request was made: its message has the comm's next number. */
static inline void trace_begin(struct trace_ring *ring, uint64_t time, void *request, uint64_t bytes,
                               enum trace_kind kind) {
  const unsigned slot = (unsigned)((uintptr_t)request >> 2) & (LANE_REQUESTS - 1);
  ring->posted_at[slot] = time;
  ring->numbers[slot] = ring->posted;
  trace_write(ring, time, ring->posted, kind, 0, bytes);
  struct trace_thread *thread = &trace_thread;
  thread->stream = ring->stream;
  thread->message = ring->posted;
  PROBE3(posted, kind, ring->posted, bytes);
  ring->posted++;
}

/* What isend has answered; the time is that before the call. */
static inline int trace_sent(struct trace_ring *ring, uint64_t time, uint64_t bytes, void *request, int result) {
  trace_called(ring, time);
  if (result != 0) {
    trace_failed(ring, time, TRACE_ISEND, result);
  } else if (request != NULL) {
    const uint64_t since = ring->waiting_since == 0 ? time : ring->waiting_since;
    ring->waiting_since = 0;
    trace_measured(ring, TRACE_WAIT, bytes, time - since);
    trace_begin(ring, time, request, bytes, TRACE_SEND_POSTED);
  } else if (ring->waiting_since == 0) {
    ring->waiting_since = time;
    trace_write(ring, time, ring->posted, TRACE_SEND_WAITS, 0, bytes);
    PROBE2(credit, ring->posted, bytes);
  }
  return result;
}

/* What irecv has answered. */
static inline int trace_received(struct trace_ring *ring, uint64_t time, uint64_t bytes, void *request, int result) {
  trace_called(ring, time);
  if (result != 0) {
    trace_failed(ring, time, TRACE_IRECV, result);
  } else if (request != NULL) {
    trace_begin(ring, time, request, bytes, TRACE_RECEIVE_POSTED);
  }
  return result;
}

/* What test has answered; the time is that after the call. */
static inline int trace_tested(struct trace_ring *ring, uint64_t asked, bool done, uint64_t bytes, int result) {
  const bool is_send = ring->is_send != 0;
  const uint64_t now = trace_now();
  trace_called(ring, now);
  if (is_flush(asked)) {
    return result; /* the trace is of messages */
  }
  if (result != 0) {
    trace_failed(ring, now, TRACE_TEST, result);
    return result;
  }
  const unsigned slot = (unsigned)(asked >> 2) & (LANE_REQUESTS - 1);
  if (done) {
    trace_measured(ring, is_send ? TRACE_SENT : TRACE_RECEIVED, bytes, now - ring->posted_at[slot]);
    trace_write(ring, now, ring->numbers[slot], is_send ? TRACE_SEND_DONE : TRACE_RECEIVE_DONE, trace_absence(ring),
                bytes);
    PROBE3(done, is_send, ring->numbers[slot], bytes);
    ring->done++;
  } else {
    trace_found_nothing(ring, now);
  }
  return result;
}

#endif
