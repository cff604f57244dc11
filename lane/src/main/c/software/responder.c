/*
 * The receiving half of a queue pair: cuts what arrives into requests, carries them out one after the other, and
 * answers. Short payloads are read together with their headers, and copied; long ones are read where they are to go,
 * together with the header behind them. So a long message costs two reads, or one if the next is behind it. Reading can
 * be paused in the middle; what has arrived is kept then, and TCP holds the sender back.
 *
 * A message may have a tail, a byte that says nothing. When a read leaves a socket empty, the kernel acknowledges at
 * once (tcp_cleanup_rbuf in net/ipv4/tcp.c), which takes longer than all else that a short message costs its receiver.
 * So after a read that found nothing, no more is read than a message as long as the last one with a tail; its own tail
 * stays behind, for a later read, which most likely finds nothing else and then has the time.
 */
#include <endian.h>
#include <string.h>

#include "pair.h"

/* Most calls in a row, for the same reason as MOST_BYTES. */
enum { READS_AT_ONCE = 4 };

/* Every so many calls it looks for requests, though others are expected, or a response. */
enum { CALLS_UNHEARD = 4 };

/* Messages that may be left unacknowledged for so long: a write of its own for each would cost more than the rest. */
enum { LATE_MESSAGES = 8, LATE_NANOS = 50 * 1000 };

/* A receive that comes later than that is a receiver's that was busy with something else. */
#define LONG_NANOS INT64_C(1000000000)

/* ---- responses ---- */

static void acknowledge(struct inbound *in, uint32_t psn, bool soon) {
  in->ack_psn = psn;
  if (!in->ack_pending) {
    in->ack_pending = true;
    in->ack_since = nanos();
  }
  in->ack_messages++;
  in->ack_soon |= soon;
  in->not_ready_pending = false;
}

static void drop_acknowledgement(struct inbound *in) {
  in->ack_pending = in->ack_soon = false;
  in->ack_messages = 0;
}

/* Nothing is to be sent but an acknowledgement that may wait for a moment. */
static bool may_wait(const struct inbound *in) {
  return !in->not_ready_pending && !in->nak_pending && in->from == in->to &&
         (!in->ack_pending ||
          (in->ack_messages < LATE_MESSAGES && !in->ack_soon && nanos() - in->ack_since < LATE_NANOS));
}

bool responses_are_over(const struct inbound *in) {
  return in->responses_stopped || (in->from == in->to && !(in->ack_pending && !in->ack_held) &&
                                   !in->not_ready_pending && !in->nak_pending);
}

static void put(struct inbound *in, int16_t kind, int16_t detail, uint32_t psn) {
  in->staging[in->to / RESPONSE_BYTES] = (struct response){.kind = kind, .detail = detail, .psn = psn};
  in->to += RESPONSE_BYTES;
}

/* Gives the socket what there is and it takes. */
void responses_ring(struct inbound *in) {
  if (responses_are_over(in)) {
    return;
  }
  if (in->from == in->to) {
    in->from = in->to = 0;
    if (in->ack_pending && !in->ack_held) {
      drop_acknowledgement(in);
      put(in, RESPONSE_ACK, 0, in->ack_psn);
    }
    if (in->not_ready_pending) {
      in->not_ready_pending = false;
      put(in, RESPONSE_NOT_READY, in->not_ready_code, in->not_ready_psn);
    }
    if (in->nak_pending) {
      in->nak_pending = false;
      put(in, RESPONSE_NAK, in->nak_reason, in->nak_psn);
    }
  }
  struct iovec part = {(unsigned char *)in->staging + in->from, in->to - in->from};
  const int64_t bytes = stream_write(&in->stream, &part, 1);
  if (bytes < 0) {
    in->responses_stopped = true; // the reading side meets the same, after the last that the peer has said
  } else {
    in->from += (uint32_t)bytes;
  }
}

void responder_send(struct queue_pair *pair, bool all) {
  struct inbound *in = pair->inbound;
  if (in == NULL) {
    return;
  }
  if (atomic_load_explicit(&pair->responder.peer_has_ended, memory_order_relaxed)) {
    drop_acknowledgement(in); // nobody is there to whom it would say anything
  }
  if (all || !may_wait(in)) {
    responses_ring(in);
  }
  if (in->refusing && responses_are_over(in)) {
    pair_fail(pair, REASON_REFUSED_REQUEST);
  }
}

