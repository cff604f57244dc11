/*
 * A receiver's flushes, which make what it has received visible in a GPU's memory. A flush is a READ by each device
 * that may have carried what came, over a queue pair that is connected to itself: PCIe lets no read pass the writes
 * before it. It is done when all its READs are. Where one device does them all, and none has failed, they are C's;
 * Java's trigon.transport.session.FlushQueue calls the same functions for each device, and repairs what fails.
 *
 * They are part of their comm's lane (lane.h): the same rule says what a function may do, and who has the lane has
 * them.
 */
#ifndef TRIGON_LANE_FLUSH_H
#define TRIGON_LANE_FLUSH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs_abi.h"

/* Requests that NCCL may have outstanding on a comm; completions of one poll. */
enum { FLUSHES = 32, FLUSH_COMPLETIONS = 16 };

struct flush {
  uint64_t request; /* its handle, until NCCL has heard that it is done; or 0 */
  uint64_t address; /* of a byte of what is flushed */
  uint64_t memory;  /* the handle of that registration */
  uint32_t begun;   /* not 0 once devices owe it READs */
  uint32_t reads;   /* that they owe it */
};

/* The READs of one device, which are done in their order. */
struct flush_device {
  void *queue_pair;
  void *queue;
  post_send_function post_send;
  poll_function poll;
  uint64_t landing; /* where the byte comes that is read */
  uint32_t landing_key;
  int32_t trouble; /* for Java: a completion's status, or less than 0, as the last poll has returned it; else 0 */
  uint64_t owed;   /* READs, from the first one on */
  uint64_t done;
  struct flush *flushes[FLUSHES]; /* of the READs that are owed and not done, by their numbers */
};

struct flushes {
  struct flush_device *device; /* which does all that are to come, if it is C's; or NULL */
  uint64_t next;               /* number of the next flush */
  struct flush all[FLUSHES];
};

/* A flush's handle: its comm's, with its number where a message has its own, above two bits that are 11. */
static inline bool is_flush(uint64_t request) {
  return (request & 2) != 0;
}

/* Posts a READ; returns an errno. */
static inline int flush_post(struct flush_device *device, uint64_t address, uint32_t key) {
  struct memory_piece to = {device->landing, 1, device->landing_key};
  struct send_request request = {
      .pieces = &to,
      .piece_count = 1,
      .opcode = REQUEST_READ,
      .flags = REQUEST_SIGNALED,
      .remote_address = address,
      .remote_key = key,
  };
  struct send_request *refused;
  return device->post_send(device->queue_pair, &request, &refused);
}

static inline void flush_owe(struct flush_device *device, struct flush *flush) {
  device->flushes[device->owed++ % FLUSHES] = flush;
  flush->begun = 1;
  flush->reads++;
}

/* The oldest READ is done, whoever says so. */
static inline void flush_finish(struct flush_device *device) {
  device->flushes[device->done++ % FLUSHES]->reads--;
}

/* Polls once, unless Java is to look at what was found before; false if it is to look. */
static inline bool flush_poll(struct flush_device *device) {
  if (device->trouble != 0) {
    return false;
  }
  struct completion completions[FLUSH_COMPLETIONS];
  const int count = device->poll(device->queue, FLUSH_COMPLETIONS, completions);
  device->trouble = count < 0 ? count : 0;
  for (int i = 0; i < count && device->trouble == 0; i++) { /* those behind an error are flushed from the queue */
    device->trouble = (int32_t)completions[i].status;
    if (device->trouble == 0 && device->done < device->owed) {
      flush_finish(device);
    }
  }
  return device->trouble == 0;
}

/* A new flush; returns its handle, or 0: Java is to begin it. */
static inline uint64_t flush_begin(struct flushes *flushes, uint64_t comm, uint64_t address, uint32_t key,
                                   uint64_t memory) {
  struct flush *flush = &flushes->all[flushes->next % FLUSHES];
  struct flush_device *device = flushes->device;
  if (device == NULL || flush->request != 0 || flush_post(device, address, key) != 0) {
    return 0;
  }
  const uint64_t number = flushes->next++ & ((1u << 30) - 1);
  *flush = (struct flush){.request = comm | number << 2 | 3, .address = address, .memory = memory};
  flush_owe(device, flush);
  return flush->request;
}

/* Goes on with a flush: 1 if it is done, which NCCL hears now, 0 if it is not, less than 0 if Java is to go on. */
static inline int flush_test(struct flushes *flushes, uint64_t request) {
  struct flush *flush = &flushes->all[(request >> 2) % FLUSHES];
  if (flushes->device == NULL || flush->request != request || flush->begun == 0) {
    return -1;
  }
  if (flush->reads > 0 && !flush_poll(flushes->device)) {
    return -1;
  }
  if (flush->reads == 0) {
    flush->request = 0;
  }
  return flush->reads == 0;
}

#endif
