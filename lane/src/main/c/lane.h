/*
 * A lane: the messages of a comm over one path, stepped without the JVM. Java decides everything: which NIC, queue
 * pairs, memory, other paths, errors, a lane's life and death. A lane function may post, poll, count, compare and give
 * up. It never retries, waits, logs, allocates, opens, closes or chooses. Whatever is unusual leaves the lane as it
 * was, and goes to Java, which calls the same functions where it moves messages itself (docs/design/decisions/0048).
 * It reads the clock for messages of which copies may be spared: only their age tells when that is to be given up.
 *
 * The messages go as trigon.transport.protocol.MessageProtocol describes RENDEZVOUS: the receiver writes a
 * clear-to-send entry into the sender's ring, which answers with an RDMA WRITE whose immediate is the message's size.
 * Or EAGER: a message is a SEND whose immediate is NCCL's tag, and has a receive of its own.
 *
 * A lane belongs to whoever is inside: NCCL's thread, in C or in Java, as the gate lets it in, or the control thread
 * that has shut the gate and seen nobody inside. Java's side is trigon.transport.lane; layouts and numbers are compared
 * at the start.
 *
 * All of it is inline: no call is between NCCL's and the device's.
 */
#ifndef TRIGON_LANE_H
#define TRIGON_LANE_H

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "flush.h"
#include "verbs_abi.h"

/*
 * Lanes, requests of one, completions of one poll, receives that are posted with one call; every so many entries
 * written one is signalled, which frees the send queue up to it.
 */
enum { LANES = 1 << 16, LANE_REQUESTS = 32, LANE_COMPLETIONS = 16, LANE_RECEIVES = 16, LANE_SIGNAL_INTERVAL = 16 };

/* A longer message never fits a send queue, and is refused by Java. */
#define LANE_MAX_MESSAGE_BYTES INT64_C(0x40000000)

/* A request's state. */
enum { REQUEST_FREE = 0, REQUEST_PENDING = 1, REQUEST_DONE = 3, REQUEST_FAILED = 4 };

/*
 * The gate. ASK: Java is to be asked for the next call, and moves messages itself until it opens the gate again.
 * FENCED: a control thread has the lane. NCCL's thread takes OPEN to ASK and back; any thread takes OPEN to ASK.
 */
enum { GATE_CLOSED = 0, GATE_OPEN = 1, GATE_ASK = 2, GATE_FENCED = 3 };

/*
 * Instead of a request. A refused post leaves its errno in the lane; where there is none, the message does not fit.
 */
enum { LANE_NO_ROOM = 0, LANE_NO_RECEIVE = -1, LANE_FAILED = -2 };

/* An outstanding request. */
struct request_entry {
  uint64_t finished; /* its handle, while it has succeeded and NCCL has not heard of it; or 0 */
  uint64_t request;  /* the handle of the request that has the slot, or had it last */
  int64_t size;      /* bytes sent or received if it is finished, else bytes asked for */
  int64_t state;
};

/* Where a message of an outstanding request is, so that it can be sent, or asked for, again. */
struct open_message {
  uint64_t address;
  uint64_t memory; /* its registration's handle; 0 without any */
  int32_t tag;
  uint32_t unused;
};

/*
 * What a receiver writes into the sender's ring: one line of a cache, whose last word is there last. The peer's NIC
 * writes it, so each word is read once, and compared.
 */
struct clear_to_send {
  uint32_t keys_of_other_paths[8];
  uint64_t address;
  uint32_t capacity;
  int32_t tag;
  uint32_t key;
  uint32_t unused;
  _Atomic uint64_t sequence; /* the message's number plus 1 */
};

/* With one path, an entry is written from here on. */
enum { CLEAR_TO_SEND_OF_ONE_PATH = offsetof(struct clear_to_send, address) };

enum {
  UNCONFIRMED = 256,    /* at most; a power of two */
  UNCONFIRMED_RINGS = 3
};

