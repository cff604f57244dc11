/*
 * Requests that Java knows to be finished, though NCCL has not asked for them yet: those that a poll for another request
 * brought to light. They are answered here. The other side is trigon.transport.CompletionBoard. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_BOARD_H
#define TRIGON_ENTRY_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOARD_ROWS = 1 << 16, BOARD_REQUESTS = 32 }; /* entry_facts.h tells Java, which compares */

struct board_entry {
  uint64_t finished; /* a request's handle, while it is finished and NCCL has not heard of it; or 0 */
  uint64_t request;  /* Java's */
  int64_t size;      /* bytes sent or received, if it is finished */
  int64_t state;     /* Java's */
};

/* A comm's; only the thread that makes its data-path calls touches the entries. The last line is there so that equal slots of
 * different comms do not meet in the same sets of a cache. */
struct board_row {
  struct board_entry entries[BOARD_REQUESTS];
  char spare[64];
};

/* By the slot number in a handle. Java fills it in, and takes nothing out as long as calls may come. */
static struct board_row *board[BOARD_ROWS];

/* Whether a request is known to be finished. It is gone then. A handle is its comm's, with the sequence number in the lower
 * half, above two bits that are 01. */
static inline bool take_finished(uint64_t request, int *size) {
  struct board_row *row = board[(request >> 32) & (BOARD_ROWS - 1)];
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

#endif