/* ---- the end of a connection, and of a request ---- */

static void discard(struct inbound *in) {
  in->discarding = true;
  in->paused = false;
  in->kept_from = in->kept_to;
  in->payload_left = 0;
  in->likely_bytes = 0;
}

void inbound_read_tail(struct inbound *in) {
  if (in->tail_left > 0 && is_socket(&in->stream)) {
    in->tail_left = 0;
    struct iovec part = {in->buffer, sizeof in->buffer};
    (void)stream_read(&in->stream, &part, 1);
  }
}

static void stop_waiting(struct queue_pair *pair) {
  pair->responder.waits_for_receive = false;
  atomic_store(&pair->awaits_receive, 0);
}

static void leave_target(struct responder *responder) {
  region_leave(responder->target);
  responder->target = NULL;
}

/* The request that is under way is not carried on. */
void responder_drop(struct queue_pair *pair) {
  leave_target(&pair->responder);
  stop_waiting(pair);
}

void inbound_end(struct queue_pair *pair, struct inbound *in, uint32_t attention) {
  if (in->ended) {
    return;
  }
  in->ended = in->responses_stopped = true;
  discard(in);
  pair->inbound = NULL;
  responder_drop(pair);
  pair_raise(pair, ATTENTION_IN_ENDED | attention);
  if (pair->responder.stage == STAGE_REFUSED) {
    pair_fail(pair, REASON_REFUSED_REQUEST);
  }
}

/* A relay has altered it. The queue pair fails before the receive of that is complete. */
static void on_altered(struct queue_pair *pair, struct inbound *in, uint32_t part) {
  inbound_end(pair, in, part);
  pair_fail(pair, REASON_ALTERED);
}

static void refuse(struct queue_pair *pair, struct inbound *in, int16_t why) {
  in->nak_psn = pair->responder.psn;
  in->nak_reason = why;
  in->nak_pending = true;
  in->not_ready_pending = false;
  in->refusing = true;
  pair->responder.stage = STAGE_REFUSED;
  leave_target(&pair->responder);
  discard(in);
  responses_ring(in);
}

/* ---- receives ---- */

static void complete(struct queue_pair *pair, struct completion like) {
  like.work_request = oldest_receive(&pair->receives)->number;
  like.queue_pair = pair->number;
  release_to(&pair->receives.head, own(&pair->receives.head) + 1);
  if (!add_completion(pair->receive_completions, &like) &&
      atomic_exchange(&pair->receive_completions->overrun, 1) == 0) {
    pair_raise(pair, ATTENTION_RECEIVES_OVERRAN);
  }
}

void responder_flush(struct queue_pair *pair) {
  while (!has_no_receive(&pair->receives)) {
    complete(pair, (struct completion){.status = COMPLETION_FLUSHED, .opcode = COMPLETION_RECEIVE});
  }
}

static void refuse_send(struct queue_pair *pair, struct inbound *in, uint32_t status) {
  complete(pair, (struct completion){.status = status, .opcode = COMPLETION_RECEIVE});
  refuse(pair, in, status == COMPLETION_LOCAL_LENGTH ? NAK_INVALID_REQUEST : NAK_REMOTE_OPERATION);
}

/* ---- receiver not ready ---- */

static void go_on(struct queue_pair *pair, struct inbound *in);

void responder_say_not_ready(struct queue_pair *pair) {
  struct responder *responder = &pair->responder;
  struct inbound *in = pair->inbound;
  if (responder->waits_for_receive && responder->answered && !responder->patient && in != NULL) {
    in->not_ready_psn = responder->psn;
    in->not_ready_code = responder->min_rnr_timer;
    in->not_ready_pending = true;
    responses_ring(in);
    pair_raise(pair, ATTENTION_NOT_READY);
  }
}

static void wait_for_receive(struct queue_pair *pair, struct inbound *in) {
  pair->responder.waits_for_receive = true;
  pair->responder.waiting_since = nanos();
  in->paused = true;
  atomic_store(&pair->awaits_receive, 1);
  if (!has_no_receive(&pair->receives)) {
    go_on(pair, in); // just now
  } else {
    responder_say_not_ready(pair);
  }
}

/* ---- requests ---- */

static void expect_payload(struct inbound *in, uint32_t bytes) {
  in->payload_bytes = in->payload_left = bytes;
  in->was_long = bytes > COPIED_BYTES || (bytes == 0 && in->was_long); // NCCL sends an empty one behind each long one
}