/*
 * A part of its ring that a copy takes at most: a half may be used before the peer is asked, and a copy may be left out
 * at the ring's end, so what is confirmed always makes room.
 */
enum { LONGEST_OF_RING = 4 };

/* A longer message may be confirmed before its copy is made. Of this one, the copy takes less than a microsecond. */
#ifndef LONGEST_COPY_AT_ONCE
#define LONGEST_COPY_AT_ONCE (12 << 10)
#endif

/*
 * It is copied once it is so many microseconds old: where messages follow each other their peer has answered by then,
 * and NCCL would lose more by waiting than the copy takes.
 */
enum { COPIED_AFTER_US = 10 };

struct unconfirmed_message {
  uint64_t address; /* where it is; or, while it may be copied, where its copy goes: its request has where it is */
  uint64_t memory;  /* its registration's handle; 0 where it is copied, or empty */
  uint64_t end;    /* up to where the ring is used by it and those before, counted from the first byte ever copied */
  uint32_t size;
  int32_t tag;
  uint32_t ring;  /* with its copy */
  uint32_t since; /* lane_now() when it was sent, while it may be copied; or 0 */
};

/* Memory for copies. */
struct copy_ring {
  uint64_t address; /* 0: there is no such ring, nor any after it */
  uint32_t bytes;   /* a power of two */
  uint32_t key;
};

/*
 * The messages of an eager sender that its peer is not known to have: oldest first, by their numbers. A short one is
 * copied into a ring, as NCCL may use its memory again before the peer has it. A longer one stays where it is, since
 * NCCL hears that it is done only when the peer has it. Those in between have room in the ring, and are copied when the
 * peer takes long: until then they are not done, and are sent again as longer ones are.
 */
struct unconfirmed {
  struct copy_ring rings[UNCONFIRMED_RINGS]; /* each in use from when the one before was too small */
  uint32_t ring;         /* where copies go */
  uint32_t longest_copy; /* longer messages are not copied; a ring takes such a copy */
  uint32_t asks;         /* the next message asks the peer how far it is, be it time for that or not */
  uint32_t sent;         /* the device does not need the memory of messages before this one, modulo 2^32 */
  uint64_t oldest;
  uint64_t used; /* bytes of the ring so far, with what was left out; those below free are confirmed */
  uint64_t free;
  uint64_t asked_used; /* when the peer was asked last */
  uint64_t asked_next;
  struct unconfirmed_message messages[UNCONFIRMED];
};

/* What is counted of a path, where other processes look. */
struct lane_counters {
  _Atomic uint64_t messages;
  _Atomic uint64_t bytes;
  _Atomic uint64_t waits;
};

/* Lines of a cache, by who uses them with each other. An odd number: see trigon.transport.request.RequestRow. */
struct lane {
  struct request_entry entries[LANE_REQUESTS];

  _Atomic uint64_t handle; /* the comm's; or 0 */
  _Atomic uint32_t gate;
  _Atomic uint32_t inside;        /* not 0 while NCCL's thread is */
  _Atomic uint64_t thread;        /* of the first request: lane_thread() there; or 0 */
  struct lane_counters *counters; /* of its path */
  struct completion *completions; /* LANE_COMPLETIONS of them */
  int32_t polled;                 /* what the last poll returned, if Java is to take it; or 0 */
  uint16_t taken;                 /* and of these completions, those that are accounted for */
  uint16_t waited;                /* not 0 once the next message has been counted as waiting */
  uint32_t completed;             /* requests finished, one after the other, modulo 2^32 */
  int32_t refused;                /* errno of the post that was refused last */
  struct flushes *flushes;        /* of a receiver with a GPU's memory, there before that has a handle; else NULL */

  void *queue_pair;
  void *queue;
  post_send_function post_send;
  post_receive_function post_receive;
  poll_function poll;
  uint64_t next;    /* number of the next message */
  uint32_t longest; /* bytes of one RDMA WRITE at most */
  int32_t room;     /* send work requests that can be posted now */
  uint32_t sends;   /* 1: messages go out; 0: they come in */
  int32_t receives; /* receive work requests that no message has taken */

