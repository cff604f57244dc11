/*
 * What can be answered without Java: a request that is known to be finished, though NCCL has not asked for it yet, since a poll
 * for another one brought it to light; a request of an RDMA device, which has nothing to report, or nothing but requests that
 * succeeded one after the other; and a message that still waits for its receiver. The other side is
 * trigon.transport.CompletionBoard. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_BOARD_H
#define TRIGON_ENTRY_BOARD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* entry_facts.h tells Java, which compares. Of so many calls that find nothing, Java hears the last: it looks after what else may
 * have happened to the comm. */
enum { BOARD_ROWS = 1 << 16, BOARD_REQUESTS = 32, BOARD_WAITS = 64, BOARD_COMPLETIONS = 16 };

/* A request's state: handed to the device, finished by it. Others are Java's. */
enum { BOARD_PENDING = 1, BOARD_DONE = 3 };

struct board_entry {
  uint64_t finished; /* a request's handle, while it is finished and NCCL has not heard of it; or 0 */
  uint64_t request;  /* the handle of the request that has the slot, or had it last */
  int64_t size;      /* bytes sent or received, if it is finished */
  int64_t state;
};

/* struct ibv_wc, as far as it is looked at. */
struct board_completion {
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

/* A comm's; only the thread that makes its data-path calls touches it, and who closes it when these are over; but for the word
 * at `awaited`, which a NIC writes. The last line makes the length odd, so that equal slots of different comms do not meet in
 * the same sets of a cache. */
struct board_row {
  struct board_entry entries[BOARD_REQUESTS];
  uint64_t sender;         /* the comm's handle, while its next message waits; or 0 */
  const uint64_t *awaited; /* until this is */
  uint64_t arrived;        /* that */
  uint16_t waits;          /* calls since then, with the one that Java hears of */
  uint16_t idle;           /* polls that found nothing, since Java was last asked after one */
  uint16_t takes;          /* the opcode of completions that finish the oldest request, and ask for nothing more; or 0 */
  uint16_t unused;
  /* ibv_poll_cq of the comm's device; or NULL */
  int (*poll)(void *queue, int entries, struct board_completion *completions);
  void *queue;                          /* the comm's struct ibv_cq */
  struct board_completion *completions; /* BOARD_COMPLETIONS of them */
  int32_t polled;                       /* what poll returned, if it was not 0 and nobody has taken it */
  uint32_t completed;                   /* requests, one after the other */
};

/* By the slot number in a handle. Java fills it in, and takes nothing out as long as calls may come. */
static struct board_row *board[BOARD_ROWS];

static inline struct board_row *board_row_of(uint64_t handle) {
  return board[(handle >> 32) & (BOARD_ROWS - 1)];
}

/* Whether a request is known to be finished. It is gone then. A handle is its comm's, with the sequence number in the lower
 * half, above two bits that are 01. */
static inline bool take_finished(uint64_t request, int *size) {
  struct board_row *row = board_row_of(request);
  if (row == NULL) {
    return false;
  }
  struct board_entry *entry = &row->entries[(request >> 2) & (BOARD_REQUESTS - 1)];
  if (entry->finished != request || request == 0) {
    return false;
  }
  *size = (int)entry->size;
  entry->finished = 0;
  return true;
}

static inline struct board_entry *oldest_but(struct board_row *row, int number) {
  return &row->entries[(row->completed + (uint32_t)number) & (BOARD_REQUESTS - 1)];
}

/* Whether so many completions are those of the oldest requests, all of which succeeded. */
static inline bool may_take(struct board_row *row, int count) {
  bool may = row->takes != 0;
  for (int i = 0; i < count && may; i++) {
    const struct board_completion *completion = &row->completions[i];
    may = completion->status == COMPLETION_SUCCESS && completion->opcode == row->takes &&
          oldest_but(row, i)->state == BOARD_PENDING;
  }
  return may;
}

/* Finishes these requests, as Java would. */
static inline void take_completions(struct board_row *row, int count) {
  for (int i = 0; i < count; i++) {
    struct board_entry *entry = oldest_but(row, 0);
    if (row->takes & COMPLETION_RECEIVE) {
      entry->size = be32toh(row->completions[i].immediate);
    }
    entry->state = BOARD_DONE;
    entry->finished = entry->request;
    row->completed++;
  }
}

/* What a poll for a request has come to: it found nothing; it found nothing but what could be taken; or Java is to be asked now,
 * since it has found something else, or Java has not looked for long, or there was no poll. */
enum poll_outcome { POLL_EMPTY, POLL_TAKEN, POLL_FOR_JAVA };

static inline enum poll_outcome poll_for(uint64_t request) {
  struct board_row *row = board_row_of(request);
  if (row == NULL || row->poll == NULL || row->polled != 0) {
    return POLL_FOR_JAVA;
  }
  const struct board_entry *entry = &row->entries[(request >> 2) & (BOARD_REQUESTS - 1)];
  if (entry->request != request || entry->state != BOARD_PENDING) {
    return POLL_FOR_JAVA; /* of another comm, perhaps, and so another thread's queue */
  }
  int count = row->poll(row->queue, BOARD_COMPLETIONS, row->completions);
  if (count == 0 && ++row->idle < BOARD_WAITS) {
    return POLL_EMPTY;
  }
  if (count > 0 && may_take(row, count)) {
    take_completions(row, count);
    return POLL_TAKEN;
  }
  row->idle = 0;
  row->polled = count; /* an error, too: the device may say it once */
  return POLL_FOR_JAVA;
}

/* Whether a comm's next message is known to wait still. If not, Java says so anew, should it find that it does. */
static inline bool still_waits(uint64_t comm) {
  struct board_row *row = board_row_of(comm);
  if (row == NULL || row->sender != comm || comm == 0) {
    return false;
  }
  if (__atomic_load_n(row->awaited, __ATOMIC_RELAXED) != row->arrived && ++row->waits < BOARD_WAITS) {
    return true;
  }
  row->sender = 0;
  return false;
}

#endif
