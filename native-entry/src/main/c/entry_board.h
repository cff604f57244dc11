/*
 * What can be answered without Java: a request that it knows to be finished, though NCCL has not asked for it yet, since a poll
 * for another one brought it to light; a request for which an RDMA device has nothing to report; and a message that still waits for
 * its receiver. The other side is trigon.transport.CompletionBoard. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_BOARD_H
#define TRIGON_ENTRY_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* entry_facts.h tells Java, which compares. Of so many calls that find nothing, Java hears the last: it looks after what else may
 * have happened to the comm. */
enum { BOARD_ROWS = 1 << 16, BOARD_REQUESTS = 32, BOARD_WAITS = 64, BOARD_COMPLETIONS = 16, BOARD_PENDING = 1 };

struct board_entry {
  uint64_t finished; /* a request's handle, while it is finished and NCCL has not heard of it; or 0 */
  uint64_t request;  /* the handle of the request that has the slot, or had it last */
  int64_t size;      /* bytes sent or received, if it is finished */
  int64_t state;     /* BOARD_PENDING: handed to the device; any other is Java's */
};

/* A comm's; only the thread that makes its data-path calls touches it, but for the word at `awaited`, which a NIC writes. The
 * last line makes the length odd, so that equal slots of different comms do not meet in the same sets of a cache. */
struct board_row {
  struct board_entry entries[BOARD_REQUESTS];
  uint64_t sender;         /* the comm's handle, while its next message waits; or 0 */
  const uint64_t *awaited; /* until this is */
  uint64_t arrived;        /* that */
  uint64_t waits;          /* calls since then, with the one that Java hears of */
  int (*poll)(void *queue, int entries, void *completions); /* ibv_poll_cq of the comm's device; or NULL */
  void *queue;                                              /* the comm's struct ibv_cq */
  void *completions;                                        /* struct ibv_wc[BOARD_COMPLETIONS] */
  int32_t polled; /* what poll returned, if it was not 0 and Java has not taken it */
  int32_t idle;   /* polls that found nothing, since Java was last asked by test() */
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

/* Whether a request is with the device, and the device has nothing to report. What there is waits for Java, which has to be asked
 * now. */
static inline bool finds_nothing(uint64_t request) {
  struct board_row *row = board_row_of(request);
  if (row == NULL || row->poll == NULL || row->polled != 0) {
    return false;
  }
  const struct board_entry *entry = &row->entries[(request >> 2) & (BOARD_REQUESTS - 1)];
  if (entry->request != request || entry->state != BOARD_PENDING) {
    return false; /* of another comm, perhaps, and so another thread's queue */
  }
  int count = row->poll(row->queue, BOARD_COMPLETIONS, row->completions);
  if (count == 0 && ++row->idle < BOARD_WAITS) {
    return true;
  }
  row->idle = 0;
  row->polled = count; /* an error, too: the device may say it once */
  return false;
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