  uint64_t ring;        /* the sender's, as it is written; at the receiver, where entries are made */
  uint64_t remote_ring; /* the sender's, at the receiver */
  uint32_t ring_key;
  uint32_t remote_ring_key;
  uint32_t inlined; /* REQUEST_INLINE if entries fit; or 0 */
  uint32_t written; /* entries, over this path */
  struct unconfirmed *unconfirmed; /* of an eager sender that keeps copies; or NULL */
  const _Atomic uint64_t *delivered; /* sends that the peer has, over this path; NULL: completions tell */
  uint64_t confirmed; /* messages that the peer had when the path was taken */
  uint32_t eager;
  uint32_t done_when; /* FLAG_INJECT_COMPLETE or FLAG_DELIVERY_COMPLETE, where there are no copies */

  struct open_message messages[LANE_REQUESTS];
};

/* Memory that was registered for a comm, by the slot in its handle. */
struct lane_memory {
  _Atomic uint64_t handle; /* written last; 0: it is not registered */
  uint64_t comm;
  uint64_t address;
  uint64_t length;
  uint32_t local_key;
  uint32_t remote_key;
  uint32_t of_gpu; /* 1: received messages are flushed */
  uint32_t unused[5];
};

/* A number of this thread, the same wherever it is asked for. */
static inline uint64_t lane_thread(void) {
  return (uint64_t)pthread_self();
}

static inline unsigned slot_of(uint64_t handle) {
  return (unsigned)(handle >> 32) & (LANES - 1);
}

/* ---- requests ---- */

/* A request's handle is its comm's, with the sequence number in the lower half, above two bits that are 01. */
static inline struct request_entry *entry_of(struct lane *lane, uint64_t request) {
  return &lane->entries[(request >> 2) & (LANE_REQUESTS - 1)];
}

static inline struct request_entry *entry_at(struct lane *lane, uint64_t sequence) {
  return &lane->entries[sequence & (LANE_REQUESTS - 1)];
}

/* Done, and NCCL has heard of it: the slot is free, too. */
static inline bool is_free(const struct request_entry *entry) {
  return entry->state == REQUEST_FREE || (entry->state == REQUEST_DONE && entry->finished == 0);
}

static inline uint64_t lane_begin(struct lane *lane, uint64_t address, uint32_t size, int32_t tag, uint64_t memory) {
  const uint64_t sequence = lane->next++;
  const uint64_t comm = atomic_load_explicit(&lane->handle, memory_order_relaxed);
  const uint64_t request = comm | (sequence & ((1u << 30) - 1)) << 2 | 1;
  *entry_at(lane, sequence) = (struct request_entry){.request = request, .size = size, .state = REQUEST_PENDING};
  lane->messages[sequence & (LANE_REQUESTS - 1)] =
      (struct open_message){.address = address, .memory = memory, .tag = tag};
  if (atomic_load_explicit(&lane->thread, memory_order_relaxed) == 0) {
    atomic_store_explicit(&lane->thread, lane_thread(), memory_order_relaxed);
  }
  return request;
}

/* The oldest request that is not finished is. Its size is there before who looks for its handle finds it. */
static inline void lane_finish(struct lane *lane, uint32_t size) {
  struct request_entry *entry = entry_at(lane, lane->completed++);
  entry->size = size;
  entry->state = REQUEST_DONE;
  atomic_store_explicit((_Atomic uint64_t *)&entry->finished, entry->request, memory_order_release);
}

