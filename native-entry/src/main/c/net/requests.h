/*
 * What test() and isend() answer without a call into Java, and on which facts (docs/design/decisions/0016). The facts
 * lie in the request table: a row for each open comm, found by the slot number in a handle. Java's side is
 * trigon.transport.request.RequestTable; layout and numbers are compared at the start (facts.c).
 *
 * A row is used by one thread at a time: the one that makes the comm's data-path calls, be it here or in Java, and
 * whoever opens and closes the comm, before and after these; NCCL hands it on in between. A control thread that takes
 * the comm to other paths shuts this side out first (come_in), and lets it in again by a release of poll or sender. So
 * nothing else here is atomic but the word that a NIC writes, and the table, which a stale handle may lead to while
 * Java fills it in. Rows are never freed while calls may come: a stale handle finds a row of somebody else's, with
 * other handles in it.
 *
 * What is answered, and nothing else:
 *   1. test() of a request that is known to have succeeded: done, once.
 *   2. test() of a request that is with the device: what one poll of the completion queue says. Nothing there: not
 *      done. Nothing but successes of the comm's oldest requests: those are finished, and counted.
 *   3. isend() of a message whose receiver is not there yet: try again.
 * Errors are always Java's: a completion that is not a success, a poll that fails, a comm that has failed.
 *
 * All of it is inline, in net.c alone: no call is between NCCL's and its answer.
 */
#ifndef TRIGON_NET_REQUESTS_H
#define TRIGON_NET_REQUESTS_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Rows of the table, requests of a row, completions of one poll at most; and of so many calls that find nothing Java
 * hears the last, which looks after what else may have happened to the comm.
 */
enum { TABLE_ROWS = 1 << 16, ROW_REQUESTS = 32, POLL_COMPLETIONS = 16, CALLS_FOR_EACH_TO_JAVA = 64 };

/* A request's state: handed to the device, finished by it. The others are Java's. */
enum { REQUEST_PENDING = 1, REQUEST_DONE = 3 };

struct request_entry {
  uint64_t finished; /* a request's handle, while it has succeeded and NCCL has not heard of it; or 0 */
  uint64_t request;  /* the handle of the request that has the slot, or had it last */
  int64_t size;      /* bytes sent or received, if it is finished */
  int64_t state;
};

/* struct ibv_wc, as far as it is looked at. */
struct completion {
  uint64_t work_request;
  uint32_t status;
  uint32_t opcode;
  uint32_t vendor_error;
  uint32_t bytes;
  uint32_t immediate; /* in network order */
  uint32_t rest[5];
};

/* IBV_WC_SUCCESS, and what all opcodes of receives have. */
enum { COMPLETION_SUCCESS = 0, COMPLETION_RECEIVE = 1 << 7 };

/*
 * A comm's. Its last line makes the length odd, so that equal slots of different comms do not meet in the same sets of
 * a cache.
 */
struct request_row {
  struct request_entry entries[ROW_REQUESTS];
  _Atomic uint64_t sender;         /* the comm's handle, while its next message waits; or 0 */
  const _Atomic uint64_t *awaited; /* until this word, which a NIC writes, is */
  uint64_t arrived;                /* that */
  uint16_t waits;          /* calls since then, with the one that Java hears of */
  uint16_t idle;           /* polls that found nothing, since Java was last asked after one */
  uint16_t takes;          /* the opcode of completions that finish the oldest request and ask for nothing more; or 0 */
  _Atomic uint16_t inside; /* not 0 while this side polls, or looks at the awaited word */
  int (*_Atomic poll)(void *queue, int entries, struct completion *completions); /* the device's ibv_poll_cq; or NULL */
  void *queue;                    /* the comm's struct ibv_cq */
  struct completion *completions; /* POLL_COMPLETIONS of them */
  int32_t polled;                 /* what poll returned, if it was not 0 and Java has not taken it */
  uint32_t completed;             /* requests finished, one after the other, modulo 2^32 */
};

/*
 * By the slot number in a handle. Java fills it in with a release, once a row's words are written, and takes nothing
 * out as long as calls may come.
 */
extern struct request_row *_Atomic request_table[TABLE_ROWS] __attribute__((visibility("hidden")));

static inline struct request_row *row_of(uint64_t handle) {
  return atomic_load_explicit(&request_table[(handle >> 32) & (TABLE_ROWS - 1)], memory_order_acquire);
}

/* A flush has numbers of its own, and no entry: trigon.transport.handle.RequestHandle. Java answers for it. */
static inline bool is_flush(uint64_t request) {
  return (request & 2) != 0;
}

/* A request's handle is its comm's, with the sequence number in the lower half, above two bits that are 01. */
static inline struct request_entry *entry_of(struct request_row *row, uint64_t request) {
  return &row->entries[(request >> 2) & (ROW_REQUESTS - 1)];
}

/*
 * Answer 1. The entry holds this very handle, which is never 0 and is given out once in 2^30 requests of a comm. Only a
 * success is put there. NCCL hears of it now; Java takes a finished request whose entry is cleared for told, and its
 * slot for free.
 */
static inline bool take_finished(uint64_t request, int *size) {
  struct request_row *row = row_of(request);
  if (row == NULL) {
    return false;
  }
  struct request_entry *entry = entry_of(row, request);
  // by another thread, if the comm has just moved to another path: its size is seen with it
  if (atomic_load_explicit((_Atomic uint64_t *)&entry->finished, memory_order_acquire) != request || request == 0) {
    return false;
  }
  *size = (int)entry->size;
  entry->finished = 0;
  return true;
}

