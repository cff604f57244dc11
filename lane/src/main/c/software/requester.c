/*
 * The sending half of a queue pair: turns send work requests into requests on the wire, in their order, and what the
 * peer answers into completions. A request is complete when it is acknowledged; a SEND with INJECT_COMPLETE when the
 * socket has it, unless Java's stream carries it: what a NIC has not sent ends with the process.
 *
 * Requests are pulled by the socket: whenever it takes more, the next is encoded. Headers and short payloads go by way
 * of a small buffer, long payloads straight from registered memory, both by one call. So memory is only read while the
 * lock is held, and a region that is closed is not read any more.
 */
#include <endian.h>
#include <poll.h>
#include <string.h>

#include "pair.h"

/* Longer messages have no tail, and none has one behind those: the kernel acknowledges a full segment at once. */
enum { TAIL_LIMIT = 1 << 10 };

/* Checking a payload of no more costs less than sending it: it is always checked. */
enum { ALWAYS_CHECKED_BYTES = 4 << 10 };

/* Most calls in a row, for the same reason as MOST_BYTES. */
enum { WRITES_AT_ONCE = 4 };

/* Every so many calls it looks for acknowledgements of unsignalled requests, and for the end of the connection. */
enum { CALLS_UNHEARD = 16 };

/* ---- what is outstanding ---- */

static bool is_any_begun(const struct queue_pair *pair) {
  return pair->requester.head < pair->requester.next;
}

bool requester_has_work(const struct queue_pair *pair) {
  return pair->requester.head < latest(&pair->sends.tail);
}

uint32_t requester_psn(const struct queue_pair *pair, uint64_t index) {
  return (uint32_t)(pair->requester.first_psn + (index - pair->requester.base)) & PSN_MASK;
}

static bool is_send(uint32_t wire_opcode) {
  return wire_opcode == WIRE_SEND || wire_opcode == WIRE_SEND_WITH_IMMEDIATE;
}

static bool has_flag(const struct send_entry *entry, uint32_t flag) {
  return (entry->flags & flag) != 0 && is_send(entry->opcode);
}

/* Complete as soon as the socket has it. */
static bool is_injected(const struct queue_pair *pair, const struct send_entry *entry) {
  return !pair->requester.ends_with_process && has_flag(entry, FLAG_INJECT_COMPLETE);
}

/* It waits for the peer's receive as long as that takes. */
static bool is_patient(const struct queue_pair *pair, const struct send_entry *entry) {
  return has_flag(entry, FLAG_DELIVERY_COMPLETE) ||
         (pair->requester.ends_with_process && has_flag(entry, FLAG_INJECT_COMPLETE));
}

static void count(struct queue_pair *pair, uint64_t index, uint32_t by) {
  const struct send_entry *entry = send_at(&pair->sends, index);
  if (!is_injected(pair, entry)) {
    pair->requester.answers += is_patient(pair, entry) ? 0 : by;
    pair->requester.signaled += (entry->flags & REQUEST_SIGNALED) != 0 ? by : 0;
  }
}

/* ---- completions ---- */

static void add(struct queue_pair *pair, const struct send_entry *entry, uint32_t status) {
  const struct completion completion = {
      .work_request = entry->number,
      .status = status,
      .opcode = is_send(entry->opcode) ? COMPLETION_SEND : COMPLETION_WRITE,
      .bytes = entry->length,
      .queue_pair = pair->number,
  };
  if (!add_completion(pair->send_completions, &completion) &&
      atomic_exchange(&pair->send_completions->overrun, 1) == 0) {
    pair_raise(pair, ATTENTION_SENDS_OVERRAN);
  }
}

/* Reports the request at head if it asks for that or failed, and goes on to the next. */
static void complete(struct queue_pair *pair, uint32_t status) {
  struct requester *requester = &pair->requester;
  const struct send_entry entry = *send_at(&pair->sends, requester->head);
  if (is_any_begun(pair)) {
    count(pair, requester->head, UINT32_MAX);
  } else {
    requester->next++; // it never began
  }
  requester->head++;
  release_to(&pair->sends.head, requester->head); // who sees the completion may post another
  if ((entry.flags & REQUEST_SIGNALED) != 0 || status != COMPLETION_SUCCESS) {
    add(pair, &entry, status);
  }
}

void requester_fail(struct queue_pair *pair, uint32_t status, enum reason reason) {
  if (requester_has_work(pair)) {
    complete(pair, status);
  }
  pair_fail(pair, reason);
}

void requester_flush(struct queue_pair *pair) {
  while (requester_has_work(pair)) {
    complete(pair, COMPLETION_FLUSHED);
  }
}

/* The peer has it, or its memory has been read where the answer is not waited for. */
static bool is_done(const struct queue_pair *pair, uint64_t index) {
  const struct requester *requester = &pair->requester;
  return index < requester->acknowledged ||
         (index < requester->written && is_injected(pair, send_at(&pair->sends, index)));
}