static inline void lane_count(_Atomic uint64_t *counter, uint64_t more) {
  // one writer, and other processes read
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

static inline void lane_count_message(struct lane *lane, uint32_t size) {
  lane_count(&lane->counters->messages, 1);
  lane_count(&lane->counters->bytes, size);
}

/* ---- posting ---- */

/* RDMA WRITEs that a message of that size takes. */
static inline int32_t lane_writes(const struct lane *lane, uint32_t size) {
  return size <= lane->longest ? 1 : (int32_t)((size - 1) / lane->longest + 1);
}

/* Returns an errno. */
static inline int lane_post_write(struct lane *lane, int opcode, unsigned flags, struct memory_piece piece,
                                  struct memory_piece remote, uint64_t number) {
  struct send_request request = {
      .number = number,
      .pieces = &piece,
      .piece_count = 1,
      .opcode = opcode,
      .flags = flags,
      .immediate = htobe32(remote.length), /* a message's size, where the opcode has one */
      .remote_address = remote.address,
      .remote_key = remote.key,
  };
  struct send_request *refused;
  return lane->post_send(lane->queue_pair, &request, &refused);
}

/*
 * A message to where its receiver has said, in as many writes as it takes; the last has the immediate. If one is
 * refused, the peer does not hear of the message.
 */
static inline bool lane_post_message(struct lane *lane, struct memory_piece from, struct memory_piece to,
                                     uint64_t sequence) {
  uint32_t left = from.length;
  int result = 0;
  for (; left > lane->longest && result == 0; left -= lane->longest) {
    from.length = lane->longest;
    result = lane_post_write(lane, REQUEST_WRITE, 0, from, to, sequence);
    from.address += lane->longest;
    to.address += lane->longest;
  }
  if (result == 0) {
    from.length = left;
    result = lane_post_write(lane, REQUEST_WRITE_WITH_IMMEDIATE, REQUEST_SIGNALED, from, to, sequence);
  }
  if (result != 0) {
    lane->refused = result;
    return false;
  }
  lane->room -= lane_writes(lane, to.length);
  lane_count_message(lane, to.length);
  return true;
}

/* Has receive work requests for so many messages that may come: none says anything of its message, so any will do. */
static inline bool lane_post_receives(struct lane *lane, int32_t messages) {
#define THEN(n) {.next = &list[n]}
  static struct receive_request list[LANE_RECEIVES] = {THEN(1),  THEN(2),  THEN(3),  THEN(4),  THEN(5),  THEN(6),
                                                       THEN(7),  THEN(8),  THEN(9),  THEN(10), THEN(11), THEN(12),
                                                       THEN(13), THEN(14), THEN(15), {.next = NULL}};
#undef THEN
  if (lane->receives >= messages) {
    return true;
  }
  struct receive_request *refused = list;
  lane->refused = lane->post_receive(lane->queue_pair, list, &refused); /* which reads them */
  lane->receives += lane->refused == 0 ? LANE_RECEIVES : (int32_t)(refused - list); /* those before it are posted */
  return lane->refused == 0;
}

/* ---- sending ---- */

static inline struct clear_to_send *lane_entry(uint64_t ring, uint64_t sequence) {
  return (struct clear_to_send *)(uintptr_t)ring + (sequence & (LANE_REQUESTS - 1));
}

/* Posts a message if its receiver has said where it may go; returns 1, or why not. */
static inline int lane_send(struct lane *lane, struct memory_piece from, int32_t tag, uint64_t sequence) {
  struct clear_to_send *entry = lane_entry(lane->ring, sequence);
  if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != sequence + 1) {
    return LANE_NO_RECEIVE;
  }
  if (lane_writes(lane, from.length) > lane->room) {
    return LANE_NO_ROOM;
  }
  lane->refused = 0;
  const struct memory_piece to = {entry->address, from.length, entry->key};
  if (from.length > entry->capacity || tag != entry->tag) {
    return LANE_FAILED;
  }
  return lane_post_message(lane, from, to, sequence) ? 1 : LANE_FAILED;
}

/* ---- sending eagerly ---- */

