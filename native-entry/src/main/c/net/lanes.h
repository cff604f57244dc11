/*
 * What isend(), irecv(), iflush() and test() do without a call into Java: messages of comms that run as usual, by
 * their lanes (lane/lane.h), their flushes, and requests that are known to have succeeded, whoever has moved them.
 * Everything else is Java's: errors, comms without a lane or whose gate is not open, memory of another comm, sizes that
 * do not fit.
 *
 * A lane is used by one thread at a time: the one that makes the comm's data-path calls, be it here or in Java, and
 * whoever opens and closes the comm, before and after these; NCCL hands it on in between. Lanes are never freed while
 * calls may come: a stale handle finds the lane of somebody else's, with another handle in it.
 *
 * All of it is inline, in net.c alone.
 */
#ifndef TRIGON_NET_LANES_H
#define TRIGON_NET_LANES_H

#include "lane.h"

/*
 * Lanes and registrations, by the slot number in a handle. Java fills them in with a release, once the words that an
 * entry leads to are written, and takes nothing out as long as calls may come.
 */
extern struct lane *_Atomic lanes[LANES] __attribute__((visibility("hidden")));
extern struct lane_memory *_Atomic lane_memories[LANES] __attribute__((visibility("hidden")));

static inline struct lane *lane_of(uint64_t handle) {
  return atomic_load_explicit(&lanes[slot_of(handle)], memory_order_acquire);
}

/* Memory that is registered for the comm and has the message; or NULL. */
static inline const struct lane_memory *memory_of(uint64_t handle, uint64_t comm, uint64_t address, uint64_t size) {
  const struct lane_memory *memory = atomic_load_explicit(&lane_memories[slot_of(handle)], memory_order_acquire);
  bool has = memory != NULL && handle != 0 &&
             atomic_load_explicit(&memory->handle, memory_order_acquire) == handle && memory->comm == comm &&
             address >= memory->address && size <= memory->length &&
             address - memory->address <= memory->length - size;
  return has ? memory : NULL;
}

/* What a call has come to; FOR_JAVA: nothing, Java is to be called. */
enum lane_outcome { LANE_ANSWERED, LANE_FOR_JAVA };

/* The next message of the comm: *request is NULL if it has to wait. */
static inline enum lane_outcome lane_message(uint64_t comm, bool sends, uint64_t address, uint64_t size, int tag,
                                             uint64_t handle, void **request) {
  struct lane *lane = lane_of(comm);
  const struct lane_memory *memory = memory_of(handle, comm, address, size);
  if (lane == NULL || memory == NULL || size > LANE_MAX_MESSAGE_BYTES || comm == 0 || !lane_enter(lane, comm)) {
    return LANE_FOR_JAVA;
  }
  const uint32_t key = sends || lane->eager ? memory->local_key : memory->remote_key;
  const struct memory_piece piece = {address, (uint32_t)size, key};
  int64_t begun = LANE_FAILED;
  if ((lane->sends != 0) == sends) {
    begun = sends ? lane_isend(lane, piece, tag, handle) : lane_irecv(lane, piece, tag, handle);
  }
  const bool waits = begun == LANE_NO_RECEIVE || (begun == LANE_NO_ROOM && lane_poll(lane));
  lane_leave(lane);
  *request = begun > 0 ? (void *)(uintptr_t)begun : NULL;
  return begun > 0 || waits ? LANE_ANSWERED : LANE_FOR_JAVA;
}

/* A flush of what has come to a GPU's memory. */
static inline enum lane_outcome lane_flush(uint64_t comm, uint64_t address, int size, uint64_t handle,
                                            void **request) {
  struct lane *lane = lane_of(comm);
  const struct lane_memory *memory = memory_of(handle, comm, address, (uint64_t)size);
  if (lane == NULL || memory == NULL || memory->of_gpu == 0 || size <= 0 || comm == 0 || !lane_enter(lane, comm)) {
    return LANE_FOR_JAVA;
  }
  const uint64_t begun = lane->flushes == NULL // a sender's: Java refuses it
                             ? 0
                             : flush_begin(lane->flushes, comm, address, memory->remote_key, handle);
  lane_leave(lane);
  *request = (void *)(uintptr_t)begun;
  return begun != 0 ? LANE_ANSWERED : LANE_FOR_JAVA;
}

/*
 * Whether the request has succeeded, and NCCL has not heard of it. The entry holds this very handle, which is never 0
 * and is given out once in 2^30 requests of a comm. NCCL hears of it now; Java takes a finished request whose entry is
 * cleared for told, and its slot for free.
 */
static inline bool take_finished(struct lane *lane, uint64_t request, int *size) {
  struct request_entry *entry = entry_of(lane, request);
  // by another thread, if the comm has just moved to another path: its size is seen with it
  if (atomic_load_explicit((_Atomic uint64_t *)&entry->finished, memory_order_acquire) != request || request == 0) {
    return false;
  }
  *size = (int)entry->size;
  entry->finished = 0;
  return true;
}

/* The handle of a request's comm. */
static inline uint64_t comm_of(uint64_t request) {
  return request & ~(uint64_t)UINT32_MAX;
}

static inline enum lane_outcome lane_test_flush(struct lane *lane, uint64_t request, int *done) {
  if (!lane_enter(lane, comm_of(request))) {
    return LANE_FOR_JAVA;
  }
  const int tested = lane->flushes == NULL ? -1 : flush_test(lane->flushes, request);
  lane_leave(lane);
  *done = tested > 0;
  return tested < 0 ? LANE_FOR_JAVA : LANE_ANSWERED;
}

static inline enum lane_outcome lane_test(uint64_t request, int *done, int *size) {
  struct lane *lane = lane_of(request);
  if (lane == NULL) {
    return LANE_FOR_JAVA;
  }
  *done = take_finished(lane, request, size);
  if (*done) {
    return LANE_ANSWERED;
  }
  if (is_flush(request)) {
    return lane_test_flush(lane, request, done);
  }
  const struct request_entry *entry = entry_of(lane, request);
  if (entry->request != request || !lane_enter(lane, comm_of(request))) {
    return LANE_FOR_JAVA;
  }
  const bool polled = entry->state == REQUEST_PENDING && lane_poll(lane);
  lane_leave(lane);
  *done = take_finished(lane, request, size);
  return *done || polled ? LANE_ANSWERED : LANE_FOR_JAVA;
}

#endif