static void complete_done(struct queue_pair *pair) {
  while (is_any_begun(pair) && is_done(pair, pair->requester.head)) {
    complete(pair, COMPLETION_SUCCESS);
  }
}

void requester_reset(struct queue_pair *pair) {
  struct requester *requester = &pair->requester;
  const uint64_t tail = latest(&pair->sends.tail);
  requester->head = requester->next = requester->base = requester->acknowledged = requester->written = tail;
  release_to(&pair->sends.head, tail);
  requester->answers = requester->signaled = requester->last_length = requester->failure = 0;
  requester->begun = requester->lost = requester->receiver_not_ready = false;
  atomic_store_explicit(&requester->delivered, 0, memory_order_relaxed);
}

/* ---- encoding ---- */

static bool may_start_next(const struct queue_pair *pair) {
  return pair->requester.failure == 0 && pair->requester.next != latest(&pair->sends.tail);
}

/* The next request fails; not from here: this runs inside a write to the connection that failing closes. */
static void fail_next(struct queue_pair *pair) {
  pair->requester.failure = COMPLETION_LOCAL_PROTECTION;
  atomic_store(&pair->work_due, 1);
}

static uint32_t opcode_on_wire(const struct queue_pair *pair, const struct send_entry *entry) {
  if (is_patient(pair, entry)) {
    return entry->opcode | PATIENT | ACKNOWLEDGE_SOON;
  }
  if (is_injected(pair, entry)) {
    return entry->opcode | UNANSWERED;
  }
  return (entry->flags & REQUEST_SIGNALED) != 0 ? entry->opcode | ACKNOWLEDGE_SOON : entry->opcode;
}

/*
 * A relay reads and writes payloads in its memory, where no checksum of TCP or of a NIC protects them: has the peer
 * check it.
 */
static void check(struct outbound *out, struct request *request, uint64_t payload) {
  const bool of_payload = request->length > 0 && is_send(request->opcode & WIRE_OPCODE) &&
                          (request->length <= ALWAYS_CHECKED_BYTES || out->long_ones++ % out->checks == 0);
  request->opcode |= of_payload ? CHECKED | CHECKED_PAYLOAD : CHECKED;
  if (of_payload) {
    request->key = crc32c(0, (const void *)(uintptr_t)payload, request->length);
  }
  request->check = crc32c(0, request, CHECKED_HEADER_BYTES);
}

/* Encodes the request at next, or notes why it fails. */
static void start_next(struct queue_pair *pair, struct outbound *out) {
  struct requester *requester = &pair->requester;
  const struct send_entry *entry = send_at(&pair->sends, requester->next);
  struct region *region = NULL;
  if (entry->length > 0 && (entry->flags & REQUEST_INLINE) == 0) {
    region = regions_local(&pair->device->regions, pair->domain, entry->local_key, entry->local_address,
                           entry->length, 0);
    if (region == NULL) {
      fail_next(pair);
      return;
    }
  }
  const bool has_tail = entry->length <= TAIL_LIMIT && requester->last_length <= TAIL_LIMIT;
  struct request request = {
      .opcode = opcode_on_wire(pair, entry) | (has_tail ? WITH_TAIL : 0),
      .psn = requester_psn(pair, requester->next),
      .address = entry->remote_address,
      .key = entry->remote_key,
      .length = entry->length,
      .immediate = entry->immediate,
  };
  if (out->checks != 0) {
    check(out, &request, entry->local_address);
  }
  memcpy(out->staging + out->to, &request, sizeof request);
  out->to += sizeof request;
  if (region == NULL || entry->length <= COPIED_BYTES) {
    if (entry->length > 0) {
      memcpy(out->staging + out->to, (const void *)(uintptr_t)entry->local_address, entry->length);
    }
    out->to += entry->length;
    region_leave(region);
  } else {
    out->payload = region;
    out->payload_address = entry->local_address;
    out->payload_bytes = out->payload_left = entry->length;
  }
  if (has_tail) {
    out->staging[out->to++] = 0;
  }
  count(pair, requester->next, 1);
  requester->next++;
  requester->begun = true;
  requester->last_length = entry->length;
}

static void encode(struct queue_pair *pair, struct outbound *out) {
  out->from = out->to = 0;
  pair->requester.written = pair->requester.next;
  while (out->payload_left == 0 && sizeof out->staging - out->to >= REQUEST_BYTES + COPIED_BYTES + TAIL_BYTES &&
         may_start_next(pair)) {
    start_next(pair, out);
  }
}

/* ---- writing ---- */

static bool is_written(const struct outbound *out) {
  return !out->stopped && out->from == out->to && out->payload_left == 0;
}