/* A message is a SEND; returns 1, or why not. */
static inline int lane_post_send(struct lane *lane, struct memory_piece from, int32_t tag, unsigned done_when,
                                 uint64_t sequence) {
  struct send_request request = {
      .number = sequence,
      .pieces = &from,
      .piece_count = 1,
      .opcode = REQUEST_SEND_WITH_IMMEDIATE,
      .flags = REQUEST_SIGNALED | done_when,
      .immediate = htobe32((uint32_t)tag),
  };
  struct send_request *refused;
  if (lane->room == 0) {
    return LANE_NO_ROOM;
  }
  lane->refused = lane->post_send(lane->queue_pair, &request, &refused);
  if (lane->refused != 0) {
    return LANE_FAILED;
  }
  lane->room--;
  lane_count_message(lane, from.length);
  return 1;
}

static inline struct unconfirmed_message *unconfirmed_at(struct unconfirmed *of, uint64_t sequence) {
  return &of->messages[sequence & (UNCONFIRMED - 1)];
}

/* Microseconds, modulo 2^32, and never 0: every second one. */
#ifdef LANE_NOW_OF_TEST
uint32_t lane_now(void);
#else
static inline uint32_t lane_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) | 1;
}
#endif

/* Messages that the peer has by what its device says. */
static inline uint64_t lane_delivered(const struct lane *lane) {
  return lane->confirmed +
         (lane->delivered == NULL ? 0 : atomic_load_explicit(lane->delivered, memory_order_relaxed));
}

/* Messages that the peer is known to have, in their order; of copies, it makes room of theirs. */
static inline uint64_t lane_confirmed(struct lane *lane) {
  struct unconfirmed *of = lane->unconfirmed;
  uint64_t known = lane->next - (uint32_t)((uint32_t)lane->next - lane->completed);
  if (of == NULL && lane->delivered == NULL) {
    return known;
  }
  const uint64_t delivered = lane_delivered(lane);
  if (of == NULL) {
    return delivered > known ? delivered : known;
  }
  for (; of->oldest < delivered && of->oldest < lane->next; of->oldest++) {
    of->free = unconfirmed_at(of, of->oldest)->end;
  }
  return of->oldest;
}

static inline const struct copy_ring *unconfirmed_ring(const struct unconfirmed *of) {
  return &of->rings[of->ring];
}

/* Where in the ring's count the next copy begins: none crosses its end. */
static inline uint64_t unconfirmed_place(const struct unconfirmed *of, uint32_t size) {
  const uint32_t bytes = unconfirmed_ring(of)->bytes;
  const uint64_t at = of->used & (bytes - 1);
  return at + size <= bytes ? of->used : of->used + bytes - at;
}

static inline bool unconfirmed_fits(const struct unconfirmed *of, uint32_t size) {
  const uint32_t bytes = unconfirmed_ring(of)->bytes;
  return size > of->longest_copy ||
         (size <= bytes / LONGEST_OF_RING && unconfirmed_place(of, size) + size - of->free <= bytes);
}

/* Takes a larger ring, which has room for a copy of that size; false if there is none. What is copied stays there. */
static inline bool unconfirmed_grow(struct unconfirmed *of, uint32_t size) {
  uint32_t next = of->ring + 1;
  while (next < UNCONFIRMED_RINGS && size > of->rings[next].bytes / LONGEST_OF_RING) {
    next++;
  }
  if (next >= UNCONFIRMED_RINGS || of->rings[next].address == 0) {
    return false;
  }
  of->ring = next;
  of->used = of->free = of->asked_used = 0;
  for (int i = 0; i < UNCONFIRMED; i++) {
    of->messages[i].end = 0; /* they make no room there */
  }
  return true;
}

/* How far the ring is used with a message of that size, where it is copied: no line of a cache is two copies'. */
static inline uint64_t unconfirmed_end(const struct unconfirmed *of, uint32_t size) {
  return size > of->longest_copy ? of->used : unconfirmed_place(of, size) + ((size + UINT64_C(63)) & ~UINT64_C(63));
}

/* Returns whether a message asks the peer how far it is, with which the ring is used up to there. */
static inline bool unconfirmed_asks(const struct unconfirmed *of, uint64_t end, uint64_t sequence) {
  return of->asks != 0 || end - of->asked_used >= unconfirmed_ring(of)->bytes / 2 ||
         sequence + 1 - of->asked_next >= UNCONFIRMED / 2;
}

