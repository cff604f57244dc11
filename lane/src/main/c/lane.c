/*
 * The lane functions as Java calls them: in the entry library, by the addresses in its net block, and in a library for
 * tests. The lane is its caller's.
 */
#include "functions.h"

static int64_t isend(struct lane *lane, uint64_t address, uint32_t size, uint32_t key, int32_t tag, uint64_t memory) {
  return lane_isend(lane, (struct memory_piece){address, size, key}, tag, memory);
}

static int64_t irecv(struct lane *lane, uint64_t address, uint32_t size, uint32_t key, int32_t tag, uint64_t memory) {
  return lane_irecv(lane, (struct memory_piece){address, size, key}, tag, memory);
}

/* An outstanding message goes out, or is asked for, over another path, with which its memory has that key. */
static int64_t repeat(struct lane *lane, uint64_t sequence, uint32_t key) {
  struct unconfirmed *of = lane->unconfirmed;
  if (of != NULL) {
    struct unconfirmed_message *kept = unconfirmed_at(of, sequence);
    if ((int32_t)(of->sent - (uint32_t)sequence) > 0) {
      of->sent = (uint32_t)sequence; /* the device needs it again */
    }
    if (kept->since != 0) { /* it is done when the peer has it */
      kept->address = lane->messages[sequence & (LANE_REQUESTS - 1)].address;
      kept->since = 0;
    }
    const bool copied = kept->memory == 0;
    const struct memory_piece piece = {kept->address, kept->size, copied ? of->rings[kept->ring].key : key};
    return lane_post_send(lane, piece, kept->tag, FLAG_DELIVERY_COMPLETE | (copied ? FLAG_INJECT_COMPLETE : 0),
                          sequence);
  }
  const struct open_message *message = &lane->messages[sequence & (LANE_REQUESTS - 1)];
  const struct memory_piece piece = {message->address, (uint32_t)entry_at(lane, sequence)->size, key};
  if (lane->eager) {
    return lane->sends ? lane_post_send(lane, piece, message->tag, lane->done_when, sequence)
                       : lane_ask_eagerly(lane, piece, sequence);
  }
  return lane->sends ? lane_send(lane, piece, message->tag, sequence) : lane_ask(lane, piece, message->tag, sequence);
}

static int64_t confirmed(struct lane *lane) {
  return (int64_t)lane_confirmed(lane);
}

static int64_t take(struct lane *lane, const struct completion *completion) {
  return lane_take(lane, completion);
}

/* For NCCL's thread. */
static int64_t settle(struct lane *lane) {
  if (lane->unconfirmed != NULL) {
    lane_settle(lane, true);
  }
  return 0;
}

static int64_t thread(void) {
  return (int64_t)lane_thread();
}

static int64_t post(struct flush_device *device, uint64_t address, uint32_t key) {
  return flush_post(device, address, key);
}

static int64_t owe(struct flush_device *device, struct flush *flush) {
  flush_owe(device, flush);
  return 0;
}

static int64_t finish(struct flush_device *device) {
  flush_finish(device);
  return 0;
}

static int64_t poll(struct flush_device *device) {
  return flush_poll(device);
}

const struct lane_functions lane_functions = {isend,  irecv, repeat, confirmed, take, settle,
                                              thread, post,  owe,    finish,    poll};