bool outbound_has_output(const struct queue_pair *pair, const struct outbound *out) {
  return !out->stopped && (out->from < out->to || out->payload_left > 0 || may_start_next(pair));
}

static void drop_payload(struct outbound *out) {
  region_leave(out->payload);
  out->payload = NULL;
  out->payload_left = 0;
}

void outbound_stop(struct outbound *out) {
  out->stopped = true;
  drop_payload(out);
  out->from = out->to = 0;
}

/* The memory of the last request's payload was deregistered while it was sent. */
static void lose_payload(struct queue_pair *pair, struct outbound *out) {
  drop_payload(out);
  pair->requester.next--;
  count(pair, pair->requester.next, UINT32_MAX);
  fail_next(pair);
}

/* Gives the socket what there is; false if it did not take all, or it is broken. */
static bool write_out(struct queue_pair *pair, struct outbound *out) {
  if (out->payload != NULL && !region_is_open(out->payload)) {
    lose_payload(pair, out);
  }
  const uint32_t staged = out->to - out->from;
  const uint32_t chunk = out->payload == NULL || out->payload_left < MOST_BYTES ? out->payload_left : MOST_BYTES;
  struct iovec parts[2];
  size_t count_of_parts = 0;
  if (staged > 0) {
    parts[count_of_parts++] = (struct iovec){out->staging + out->from, staged};
  }
  if (chunk > 0) {
    parts[count_of_parts++] = (struct iovec){(void *)(uintptr_t)out->payload_address, chunk};
  }
  if (count_of_parts == 0) {
    return true;
  }
  const int64_t bytes = stream_write(&out->stream, parts, count_of_parts);
  if (bytes < 0) {
    // the reading side meets the same, after the last that the peer has said. The socket may be well, and what was to
    // be sent not to be had: memory that was unmapped, but not deregistered
    outbound_stop(out);
    if (is_socket(&out->stream)) {
      (void)shutdown(out->stream.socket, SHUT_WR);
    }
    return false;
  }
  if (bytes > 0) {
    pair->requester.progress_at = nanos();
  }
  const uint32_t of_staged = bytes < staged ? (uint32_t)bytes : staged;
  const uint32_t of_payload = (uint32_t)bytes - of_staged;
  out->from += of_staged;
  out->payload_address += of_payload;
  out->payload_left -= of_payload;
  if (out->payload_left == 0) {
    drop_payload(out);
  }
  return (uint64_t)bytes == (uint64_t)staged + chunk;
}

void outbound_ring(struct queue_pair *pair, struct outbound *out) {
  for (int i = 0; i < WRITES_AT_ONCE && outbound_has_output(pair, out); i++) {
    if (is_written(out)) {
      encode(pair, out);
    }
    if ((out->payload_left > 0 && is_left_to_mover(pair, &out->stream, out->payload_bytes)) || !write_out(pair, out)) {
      return;
    }
  }
}

static void note_written(struct queue_pair *pair, const struct outbound *out) {
  if (is_written(out)) {
    pair->requester.written = pair->requester.next;
  } else if (!out->stopped && out->from == out->to) {
    pair->requester.written = pair->requester.next - 1; // nothing is begun behind a payload
  }
}

/* ---- responses ---- */

static void bad_response(struct queue_pair *pair) {
  requester_fail(pair, COMPLETION_BAD_RESPONSE, REASON_BAD_RESPONSE);
}

/* The peer has all requests up to that PSN. False if that is not possible, and the queue pair has failed. */
static bool acknowledge(struct queue_pair *pair, uint32_t psn) {
  struct requester *requester = &pair->requester;
  const bool is_sending = pair->outbound != NULL && pair->outbound->payload_left > 0;
  const uint64_t sent = requester->next - (is_sending ? 1 : 0);
  const int64_t end =
      (int64_t)requester->head + psn_distance(psn, requester_psn(pair, requester->head)) + 1;
  if (end > (int64_t)sent) {
    bad_response(pair);
    return false;
  }
  if (end > (int64_t)requester->acknowledged) {
    requester->acknowledged = (uint64_t)end;
  }
  atomic_store_explicit(&requester->delivered, requester->acknowledged - requester->base, memory_order_relaxed);
  complete_done(pair);
  return true;
}

static void on_refusal(struct queue_pair *pair, int16_t why, uint32_t psn) {
  if (psn_distance(psn, requester_psn(pair, pair->requester.head)) < 0) {
    pair_fail(pair, REASON_REFUSED_COMPLETE);
  } else if (!is_any_begun(pair)) {
    bad_response(pair);
  } else {
    requester_fail(pair,
                   why == NAK_REMOTE_ACCESS     ? COMPLETION_REMOTE_ACCESS
                   : why == NAK_INVALID_REQUEST ? COMPLETION_INVALID_REQUEST
                                                : COMPLETION_REMOTE_OPERATION,
                   REASON_REFUSED_BY_PEER);
  }
}