/* Notes a message that is sent, and copies it if it is short; or may copy it later. */
static inline void unconfirmed_add(struct unconfirmed *of, struct memory_piece from, int32_t tag, uint64_t memory,
                                   uint64_t sequence) {
  const bool copied = from.length <= of->longest_copy;
  const uint64_t end = unconfirmed_end(of, from.length);
  struct unconfirmed_message *message = unconfirmed_at(of, sequence);
  *message = (struct unconfirmed_message){
      .address = from.address, .memory = memory, .end = end, .size = from.length, .tag = tag, .ring = of->ring};
  if (copied) {
    const struct copy_ring *ring = unconfirmed_ring(of);
    message->address = ring->address + (unconfirmed_place(of, from.length) & (ring->bytes - 1));
  }
  if (copied && from.length > LONGEST_COPY_AT_ONCE) {
    message->since = lane_now();
  } else if (copied) {
    message->memory = 0;
  }
  if (message->memory == 0 && from.length > 0) {
    memcpy((void *)(uintptr_t)message->address, (const void *)(uintptr_t)from.address, from.length);
  }
  if (unconfirmed_asks(of, end, sequence)) {
    of->asks = 0;
    of->asked_used = end;
    of->asked_next = sequence + 1;
  }
  of->used = end;
}

/* Sends a message; returns 1, or why not: then it has not begun. */
static inline int lane_send_eagerly(struct lane *lane, struct memory_piece from, int32_t tag, uint64_t memory) {
  struct unconfirmed *of = lane->unconfirmed;
  const uint64_t sequence = lane->next;
  if (of == NULL) {
    return lane_post_send(lane, from, tag, lane->done_when, sequence);
  }
  if (sequence - of->oldest == UNCONFIRMED || !unconfirmed_fits(of, from.length)) {
    (void)lane_confirmed(lane);
    if (sequence - of->oldest == UNCONFIRMED) {
      return LANE_NO_ROOM;
    }
    if (!unconfirmed_fits(of, from.length) && !unconfirmed_grow(of, from.length)) {
      return LANE_NO_ROOM;
    }
  }
  /* what is on its way is copied meanwhile: what is queued yet needs NCCL's memory, which has to wait until then */
  const unsigned delivered = from.length > of->longest_copy ||
                                     unconfirmed_asks(of, unconfirmed_end(of, from.length), sequence)
                                 ? FLAG_DELIVERY_COMPLETE
                                 : 0;
  const unsigned injected = from.length > of->longest_copy ? 0 : FLAG_INJECT_COMPLETE;
  const int sent = lane_post_send(lane, from, tag, injected | delivered, sequence);
  if (sent == 1) {
    unconfirmed_add(of, from, tag, memory, sequence);
  }
  return sent;
}

/* A new message: its request, or why there is none. */
static inline int64_t lane_isend(struct lane *lane, struct memory_piece from, int32_t tag, uint64_t memory) {
  if (!is_free(entry_at(lane, lane->next))) {
    return LANE_NO_ROOM;
  }
  const int sent =
      lane->eager ? lane_send_eagerly(lane, from, tag, memory) : lane_send(lane, from, tag, lane->next);
  if (sent == 1) {
    lane->waited = 0;
    return (int64_t)lane_begin(lane, from.address, from.length, tag, memory);
  }
  if (sent == LANE_NO_RECEIVE && lane->waited == 0) {
    lane->waited = 1;
    lane_count(&lane->counters->waits, 1);
  }
  return sent;
}

/* ---- receiving ---- */