/* All of a WRITE or SEND is in memory. */
static void finish_message(struct queue_pair *pair, struct inbound *in) {
  struct responder *responder = &pair->responder;
  leave_target(responder);
  struct completion completion = {.opcode = COMPLETION_RECEIVE, .bytes = responder->length};
  if (responder->opcode != WIRE_SEND && responder->opcode != WIRE_WRITE) {
    completion.immediate = htobe32(responder->immediate);
    completion.flags = COMPLETION_HAS_IMMEDIATE;
  }
  if (responder->opcode == WIRE_WRITE_WITH_IMMEDIATE) {
    completion.opcode = COMPLETION_RECEIVE_WITH_IMMEDIATE;
    if (has_no_receive(&pair->receives)) {
      wait_for_receive(pair, in);
      return;
    }
  }
  if (responder->opcode != WIRE_WRITE) {
    complete(pair, completion);
  }
  if (responder->answered) {
    acknowledge(in, responder->psn, responder->acknowledge_soon);
  }
  responder->expected_psn = (responder->expected_psn + 1) & PSN_MASK;
}

static void start_write(struct queue_pair *pair, struct inbound *in) {
  struct responder *responder = &pair->responder;
  if ((responder->access & ACCESS_REMOTE_WRITE) == 0) {
    refuse(pair, in, NAK_INVALID_REQUEST);
  } else if (responder->length == 0) {
    finish_message(pair, in);
  } else {
    responder->target = regions_remote(&pair->device->regions, pair->domain, responder->key, responder->address,
                                       responder->length, ACCESS_REMOTE_WRITE);
    responder->destination = responder->address;
    if (responder->target == NULL) {
      refuse(pair, in, NAK_REMOTE_ACCESS);
    } else {
      expect_payload(in, responder->length);
    }
  }
}

static void start_send(struct queue_pair *pair, struct inbound *in) {
  struct responder *responder = &pair->responder;
  if (has_no_receive(&pair->receives)) {
    wait_for_receive(pair, in);
    return;
  }
  const struct receive_entry *receive = oldest_receive(&pair->receives);
  if (responder->length > receive->length) {
    refuse_send(pair, in, COMPLETION_LOCAL_LENGTH);
  } else if (responder->length == 0) {
    finish_message(pair, in);
  } else {
    responder->target = regions_local(&pair->device->regions, pair->domain, receive->key, receive->address,
                                      responder->length, ACCESS_LOCAL_WRITE);
    responder->destination = receive->address;
    if (responder->target == NULL) {
      refuse_send(pair, in, COMPLETION_LOCAL_PROTECTION);
    } else {
      expect_payload(in, responder->length);
    }
  }
}

static bool is_of_send(const struct responder *responder) {
  return responder->opcode == WIRE_SEND || responder->opcode == WIRE_SEND_WITH_IMMEDIATE;
}

/* Goes on with a request that has waited for its receive. */
static void go_on(struct queue_pair *pair, struct inbound *in) {
  struct responder *responder = &pair->responder;
  stop_waiting(pair);
  const bool says_ready = responder->answered && !responder->patient;
  if (says_ready) {
    acknowledge(in, (responder->psn - 1) & PSN_MASK, false);
  } else if (nanos() - responder->waiting_since > LONG_NANOS) {
    in->ack_held = true; // its sender may have ended in the meantime
    pair_raise(pair, ATTENTION_HOLD);
  }
  in->paused = false;
  if (is_of_send(responder)) {
    start_send(pair, in);
  } else {
    finish_message(pair, in);
  }
}

/* False if it was altered on its way. */
static bool begin_check(struct inbound *in) {
  const struct request *request = &in->header;
  const bool marked = (request->opcode & CHECKED) != 0;
  if (!marked && !in->checked) {
    return true;
  }
  in->checked = true;
  in->of_payload = (request->opcode & CHECKED_PAYLOAD) != 0;
  in->payload_check = request->key;
  in->sum = 0;
  return marked && crc32c(0, request, CHECKED_HEADER_BYTES) == request->check;
}