static void on_not_ready(struct queue_pair *pair, int16_t code) {
  struct requester *requester = &pair->requester;
  if (!is_any_begun(pair)) {
    bad_response(pair);
  } else if (requester->rnr_retry == 0) {
    requester_fail(pair, COMPLETION_RECEIVER_NOT_READY, REASON_NO_RECEIVE);
  } else {
    requester->receiver_not_ready = true;
    requester->receiver_code = code;
    pair_raise(pair, ATTENTION_RECEIVER);
  }
}

static void on_response(struct queue_pair *pair, const struct response *response) {
  const uint32_t before = (response->psn - 1) & PSN_MASK;
  switch (response->kind) {
    case RESPONSE_ACK:
      if (pair->requester.receiver_not_ready) {
        pair->requester.receiver_not_ready = false;
        pair_raise(pair, ATTENTION_RECEIVER);
      }
      (void)acknowledge(pair, response->psn);
      break;
    case RESPONSE_NAK:
      if (acknowledge(pair, before)) {
        on_refusal(pair, response->detail, response->psn);
      }
      break;
    case RESPONSE_NOT_READY:
      if (acknowledge(pair, before)) {
        on_not_ready(pair, response->detail);
      }
      break;
    default:
      bad_response(pair);
  }
}

/* The connection has ended: what was not answered fails, in requester_work. */
void requester_lose(struct queue_pair *pair) {
  if (pair->outbound == NULL) {
    return;
  }
  outbound_stop(pair->outbound);
  pair->outbound = NULL;
  pair->requester.lost = true;
  pair_raise(pair, ATTENTION_OUT_ENDED);
  if (state_of(pair) == STATE_READY_TO_SEND) {
    requester_work(pair);
  }
}

/* Hands on what is read; true if the connection is still the queue pair's. */
static bool take_responses(struct queue_pair *pair, struct outbound *out) {
  uint32_t at = 0;
  for (; out->filled - at >= RESPONSE_BYTES && pair->outbound == out; at += RESPONSE_BYTES) {
    struct response response;
    memcpy(&response, out->responses + at, sizeof response);
    on_response(pair, &response);
  }
  out->filled -= at;
  memmove(out->responses, out->responses + at, out->filled);
  return pair->outbound == out;
}

void requester_receive(struct queue_pair *pair, bool even_if_nobody_waits) {
  struct requester *requester = &pair->requester;
  struct outbound *out = pair->outbound;
  if (out == NULL ||
      !(even_if_nobody_waits || requester->signaled > 0 || ++requester->calls_unheard >= CALLS_UNHEARD)) {
    return;
  }
  requester->calls_unheard = 0;
  bool reads_on = true;
  for (int i = 0; i < 4 && reads_on; i++) {
    const uint32_t room = (uint32_t)sizeof out->responses - out->filled;
    struct iovec part = {out->responses + out->filled, room};
    const int64_t bytes = stream_read(&out->stream, &part, 1);
    if (bytes < 0) {
      requester_lose(pair);
      return;
    }
    if (bytes > 0) {
      requester->progress_at = nanos();
    }
    out->filled += (uint32_t)bytes;
    reads_on = take_responses(pair, out) && bytes == room;
  }
}

/* ---- work ---- */

bool requester_waits_for_peer(const struct queue_pair *pair) {
  return pair->requester.answers > 0 || (pair->outbound == NULL && requester_has_work(pair));
}

static void limit_time(struct queue_pair *pair) {
  struct requester *requester = &pair->requester;
  const bool is_asked = (atomic_load_explicit(&pair->attention, memory_order_relaxed) & ATTENTION_TIMER) != 0;
  if (requester_waits_for_peer(pair) && requester->retry_nanos > 0 && !requester->timer_armed && !is_asked) {
    requester->progress_at = nanos();
    pair_raise(pair, ATTENTION_TIMER);
  }
}

/* Looks for something to do: after posts, and whenever something that was waited for has happened. */
void requester_work(struct queue_pair *pair) {
  struct requester *requester = &pair->requester;
  if (!requester_has_work(pair)) {
    return;
  }
  if (requester->failure != 0 && !is_any_begun(pair)) {
    requester_fail(pair, requester->failure, REASON_LOCAL_REQUEST);
    return;
  }
  if (requester->lost) {
    complete_done(pair);
    if (requester_has_work(pair)) {
      requester_fail(pair, COMPLETION_RETRY_EXCEEDED, REASON_CONNECTION_CLOSED);
    }
    return;
  }
  if (pair->outbound != NULL) {
    outbound_ring(pair, pair->outbound);
    note_written(pair, pair->outbound);
    complete_done(pair);
  } else if (!requester->connecting) {
    pair_raise(pair, ATTENTION_CONNECT);
  }
  limit_time(pair);
}