/* Asks for a message: has a receive for it, and writes its entry into the sender's ring; returns 1, or why not. */
static inline int lane_ask(struct lane *lane, struct memory_piece to, int32_t tag, uint64_t sequence) {
  if (lane->room == 0) {
    return LANE_NO_ROOM;
  }
  if (!lane_post_receives(lane, (int32_t)((uint32_t)sequence + 1 - lane->completed))) {
    return LANE_FAILED;
  }
  struct clear_to_send *entry = lane_entry(lane->ring, sequence);
  entry->address = to.address;
  entry->capacity = to.length;
  entry->tag = tag;
  entry->key = to.key;
  atomic_store_explicit(&entry->sequence, sequence + 1, memory_order_relaxed);

  const uint64_t offset = (uint64_t)(uintptr_t)entry - lane->ring + CLEAR_TO_SEND_OF_ONE_PATH;
  const struct memory_piece from = {lane->ring + offset, sizeof *entry - CLEAR_TO_SEND_OF_ONE_PATH, lane->ring_key};
  const struct memory_piece there = {lane->remote_ring + offset, from.length, lane->remote_ring_key};
  const bool signals = (lane->written + 1) % LANE_SIGNAL_INTERVAL == 0;
  lane->refused =
      lane_post_write(lane, REQUEST_WRITE, lane->inlined | (signals ? REQUEST_SIGNALED : 0), from, there, sequence);
  if (lane->refused != 0) {
    return LANE_FAILED;
  }
  lane->written++;
  lane->room--;
  return 1;
}

/* An eager message has a receive of its own. */
static inline int lane_ask_eagerly(struct lane *lane, struct memory_piece to, uint64_t sequence) {
  struct receive_request request = {.number = sequence, .pieces = &to, .piece_count = 1};
  struct receive_request *refused;
  lane->refused = lane->post_receive(lane->queue_pair, &request, &refused);
  return lane->refused == 0 ? 1 : LANE_FAILED;
}

/* Room for a new message: its request, or why there is none. */
static inline int64_t lane_irecv(struct lane *lane, struct memory_piece to, int32_t tag, uint64_t memory) {
  if (!is_free(entry_at(lane, lane->next))) {
    return LANE_NO_ROOM;
  }
  const int asked = lane->eager ? lane_ask_eagerly(lane, to, lane->next) : lane_ask(lane, to, tag, lane->next);
  return asked == 1 ? (int64_t)lane_begin(lane, to.address, to.length, tag, memory) : asked;
}

/* ---- what the device has completed ---- */

/* Copies a message of which the peer has not said soon enough that it has it; false if there is time yet. */
static inline bool lane_copies(const struct lane *lane, struct unconfirmed_message *message) {
  if (lane_now() - message->since < COPIED_AFTER_US) {
    return false;
  }
  const struct open_message *open = &lane->messages[lane->completed & (LANE_REQUESTS - 1)];
  memcpy((void *)(uintptr_t)message->address, (const void *)(uintptr_t)open->address, message->size);
  message->memory = 0;
  message->since = 0;
  return true;
}

/*
 * Finishes what the device has done with, of an eager sender that keeps copies. Only NCCL's thread copies: another one
 * does not know whether the memory still is there.
 */
static inline void lane_settle(struct lane *lane, bool copies) {
  struct unconfirmed *of = lane->unconfirmed;
  while ((int32_t)(of->sent - lane->completed) > 0) {
    struct unconfirmed_message *message = unconfirmed_at(of, lane->completed);
    if (message->since != 0 && (int32_t)((uint32_t)lane_delivered(lane) - lane->completed) <= 0 &&
        !(copies && lane_copies(lane, message))) {
      return;
    }
    lane_finish(lane, message->size);
  }
}

/* Eager messages are in the order of their numbers; one that is sent again may have been done before. */
static inline bool lane_take_sent(struct lane *lane, const struct completion *completion) {
  const uint32_t end = (uint32_t)completion->work_request + 1;
  if (completion->opcode != COMPLETION_SEND || (int32_t)(end - (uint32_t)lane->next) > 0) {
    return false;
  }
  lane->room++;
  if (lane->unconfirmed != NULL) {
    lane->unconfirmed->sent = end;
    lane_settle(lane, false);
    return true;
  }
  while ((int32_t)(end - lane->completed) > 0) {
    lane_finish(lane, (uint32_t)entry_at(lane, lane->completed)->size);
  }
  return true;
}