static void on_request(struct queue_pair *pair, struct inbound *in) {
  struct responder *responder = &pair->responder;
  const struct request *request = &in->header;
  if (responder->stage == STAGE_NONE) {
    responder->stage = STAGE_TAKEN;
    pair_raise(pair, ATTENTION_TAKEN);
  }
  if (!begin_check(in)) {
    on_altered(pair, in, ATTENTION_HEADER);
    return;
  }
  responder->opcode = request->opcode & WIRE_OPCODE;
  responder->acknowledge_soon = (request->opcode & ACKNOWLEDGE_SOON) != 0;
  responder->answered = (request->opcode & UNANSWERED) == 0;
  responder->patient = (request->opcode & PATIENT) != 0;
  responder->psn = request->psn;
  responder->length = request->length;
  responder->address = request->address;
  responder->key = request->key;
  responder->immediate = request->immediate;
  if ((request->opcode & WITH_TAIL) != 0) {
    in->tail_left = TAIL_BYTES;
    // the length is what the peer says, and has not been looked at yet
    in->likely_bytes = request->length <= COPIED_BYTES ? REQUEST_BYTES + request->length : 0;
  }
  if (request->psn != responder->expected_psn || request->length > MAX_MESSAGE_BYTES) {
    inbound_end(pair, in, ATTENTION_REJECTED);
  } else if (is_of_send(responder)) {
    start_send(pair, in);
  } else if (responder->opcode == WIRE_WRITE || responder->opcode == WIRE_WRITE_WITH_IMMEDIATE) {
    start_write(pair, in);
  } else {
    refuse(pair, in, NAK_INVALID_REQUEST);
  }
}

/* ---- payloads ---- */

static bool is_target_open(const struct responder *responder) {
  return responder->target != NULL && region_is_open(responder->target);
}

static void on_payload_in_memory(struct queue_pair *pair, struct inbound *in, uint32_t bytes) {
  struct responder *responder = &pair->responder;
  if (in->of_payload) {
    in->sum = crc32c(in->sum, (const void *)(uintptr_t)responder->destination, bytes);
  }
  responder->destination += bytes;
  in->payload_left -= bytes;
  if (in->payload_left > 0) {
    return;
  }
  if (in->of_payload && in->sum != in->payload_check) {
    on_altered(pair, in, ATTENTION_PAYLOAD);
  } else {
    finish_message(pair, in);
  }
}

/*
 * Copies upward. Where the bytes end with an aligned word of 8, that word is in one piece and after all others: who
 * polls a clear-to-send entry looks at its last word.
 */
static void copy(uint64_t to, const unsigned char *from, uint32_t bytes) {
  unsigned char *target = (unsigned char *)(uintptr_t)to;
  const uint32_t before = bytes < 8 ? bytes : bytes - 8;
  if (bytes < 8 || ((to + before) & 7) != 0) {
    memcpy(target, from, bytes);
    return;
  }
  uint64_t last;
  memcpy(target, from, before);
  memcpy(&last, from + before, sizeof last);
  atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)(to + before), last, memory_order_release);
}

static void on_payload(struct queue_pair *pair, struct inbound *in, const unsigned char *at, uint32_t bytes) {
  struct responder *responder = &pair->responder;
  if (is_target_open(responder)) {
    copy(responder->destination, at, bytes);
    on_payload_in_memory(pair, in, bytes);
  } else if (is_of_send(responder)) {
    refuse_send(pair, in, COMPLETION_LOCAL_PROTECTION);
  } else {
    refuse(pair, in, NAK_REMOTE_ACCESS);
  }
}

/* ---- reading ---- */

static uint32_t least(uint32_t one, uint32_t other) {
  return one < other ? one : other;
}

/* Hands on what is kept. */
static void feed(struct queue_pair *pair, struct inbound *in) {
  while (!in->discarding && !in->paused && in->kept_from < in->kept_to) {
    const unsigned char *at = in->buffer + in->kept_from;
    const uint32_t kept = in->kept_to - in->kept_from;
    if (in->payload_left > 0) {
      const uint32_t piece = least(in->payload_left, kept);
      in->kept_from += piece;
      on_payload(pair, in, at, piece);
    } else if (in->tail_left > 0) {
      in->tail_left--;
      in->kept_from++;
    } else {
      const uint32_t piece = least(REQUEST_BYTES - in->header_filled, kept);
      memcpy((unsigned char *)&in->header + in->header_filled, at, piece);
      in->header_filled += piece;
      in->kept_from += piece;
      if (in->header_filled == REQUEST_BYTES) {
        in->header_filled = 0;
        in->likely_bytes = 0;
        on_request(pair, in);
      }
    }
  }
  if (in->discarding) {
    in->kept_from = in->kept_to;
  }
}