/*
 * The comm's oldest request that is not finished, and those behind it: sequence numbers begin at 0, as the count does.
 */
static inline struct request_entry *oldest_but(struct request_row *row, int number) {
  return entry_of(row, (uint64_t)(row->completed + (uint32_t)number) << 2);
}

/*
 * Whether all of these completions are successes of the comm's oldest requests, in their order. Sound since the row's
 * opcode is there only while every completion of this opcode is of one request, none asks for anything but to be
 * counted, and the comm has one queue pair; a reliable connection completes work requests in the order of posting; and
 * a request that is not with the device ends it. If one of them is anything else, Java gets them all.
 */
static inline bool may_finish(struct request_row *row, int count) {
  bool may = row->takes != 0;
  for (int i = 0; i < count && may; i++) {
    const struct completion *completion = &row->completions[i];
    may = completion->status == COMPLETION_SUCCESS && completion->opcode == row->takes &&
          oldest_but(row, i)->state == REQUEST_PENDING;
  }
  return may;
}

/*
 * Takes the requests from PENDING to DONE, and counts them; no other state is written in C. A receive's immediate is
 * the message's size. Java takes account of the count, for its work requests and counters, before it begins another
 * request.
 */
static inline void finish_oldest(struct request_row *row, int count) {
  for (int i = 0; i < count; i++) {
    struct request_entry *entry = oldest_but(row, 0);
    if (row->takes & COMPLETION_RECEIVE) {
      entry->size = be32toh(row->completions[i].immediate);
    }
    entry->state = REQUEST_DONE;
    entry->finished = entry->request;
    row->completed++;
  }
}

/*
 * Before this side polls, or looks at a word that may be freed: who shuts it out takes away the row's poll and sender,
 * has all threads pass a barrier (membarrier), and waits until nobody is inside. So the order of this write and the
 * reads that follow is the compiler's to keep alone. Where there is no such barrier, Java never lets this side in.
 */
static inline void come_in(struct request_row *row) {
  atomic_store_explicit(&row->inside, 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}

static inline void go_out(struct request_row *row) {
  atomic_store_explicit(&row->inside, 0, memory_order_release);
}

/* What a poll has come to; FOR_JAVA also where there was none. */
enum poll_outcome { POLL_EMPTY, POLL_FINISHED, POLL_FOR_JAVA };

/*
 * Answer 2, with the arguments that Java would poll with. The entry holds this very handle, so the queue is this
 * thread's; Java allows it by the row's poll, which it takes away when the comm fails. What it brings beyond answer 2
 * stays where Java reads it, with its number, and there is no poll until Java has taken it: an error of the poll, too,
 * as a device may say it once.
 */
static inline enum poll_outcome poll_inside(struct request_row *row, const struct request_entry *entry) {
  int (*poll)(void *, int, struct completion *) = atomic_load_explicit(&row->poll, memory_order_acquire);
  if (poll == NULL || row->polled != 0 || entry->state != REQUEST_PENDING) {
    return POLL_FOR_JAVA;
  }
  int count = poll(row->queue, POLL_COMPLETIONS, row->completions);
  if (count == 0 && ++row->idle < CALLS_FOR_EACH_TO_JAVA) {
    return POLL_EMPTY;
  }
  if (count > 0 && may_finish(row, count)) {
    finish_oldest(row, count);
    return POLL_FINISHED;
  }
  row->idle = 0;
  row->polled = count;
  return POLL_FOR_JAVA;
}

static inline enum poll_outcome poll_for(uint64_t request) {
  struct request_row *row = row_of(request);
  if (row == NULL) {
    return POLL_FOR_JAVA;
  }
  const struct request_entry *entry = entry_of(row, request);
  if (entry->request != request) {
    return POLL_FOR_JAVA; // stale: the row may be another thread's
  }
  come_in(row);
  enum poll_outcome outcome = poll_inside(row, entry);
  go_out(row);
  return outcome;
}

/*
 * Answer 3. Java was asked for this message, and said in the row which word it waits for; the word is not there.
 * Otherwise Java is asked, and says so anew should the message wait still: the row says nothing that was not so at the
 * last call. It falls silent when the comm fails.
 *
 * Relaxed: nothing of the entry is read here. Java reads the word again, with acquire, and finds this value or a later
 * one, since reads of one word are in order.
 */
static inline bool waits_inside(struct request_row *row, uint64_t comm) {
  if (atomic_load_explicit(&row->sender, memory_order_acquire) != comm) {
    return false;
  }
  const uint64_t word = atomic_load_explicit(row->awaited, memory_order_relaxed);
  if (word != row->arrived && ++row->waits < CALLS_FOR_EACH_TO_JAVA) {
    return true;
  }
  atomic_store_explicit(&row->sender, 0, memory_order_relaxed);
  return false;
}

static inline bool still_waits(uint64_t comm) {
  struct request_row *row = row_of(comm);
  if (row == NULL || comm == 0 || atomic_load_explicit(&row->sender, memory_order_relaxed) != comm) {
    return false;
  }
  come_in(row);
  bool waits = waits_inside(row, comm);
  go_out(row);
  return waits;
}

#endif