static inline bool lane_take_received(struct lane *lane, const struct completion *completion) {
  const struct request_entry *oldest = entry_at(lane, lane->completed);
  if (completion->opcode != COMPLETION_RECEIVE || lane->completed == (uint32_t)lane->next ||
      (uint32_t)completion->work_request != lane->completed || oldest->state != REQUEST_PENDING ||
      completion->bytes > (uint32_t)oldest->size ||
      (int32_t)be32toh(completion->immediate) != lane->messages[lane->completed & (LANE_REQUESTS - 1)].tag) {
    return false;
  }
  lane_count_message(lane, completion->bytes);
  lane_finish(lane, completion->bytes);
  return true;
}

/*
 * Takes account of a success. False if it is none that this lane has asked for: a message without its request, or one
 * that is longer than what was asked for.
 *
 * A reliable connection completes work requests in the order of posting, and each message has one completion: it is the
 * oldest's that is not finished.
 */
static inline bool lane_take(struct lane *lane, const struct completion *completion) {
  if (lane->eager) {
    return lane->sends ? lane_take_sent(lane, completion) : lane_take_received(lane, completion);
  }
  if (completion->opcode == COMPLETION_WRITE && !lane->sends) {
    lane->room += LANE_SIGNAL_INTERVAL;
    return true;
  }
  const struct request_entry *oldest = entry_at(lane, lane->completed);
  const uint32_t asked = (uint32_t)oldest->size;
  if (lane->completed == (uint32_t)lane->next || oldest->state != REQUEST_PENDING) {
    return false;
  }
  if (lane->sends && completion->opcode == COMPLETION_WRITE) {
    lane->room += lane_writes(lane, asked);
    lane_finish(lane, asked);
    return true;
  }
  const uint32_t size = be32toh(completion->immediate);
  if (lane->sends || completion->opcode != COMPLETION_RECEIVE_WITH_IMMEDIATE || size > asked) {
    return false;
  }
  lane->receives--;
  lane_count_message(lane, size);
  lane_finish(lane, size);
  return true;
}

/*
 * Polls once, for NCCL's thread. False if Java is to look: the poll failed, or a completion is not a success of the
 * oldest request's. It stays where it is, with all behind it, and what was taken before is counted; there is no poll
 * until Java has taken them: a device may say an error once.
 */
static inline bool lane_poll(struct lane *lane) {
  if (lane->polled != 0) {
    return false;
  }
  const int count = lane->poll(lane->queue, LANE_COMPLETIONS, lane->completions);
  int taken = 0;
  while (taken < count && lane->completions[taken].status == COMPLETION_SUCCESS &&
         lane_take(lane, &lane->completions[taken])) {
    taken++;
  }
  if (lane->unconfirmed != NULL) {
    lane_settle(lane, true);
  }
  if (taken == count) {
    return true;
  }
  lane->polled = count;
  lane->taken = (uint16_t)taken;
  return false;
}

/* ---- the gate ---- */

/*
 * NCCL's thread comes in, for a call of that comm, if it may; lane_leave follows. Who shuts the gate looks at the words
 * the other way round, and has all threads pass a barrier in between (membarrier), so the order here is the compiler's
 * to keep alone. Without such a barrier Java opens no gate that is shut again.
 */
static inline bool lane_enter(struct lane *lane, uint64_t comm) {
  if (atomic_load_explicit(&lane->handle, memory_order_relaxed) != comm) {
    return false; /* stale: the lane may be another thread's */
  }
  atomic_store_explicit(&lane->inside, 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&lane->gate, memory_order_acquire) == GATE_OPEN) {
    return true;
  }
  atomic_store_explicit(&lane->inside, 0, memory_order_release);
  return false;
}

static inline void lane_leave(struct lane *lane) {
  atomic_store_explicit(&lane->inside, 0, memory_order_release);
}

#endif