static bool is_in_message(const struct inbound *in) {
  return in->payload_left > 0 || in->header_filled > 0;
}

static uint32_t limit_of_buffer(const struct inbound *in) {
  if (in->was_long && in->payload_left == 0) {
    return REQUEST_BYTES - in->header_filled + in->tail_left;
  }
  const bool is_likely = in->found_nothing && in->likely_bytes > 0 && !is_in_message(in);
  return is_likely ? least(in->tail_left + in->likely_bytes, sizeof in->buffer) : (uint32_t)sizeof in->buffer;
}

static void hand_on(struct queue_pair *pair, struct inbound *in, uint32_t bytes) {
  in->kept_from = 0;
  in->kept_to = bytes;
  feed(pair, in);
}

/* Both return whether it is worth reading on. */
static bool read_into_buffer(struct queue_pair *pair, struct inbound *in) {
  const uint32_t wanted = limit_of_buffer(in);
  struct iovec part = {in->buffer, wanted};
  const int64_t bytes = stream_read(&in->stream, &part, 1);
  in->found_nothing = bytes <= TAIL_BYTES;
  if (bytes < 0) {
    inbound_end(pair, in, 0);
    return false;
  }
  hand_on(pair, in, (uint32_t)bytes);
  return bytes == wanted && (is_in_message(in) || wanted == sizeof in->buffer);
}

/* Reads what is left of a payload, or some of it, and no more than the header behind it. */
static bool read_in_place(struct queue_pair *pair, struct inbound *in) {
  const uint32_t wanted = least(in->payload_left, MOST_BYTES);
  const uint32_t behind = wanted == in->payload_left && is_socket(&in->stream) ? REQUEST_BYTES : 0;
  struct iovec parts[2] = {{(void *)(uintptr_t)pair->responder.destination, wanted}, {in->buffer, behind}};
  const int64_t bytes = stream_read(&in->stream, parts, behind == 0 ? 1 : 2);
  in->found_nothing = bytes <= 0;
  if (bytes < 0) {
    inbound_end(pair, in, 0);
    return false;
  }
  if (bytes > 0) {
    const uint32_t of_payload = least((uint32_t)bytes, wanted);
    on_payload_in_memory(pair, in, of_payload);
    if (!in->ended) {
      hand_on(pair, in, (uint32_t)bytes - of_payload);
    }
  }
  return bytes == (int64_t)wanted + behind && is_in_message(in);
}

static bool has_kept(const struct inbound *in) {
  return !in->paused && in->kept_from < in->kept_to;
}

static void receive(struct queue_pair *pair, struct inbound *in) {
  if (has_kept(in)) {
    feed(pair, in);
  }
  bool reads_on = true;
  for (int i = 0; i < READS_AT_ONCE && reads_on && !in->paused && pair->inbound == in; i++) {
    if (in->payload_left > 0 && is_left_to_mover(pair, &in->stream, in->payload_bytes)) {
      return;
    }
    reads_on = in->payload_left >= COPIED_BYTES && is_target_open(&pair->responder) ? read_in_place(pair, in)
                                                                                    : read_into_buffer(pair, in);
  }
}

/*
 * Takes the requests that have come; seldom while none is expected, or rather a response, which saves a system call
 * each time.
 */
void responder_receive(struct queue_pair *pair, bool unpolled, bool awaits_response) {
  struct responder *responder = &pair->responder;
  const bool likely = unpolled || !has_no_receive(&pair->receives) ||
                      (!awaits_response && (responder->access & ACCESS_REMOTE_WRITE) != 0);
  if (pair->inbound != NULL && (likely || ++responder->calls_unheard >= CALLS_UNHEARD)) {
    responder->calls_unheard = 0;
    receive(pair, pair->inbound);
  }
}

/* Goes on with a request whose receive may be there, and then with those after it. */
void responder_go_on(struct queue_pair *pair) {
  struct inbound *in = pair->inbound;
  if (in != NULL && pair->responder.waits_for_receive && !has_no_receive(&pair->receives)) {
    go_on(pair, in);
  }
  if (pair->inbound == in && in != NULL && has_kept(in)) {
    receive(pair, in);
  }
}
