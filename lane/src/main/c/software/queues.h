/*
 * The queues of the software device: rings in memory of Java's, which frees it once nobody can use them. Neither side
 * of a ring locks, allocates or waits. Indexes count up without end.
 */
#ifndef TRIGON_SOFTWARE_QUEUES_H
#define TRIGON_SOFTWARE_QUEUES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "verbs_abi.h"

struct queue_pair;

/* A word that one side writes and the other reads, on a cache line of its own. */
struct counter {
  uint64_t before[8];
  _Atomic uint64_t value;
  uint64_t behind[7];
};

struct send_entry {
  uint64_t number;
  uint64_t local_address;
  uint64_t remote_address;
  uint32_t length;
  uint32_t local_key;
  uint32_t remote_key;
  uint32_t immediate; /* in host order */
  uint32_t opcode;    /* on the wire */
  uint32_t flags;
};

/* Filled by one posting thread, and worked off under the queue pair's lock. */
struct send_queue {
  struct counter head; /* below it, slots are free: who has the lock, release; the posting thread, acquire */
  struct counter tail; /* the posting thread, seq_cst: it looks afterwards whether somebody works; all, seq_cst */
  uint64_t head_seen;  /* the posting thread's */
  uint64_t mask;
  uint64_t inline_bytes;
  struct send_entry *entries;
  unsigned char *inlined;
};

struct receive_entry {
  uint64_t number;
  uint64_t address;
  uint32_t length;
  uint32_t key;
};

/* Filled by one posting thread, and emptied under the queue pair's lock, oldest first. The counters are as above. */
struct receive_queue {
  struct counter head;
  struct counter tail;
  uint64_t mask;
  uint64_t capacity; /* 0, or mask + 1 */
  struct receive_entry *entries;
};

struct completion_slot {
  struct completion completion;
  _Atomic uint64_t number; /* counted from 1, of the completion that fills it: its producer, release; acquire */
  uint64_t unused;
};

/* A queue pair that reports to a completion queue. */
struct member {
  struct queue_pair *pair;
  struct member *next;
};

/* Filled by any number of threads, and polled by one. */
struct completion_queue {
  struct counter head;      /* the polling thread, release; acquire */
  struct counter tail;      /* any, by compare-and-swap */
  _Atomic uint32_t overrun; /* any; the polling thread, and Java */
  uint32_t unused;
  uint64_t mask;
  pthread_mutex_t attaching; /* who polls only tries to take it, and then polls none of them */
  struct member *members;    /* under that lock */
  struct completion_slot slots[];
};

/* The least power of two that is not below it. */
static inline uint64_t power_of_two(uint64_t count) {
  uint64_t power = 1;
  while (power < count) {
    power *= 2;
  }
  return power;
}

static inline uint64_t own(const struct counter *counter) {
  return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline uint64_t seen(const struct counter *counter) {
  return atomic_load_explicit(&counter->value, memory_order_acquire);
}

static inline uint64_t latest(const struct counter *counter) {
  return atomic_load(&counter->value);
}

static inline void release_to(struct counter *counter, uint64_t value) {
  atomic_store_explicit(&counter->value, value, memory_order_release);
}

/* ---- sends ---- */

/* The slot of the next one, or NULL if there is none. The posting thread. */
static inline struct send_entry *next_send(struct send_queue *queue) {
  const uint64_t index = own(&queue->tail);
  if (index - queue->head_seen > queue->mask) {
    queue->head_seen = seen(&queue->head);
    if (index - queue->head_seen > queue->mask) {
      return NULL;
    }
  }
  return &queue->entries[index & queue->mask];
}

static inline struct send_entry *send_at(const struct send_queue *queue, uint64_t index) {
  return &queue->entries[index & queue->mask];
}

/* ---- receives ---- */

static inline bool post_receive_entry(struct receive_queue *queue, const struct receive_entry *entry) {
  const uint64_t index = own(&queue->tail);
  if (index - seen(&queue->head) >= queue->capacity) {
    return false;
  }
  queue->entries[index & queue->mask] = *entry;
  atomic_store(&queue->tail.value, index + 1);
  return true;
}

/* Any thread; stale by the time it is known, but under the queue pair's lock. */
static inline bool has_no_receive(const struct receive_queue *queue) {
  return seen(&queue->head) == latest(&queue->tail);
}

static inline const struct receive_entry *oldest_receive(const struct receive_queue *queue) {
  return &queue->entries[own(&queue->head) & queue->mask];
}

/* ---- completions ---- */

/* False if there is no room. */
static inline bool add_completion(struct completion_queue *queue, const struct completion *completion) {
  uint64_t index = atomic_load(&queue->tail.value);
  do {
    if (index - seen(&queue->head) > queue->mask) {
      return false;
    }
  } while (!atomic_compare_exchange_weak(&queue->tail.value, &index, index + 1));
  struct completion_slot *slot = &queue->slots[index & queue->mask];
  slot->completion = *completion;
  atomic_store_explicit(&slot->number, index + 1, memory_order_release);
  return true;
}

/* Takes the oldest ones; returns how many. */
static inline int take_completions(struct completion_queue *queue, int entries, struct completion *into) {
  const uint64_t from = own(&queue->head);
  int count = 0;
  for (; count < entries; count++) {
    struct completion_slot *slot = &queue->slots[(from + (uint64_t)count) & queue->mask];
    if (atomic_load_explicit(&slot->number, memory_order_acquire) != from + (uint64_t)count + 1) {
      break;
    }
    into[count] = slot->completion;
  }
  if (count > 0) {
    release_to(&queue->head, from + (uint64_t)count);
  }
  return count;
}

#endif
