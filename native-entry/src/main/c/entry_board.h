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

/* A comm's; only the thread that makes its data-path calls touches the entries. */
struct board_row {
  uint64_t owner;                  /* the comm's handle; 1 if it is closed */
  uint64_t entries[BOARD_REQUESTS]; /* 0, or the lower half of a finished request's handle, never 0, above its size */
};

/* By the slot number in a handle. Java fills it in, and takes nothing out as long as calls may come. */
static struct board_row *board[BOARD_ROWS];

/* Whether a request is known to be finished. It is gone then. A handle is its comm's, with the sequence number in the lower
 * half, above two bits that are 01. */
static inline bool take_finished(uint64_t request, int *size) {
  struct board_row *row = board[(request >> 32) & (BOARD_ROWS - 1)];
  if (row == NULL || row->owner != (request & ~UINT64_C(0xffffffff))) {
    return false;
  }
  uint64_t *entry = &row->entries[(request >> 2) & (BOARD_REQUESTS - 1)];
  if (*entry >> 32 != (request & 0xffffffff)) {
    return false;
  }
  *size = (int)*entry;
  *entry = 0;
  return true;
}

#endif
