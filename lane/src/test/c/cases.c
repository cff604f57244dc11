#include "cases.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "connection.h"

enum { TAG = 7 };

static struct connection *connection;
static struct side *sender, *receiver;

static enum way way;

static void open_from(uint64_t first) {
  connection = connection_open(first, way, 0, true);
  sender = &connection->sender;
  receiver = &connection->receiver;
}

static void close_it(void) {
  check_side(sender);
  check_side(receiver);
  connection_close(connection);
}

static void step_often(void) {
  for (int i = 0; i < 2000; i++) {
    device_step(&connection->device);
  }
}

/* A call for the next message; its request, or NULL. Says what it came to. */
static void *message(struct side *side, uint64_t size, enum lane_outcome *outcome) {
  void *request = NULL;
  const uint64_t number = side->lane->next;
  *outcome = lane_message(side->comm, side->lane->sends, (uint64_t)(uintptr_t)buffer_of(side, number), size, TAG,
                          memory_handle_of(side, number), &request);
  return request;
}

static uint64_t begun(struct side *side, uint64_t size) {
  enum lane_outcome outcome;
  void *request = message(side, size, &outcome);
  CHECK(outcome == LANE_ANSWERED && request != NULL);
  return (uint64_t)(uintptr_t)request;
}

static bool waits(struct side *side, uint64_t size) {
  enum lane_outcome outcome;
  return message(side, size, &outcome) == NULL && outcome == LANE_ANSWERED;
}

static bool is_for_java(struct side *side, uint64_t size) {
  enum lane_outcome outcome;
  return message(side, size, &outcome) == NULL && outcome == LANE_FOR_JAVA;
}

static bool finishes(uint64_t request, int expected) {
  for (int i = 0; i < 100; i++) {
    int done = 0, size = -1;
    CHECK(lane_test(request, &done, &size) == LANE_ANSWERED);
    if (done) {
      return size == expected;
    }
  }
  return false;
}

static void polls_until(struct side *side, bool (*is)(const struct lane *lane)) {
  for (int i = 0; i < 100 && !is(side->lane); i++) {
    lane_poll(side->lane);
  }
  CHECK(is(side->lane));
}

static bool has_polled(const struct lane *lane) {
  return lane->polled != 0;
}

/* Tells whether a call has changed nothing but the errno. */
static bool is_same(const struct lane *before, const struct lane *lane) {
  struct lane now = *lane;
  now.refused = before->refused;
  return memcmp(before, &now, sizeof now) == 0;
}

/* ---- completions that are Java's ---- */

static int32_t canned_count;
static struct completion canned[LANE_COMPLETIONS];

static int poll_canned(void *queue, int entries, struct completion *completions) {
  (void)queue;
  CHECK(entries == LANE_COMPLETIONS);
  memcpy(completions, canned, sizeof canned);
  return canned_count;
}

static struct completion of_receive(uint32_t size, uint32_t status) {
  return (struct completion){
      .status = status, .opcode = COMPLETION_RECEIVE_WITH_IMMEDIATE, .immediate = htobe32(size)};
}

static void leaves_unusual_completions(void) {
  open_from(0);
  const uint64_t first = begun(receiver, 100), second = begun(receiver, 100), third = begun(receiver, 100);
  int done = 0, size = 0;
  receiver->lane->poll = poll_canned;
  canned_count = 3;
  canned[0] = of_receive(100, COMPLETION_SUCCESS);
  canned[1] = of_receive(101, COMPLETION_SUCCESS); // longer than what was asked for
  canned[2] = of_receive(5, COMPLETION_SUCCESS);
  CHECK(lane_test(second, &done, &size) == LANE_FOR_JAVA && !done);
  CHECK(receiver->lane->polled == 3 && receiver->lane->taken == 1 && receiver->lane->completed == 1);
  CHECK(memcmp(receiver->completions, canned, 3 * sizeof *canned) == 0 && receiver->lane->receives == 15);
  canned_count = 1;
  CHECK(lane_test(second, &done, &size) == LANE_FOR_JAVA && !done && receiver->lane->polled == 3); // no other poll
  CHECK(lane_test(first, &done, &size) == LANE_ANSWERED && done && size == 100);

  receiver->lane->polled = 0;
  canned_count = 3;
  canned[0] = of_receive(0, STATUS_FLUSHED); // and successes behind it
  canned[1] = of_receive(50, COMPLETION_SUCCESS);
  canned[2] = of_receive(60, COMPLETION_SUCCESS);
  CHECK(lane_test(third, &done, &size) == LANE_FOR_JAVA && !done);
  CHECK(receiver->lane->polled == 3 && receiver->lane->taken == 0 && receiver->lane->completed == 1);
  CHECK(memcmp(receiver->completions, canned, 3 * sizeof *canned) == 0);
  for (int i = 1; i < 3; i++) {
    CHECK(lane_functions.take(receiver->lane, &receiver->completions[i]) == 1);
  }
  CHECK(lane_functions.take(receiver->lane, &receiver->completions[2]) == 0); // no request is left
  CHECK(receiver->lane->completed == 3 && receiver->lane->receives == 13);
  atomic_store(&receiver->lane->gate, GATE_FENCED); // finished: nobody needs to come in
  CHECK(lane_test(second, &done, &size) == LANE_ANSWERED && done && size == 50);
  CHECK(lane_test(third, &done, &size) == LANE_ANSWERED && done && size == 60);
  CHECK(lane_test(third, &done, &size) == LANE_FOR_JAVA && !done);
  atomic_store(&receiver->lane->gate, GATE_OPEN);

  receiver->lane->polled = 0;
  const uint64_t fourth = begun(receiver, 100);
  canned_count = 1;
  canned[0] = (struct completion){.opcode = 128}; // IBV_WC_RECV: of a send, which nobody posts
  CHECK(lane_test(fourth, &done, &size) == LANE_FOR_JAVA && receiver->lane->polled == 1);
  receiver->lane->polled = 0;
  canned_count = -EIO;
  CHECK(lane_test(fourth, &done, &size) == LANE_FOR_JAVA && receiver->lane->polled == -EIO && !done);
  CHECK(receiver->lane->taken == 0 && receiver->lane->completed == 3);
  receiver->lane->polled = 0;
  receiver->lane->receives += 3; // which the device still has
  connection_close(connection);
}

static void leaves_what_is_not_asked_for(void) {
  open_from(0);
  sender->lane->poll = receiver->lane->poll = poll_canned;
  canned_count = 1;
  canned[0] = of_receive(0, COMPLETION_SUCCESS);
  CHECK(!lane_poll(receiver->lane) && receiver->lane->polled == 1 && receiver->lane->completed == 0);
  canned[0] = (struct completion){.opcode = COMPLETION_WRITE};
  CHECK(!lane_poll(sender->lane) && sender->lane->polled == 1 && sender->lane->room == sender->depth);
  sender->lane->polled = 0;
  begun(receiver, 8);
  step_often();
  begun(sender, 8);
  canned[0] = of_receive(8, COMPLETION_SUCCESS); // at the end that sends
  CHECK(!lane_poll(sender->lane) && sender->lane->polled == 1 && sender->lane->completed == 0);
  sender->lane->polled = 0;
  entry_at(sender->lane, 0)->state = REQUEST_FAILED; // by Java
  canned[0] = (struct completion){.opcode = COMPLETION_WRITE};
  CHECK(!lane_poll(sender->lane) && sender->lane->completed == 0);
  connection->ring[1].sequence = 2 + LANE_REQUESTS; // a later message's
  CHECK(waits(sender, 8));
  connection_close(connection);
}

static void says_errors_of_the_device(void) {
  open_from(0);
  receiver->memories[0].remote_key += 1000; // unknown to the receiver's device
  begun(receiver, 32);
  step_often();
  begun(sender, 32);
  step_often();
  polls_until(sender, has_polled);
  CHECK(sender->completions[0].status == STATUS_REMOTE_ACCESS && sender->lane->taken == 0);
  CHECK(sender->lane->completed == 0 && receiver->lane->completed == 0);
  connection_close(connection);
}

/* ---- arguments ---- */

static void leaves_unusual_arguments(void) {
  open_from(0);
  const uint64_t asked = begun(receiver, 100);
  step_often();
  const struct lane before = *sender->lane;
  const uint64_t at = (uint64_t)(uintptr_t)buffer_of(sender, 0), handle = sender->handles[0];
  const uint64_t length = sender->memories[0].length, start = sender->memories[0].address;
  const uint64_t generation = UINT64_C(1) << 48, slot = UINT64_C(1) << 32;
  const struct {
    uint64_t comm;
    bool sends;
    uint64_t address, size;
    int tag;
    uint64_t memory;
  } calls[] = {
      {sender->comm + generation, true, at, 8, TAG, handle},          /* a stale comm */
      {sender->comm + 64 * slot, true, at, 8, TAG, handle},           /* a slot that nobody has */
      {0, true, at, 8, TAG, handle},
      {sender->comm, false, at, 8, TAG, handle},                      /* the other way */
      {sender->comm, true, at, 8, TAG, 0},
      {sender->comm, true, at, 8, TAG, handle + generation},          /* stale memory */
      {sender->comm, true, receiver->memories[0].address, 8, TAG, receiver->handles[0]}, /* another comm's */
      {sender->comm, true, start - 1, 8, TAG, handle},
      {sender->comm, true, start, length + 1, TAG, handle},
      {sender->comm, true, start + length - 7, 8, TAG, handle},
      {sender->comm, true, start + length + 1, 0, TAG, handle},
      {sender->comm, true, UINT64_MAX - 3, 8, TAG, handle},
      {sender->comm, true, at, UINT64_MAX, TAG, handle},
      {sender->comm, true, at, (uint64_t)(int64_t)-1, TAG, handle},
      {sender->comm, true, at, 101, TAG, handle},                     /* more than its receiver has room for */
      {sender->comm, true, at, 8, TAG + 1, handle},
  };
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
    void *request = NULL;
    CHECK(lane_message(calls[i].comm, calls[i].sends, calls[i].address, calls[i].size, calls[i].tag,
                       calls[i].memory, &request) == LANE_FOR_JAVA &&
          request == NULL && is_same(&before, sender->lane));
  }
  CHECK(lane_functions.isend(sender->lane, at, 101, sender->memories[0].local_key, TAG, handle) == LANE_FAILED);
  CHECK(lane_functions.isend(sender->lane, at, 8, sender->memories[0].local_key, TAG + 1, handle) == LANE_FAILED);
  CHECK(sender->lane->refused == 0 && is_same(&before, sender->lane) && sender->counters.messages == 0);

  const uint64_t sent = begun(sender, 100);
  CHECK(sent != asked);
  int done = 0, size = -1;
  const uint64_t tested[] = {0, sent + generation, sent + 64 * slot, sent + 4, sent | 2, sender->comm};
  for (unsigned i = 0; i < sizeof tested / sizeof *tested; i++) {
    CHECK(lane_test(tested[i], &done, &size) == LANE_FOR_JAVA && !done && size == -1);
  }
  step_often();
  CHECK(finishes(sent, 100) && finishes(asked, 100));
  close_it();
}

/* Any that fits is known by its size alone: nothing of it is looked at before its receiver has asked. */
static void leaves_messages_that_are_too_long(void) {
  open_from(0);
  struct lane_memory *memory = &sender->memories[0];
  const uint64_t length = memory->length;
  memory->length = 2 * (uint64_t)LANE_MAX_MESSAGE_BYTES;
  CHECK(waits(sender, LANE_MAX_MESSAGE_BYTES));
  CHECK(is_for_java(sender, LANE_MAX_MESSAGE_BYTES + 1) && is_for_java(sender, memory->length));
  memory->length = length;
  close_it();
}

static void sees_no_gate_but_an_open_one(void) {
  open_from(0);
  const uint64_t asked = begun(receiver, 8);
  int done = 0, size = 0;
  const uint32_t gates[] = {GATE_CLOSED, GATE_ASK, GATE_FENCED};
  for (int i = 0; i < 3; i++) {
    atomic_store(&receiver->lane->gate, gates[i]);
    const struct lane before = *receiver->lane;
    CHECK(lane_test(asked, &done, &size) == LANE_FOR_JAVA && !done);
    CHECK(is_for_java(receiver, 8) && is_same(&before, receiver->lane));
  }
  atomic_store(&receiver->lane->gate, GATE_OPEN);
  atomic_store(&receiver->lane->handle, 0); // closed
  CHECK(lane_test(asked, &done, &size) == LANE_FOR_JAVA && !done && is_for_java(receiver, 8));
  close_it();
}

/* ---- refusals and room ---- */

static void begins_nothing_where_a_post_is_refused(void) {
  open_from(0);
  struct lane before = *receiver->lane;
  receiver->end->refusing = ENOMEM; // the receives
  receiver->end->accepting = 5;
  CHECK(is_for_java(receiver, 100) && receiver->lane->refused == ENOMEM && receiver->lane->receives == 5);
  before.receives = 5;
  CHECK(is_same(&before, receiver->lane));
  receiver->end->refusing = EINVAL; // the entry, as there are receives now
  receiver->end->accepting = 0;
  CHECK(is_for_java(receiver, 100) && receiver->lane->refused == EINVAL && is_same(&before, receiver->lane));
  const uint64_t asked = begun(receiver, 300);
  CHECK(receiver->lane->written == 1);
  step_often();
  for (int accepting = 0; accepting < 5; accepting += 4) { // the first write, and the last
    before = *sender->lane;
    sender->end->refusing = EINVAL;
    sender->end->accepting = accepting;
    CHECK(is_for_java(sender, 300) && sender->lane->refused == EINVAL && is_same(&before, sender->lane));
    CHECK(sender->counters.messages == 0);
  }
  const uint64_t sent = begun(sender, 300);
  step_often();
  CHECK(finishes(sent, 300) && finishes(asked, 300));
  close_it();
}

static void says_again_where_there_is_no_room(void) {
  open_from(0);
  sender->lane->room = 4; // of writes
  begun(receiver, 5 * LONGEST);
  step_often();
  CHECK(waits(sender, 5 * LONGEST) && waits(sender, 4 * LONGEST + 1) && sender->lane->next == 0);
  CHECK(sender->counters.waits == 0 && sender->lane->room == 4);
  begun(sender, 4 * LONGEST);
  CHECK(sender->lane->room == 0 && waits(sender, 1) && waits(sender, 1) && sender->counters.waits == 1);
  sender->lane->room += sender->depth - 4;
  receiver->lane->room = 0;
  CHECK(waits(receiver, 1) && receiver->lane->next == 1 && receiver->lane->written == 1);
  receiver->lane->room = receiver->depth - 1;
  close_it();
}

/* ---- eager messages ---- */

static struct completion of_message(uint64_t number, uint32_t bytes, int32_t tag) {
  return (struct completion){.work_request = number,
                             .opcode = COMPLETION_RECEIVE,
                             .bytes = bytes,
                             .immediate = htobe32((uint32_t)tag)};
}

static void leaves_unusual_messages(void) {
  way = EAGER_WITH_COPIES;
  open_from(5);
  receiver->lane->poll = sender->lane->poll = poll_canned;
  canned_count = 1;
  canned[0] = of_message(5, 0, TAG);
  CHECK(!lane_poll(receiver->lane) && receiver->lane->completed == 5); // nobody has asked for one
  receiver->lane->polled = 0;
  begun(receiver, 100);
  begun(receiver, 100);
  struct completion unusual[] = {of_message(5, 101, TAG), of_message(5, 100, TAG + 1), of_message(6, 100, TAG),
                                 of_message(4, 100, TAG), of_receive(100, COMPLETION_SUCCESS)};
  for (unsigned i = 0; i < sizeof unusual / sizeof *unusual; i++) {
    canned[0] = unusual[i];
    CHECK(!lane_poll(receiver->lane) && receiver->lane->polled == 1 && receiver->lane->completed == 5);
    receiver->lane->polled = 0;
  }
  canned[0] = of_message(5, 100, TAG);
  CHECK(lane_poll(receiver->lane) && receiver->lane->completed == 6);

  begun(sender, 100);
  canned[0] = (struct completion){.work_request = 6, .opcode = COMPLETION_SEND}; // it has not begun
  CHECK(!lane_poll(sender->lane) && sender->lane->completed == 5);
  sender->lane->polled = 0;
  canned[0] = (struct completion){.work_request = 5, .opcode = COMPLETION_WRITE};
  CHECK(!lane_poll(sender->lane) && sender->lane->completed == 5);
  sender->lane->polled = 0;
  canned[0].opcode = COMPLETION_SEND;
  CHECK(lane_poll(sender->lane) && sender->lane->completed == 6 && sender->lane->room == sender->depth);
  connection_close(connection);
}

static void keeps_nothing_of_a_message_that_is_refused(void) {
  way = EAGER_WITH_COPIES;
  open_from(0);
  begun(sender, 100);
  const struct lane before = *sender->lane;
  const struct unconfirmed kept = connection->unconfirmed;
  for (uint32_t size = 0; size <= MAX_BYTES; size += MAX_BYTES / 4) {
    sender->end->refusing = EINVAL;
    sender->end->accepting = 0;
    CHECK(is_for_java(sender, size) && sender->lane->refused == EINVAL && is_same(&before, sender->lane));
    struct unconfirmed now = connection->unconfirmed;
    now.messages[1] = kept.messages[1];
    CHECK(memcmp(&kept, &now, sizeof now) == 0);
  }
  sender->lane->room = 0;
  CHECK(waits(sender, 8));
  sender->lane->room = sender->depth - 1;
  connection->unconfirmed.oldest = UINT64_C(1) - UNCONFIRMED; // as many as there may be
  sender->lane->confirmed = 0;
  CHECK(waits(sender, 8) && sender->lane->next == 1);
  connection_close(connection);
}

static unsigned posted_flags;

static int post_canned(void *queue_pair, struct send_request *request, struct send_request **refused) {
  (void)queue_pair;
  *refused = request;
  posted_flags = request->flags;
  return draw(10) == 0 ? EINVAL : 0;
}

/* Else nothing would ever be confirmed, and nothing more be sent. */
static void has_asked_when_there_is_no_room(void) {
  static unsigned char ring[16 << 10], message[4 << 10];
  static struct unconfirmed of;
  static struct lane_counters counters;
  for (int round = 0; round < 1000; round++) {
    of = (struct unconfirmed){.rings = {{(uint64_t)(uintptr_t)ring, sizeof ring, 0}},
                              .longest_copy = sizeof message};
    _Atomic uint64_t delivered = 0;
    struct lane lane = {.handle = 1, .counters = &counters, .post_send = post_canned, .eager = 1, .sends = 1,
                        .unconfirmed = &of, .delivered = &delivered};
    const uint64_t most = 1 + draw(sizeof message);
    uint64_t asked = 0;
    for (int i = 0; i < 2000; i++) {
      const struct memory_piece piece = {(uint64_t)(uintptr_t)message, (uint32_t)draw(most), 0};
      lane.room = 1;
      entry_at(&lane, lane.next)->state = REQUEST_FREE; // NCCL has heard of it
      int64_t result = lane_isend(&lane, piece, TAG, 0);
      if (result == LANE_NO_ROOM) {
        CHECK(asked > of.oldest);
        delivered = asked;
        result = lane_isend(&lane, piece, TAG, 0);
      }
      CHECK(result > 0 || (result == LANE_FAILED && lane.refused == EINVAL));
      if (result > 0 && (posted_flags & FLAG_DELIVERY_COMPLETE) != 0) {
        asked = lane.next;
      }
    }
  }
}

/* ---- copies that may be spared ---- */

enum { BETWEEN = LONGEST_COPY_AT_ONCE + 50 };

/* Bytes of a message that begins at the sender. */
static unsigned char *fill(unsigned char with) {
  return memset(buffer_of(sender, sender->lane->next), with, BUFFER_BYTES);
}

static bool is_all(const unsigned char *bytes, unsigned char byte, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) {
    if (bytes[i] != byte) {
      return false;
    }
  }
  return true;
}

/* A message of the first ones has come, as it was. */
static bool arrives(uint64_t number, uint64_t request, unsigned char byte, int size) {
  return finishes(request, size) && is_all(buffer_of(receiver, number), byte, (uint32_t)size);
}

static struct unconfirmed_message *kept_of(uint64_t number) {
  return unconfirmed_at(&connection->unconfirmed, number);
}

static bool is_copied(uint64_t number) {
  return kept_of(number)->memory == 0 && kept_of(number)->since == 0;
}

static void cut_and_connect(void) {
  connection->device.cut = true;
  java_fence(sender);
  java_fence(receiver);
  java_connect(connection);
  java_open_gate(sender);
  java_open_gate(receiver);
}

static void copies_nothing_that_is_confirmed(void) {
  way = EAGER_WITH_COPIES;
  open_from(0);
  unsigned char *bytes = fill('a');
  const uint64_t asked = begun(receiver, BETWEEN), sent = begun(sender, BETWEEN), next = begun(sender, 8);
  step_often();
  CHECK(!finishes(next, 8) && !finishes(sent, BETWEEN) && sender->lane->room == sender->depth);
  sender->end->delivered = 1;
  microseconds += 1000;
  CHECK(finishes(sent, BETWEEN) && finishes(next, 8));
  CHECK(kept_of(0)->memory == sender->handles[0] && is_all(connection->copies[0], 0, BETWEEN));
  memset(bytes, 'b', BUFFER_BYTES);
  CHECK(arrives(0, asked, 'a', BETWEEN));
  cut_and_connect(); // and it is not sent again
  const uint64_t other = begun(receiver, 8);
  step_often();
  CHECK(finishes(other, 8) && sender->lane->completed == 2);
  close_it();
}

/* NCCL's memory is used for other things, and what is sent again is as it was; C copies, or where it may not Java. */
static void copies_what_is_not_confirmed_in_time(bool by_java) {
  way = EAGER_WITH_COPIES;
  open_from(0);
  unsigned char *bytes = fill('a');
  const uint64_t sent = begun(sender, BETWEEN), next = begun(sender, 8);
  step_often(); // into the peer's device, which has no receives
  microseconds += COPIED_AFTER_US - 2;
  CHECK(!finishes(next, 8) && !is_copied(0) && kept_of(0)->memory == sender->handles[0]);
  int size = -1;
  if (by_java) {
    atomic_store(&sender->lane->gate, GATE_ASK);
    CHECK(!java_test(sender, next, &size));
  }
  microseconds += 2;
  if (by_java) {
    CHECK(java_message(sender, 2, 8, TAG) != 0);
    step_often();
    java_progress(sender); // by another thread
    CHECK(!is_copied(0) && sender->lane->completed == 0 && connection->unconfirmed.sent == 3);
    CHECK(java_test(sender, next, &size) && size == 8 && java_test(sender, sent, &size) && size == BETWEEN);
  } else {
    CHECK(finishes(next, 8) && finishes(sent, BETWEEN));
  }
  CHECK(is_copied(0));
  memset(bytes, 'b', BUFFER_BYTES);
  for (int times = 0; times < 2; times++) {
    cut_and_connect();
    step_often();
  }
  const uint64_t asked = begun(receiver, BETWEEN);
  step_often();
  CHECK(arrives(0, asked, 'a', BETWEEN) && sender->lane->completed == (by_java ? 3 : 2));
  close_it();
}

static void sends_again_from_where_it_is_what_is_not_copied(void) {
  way = EAGER_WITH_COPIES;
  open_from(0);
  fill('a');
  const uint64_t sent = begun(sender, BETWEEN), next = begun(sender, 8);
  step_often();
  CHECK(!finishes(sent, BETWEEN));
  for (int times = 0; times < 2; times++) {
    microseconds += 1000; // before the fence: nobody copies any more
    cut_and_connect();
    CHECK(sender->lane->completed == 0 && kept_of(0)->memory == sender->handles[0] && kept_of(0)->since == 0);
    microseconds += 1000;
    step_often();
    CHECK(!finishes(sent, BETWEEN) && !finishes(next, 8) && !is_copied(0)); // the device still needs its memory
  }
  const uint64_t asked = begun(receiver, BETWEEN);
  step_often();
  CHECK(finishes(sent, BETWEEN) && sender->lane->completed >= 1 && arrives(0, asked, 'a', BETWEEN));
  int done = 0, size = -1;
  CHECK(lane_test(sent, &done, &size) == LANE_FOR_JAVA && !done);
  CHECK(finishes(next, 8) && sender->lane->completed == 2);
  close_it();
}

/* ---- numbers ---- */

static void wraps(uint64_t first) {
  open_from(first);
  uint64_t asked[LANE_REQUESTS], sent[LANE_REQUESTS];
  for (int turn = 0; turn < 5; turn++) {
    for (int i = 0; i < LANE_REQUESTS;) { // as room comes
      const int size = i % 3 == 0 ? 0 : i;
      void *request = NULL;
      enum lane_outcome outcome;
      request = message(receiver, (uint64_t)size, &outcome);
      asked[i] = (uint64_t)(uintptr_t)request;
      i += request != NULL;
      step_often();
    }
    CHECK(waits(receiver, 1));
    for (int i = 0; i < LANE_REQUESTS;) {
      enum lane_outcome outcome;
      memset(buffer_of(sender, sender->lane->next), i, BUFFER_BYTES);
      void *request = message(sender, i % 3 == 0 ? 0 : (uint64_t)i, &outcome);
      sent[i] = (uint64_t)(uintptr_t)request;
      i += request != NULL;
      step_often();
    }
    CHECK(waits(sender, 1));
    for (int i = LANE_REQUESTS - 1; i >= 0; i--) {
      CHECK(finishes(sent[i], i % 3 == 0 ? 0 : i) && finishes(asked[i], i % 3 == 0 ? 0 : i));
    }
    CHECK(completed_of(sender) == sender->lane->next && completed_of(receiver) == sender->lane->next);
  }
  CHECK(sender->lane->next == first + 5 * LANE_REQUESTS && receiver->counters.messages == 5 * LANE_REQUESTS);
  CHECK(sender->counters.bytes == receiver->counters.bytes);
  close_it();
}

/* ---- flushes ---- */

static struct flush_device flush_device;
static struct flushes flushes;
static int reads_posted, read_errno;

static int post_read(void *queue_pair, struct send_request *request, struct send_request **refused) {
  const struct lane_memory *memory = &receiver->memories[0];
  CHECK(queue_pair == &flush_device && request->opcode == REQUEST_READ && request->flags == REQUEST_SIGNALED);
  CHECK(request->next == NULL && request->piece_count == 1 && request->pieces->length == 1);
  CHECK(request->pieces->address == flush_device.landing && request->pieces->key == flush_device.landing_key);
  CHECK(request->remote_address >= memory->address && request->remote_key == memory->remote_key);
  *refused = request;
  reads_posted += read_errno == 0;
  return read_errno;
}

static void open_flushes(uint64_t next) {
  way = RENDEZVOUS;
  open_from(0);
  receiver->memories[0].of_gpu = 1;
  flush_device = (struct flush_device){.queue_pair = &flush_device,
                                       .post_send = post_read,
                                       .poll = poll_canned,
                                       .landing = 4096,
                                       .landing_key = 77};
  flushes = (struct flushes){.device = &flush_device, .next = next};
  receiver->lane->flushes = &flushes;
  reads_posted = read_errno = canned_count = 0;
  memset(canned, 0, sizeof canned);
}

static enum lane_outcome flush(void **request) {
  return lane_flush(receiver->comm, receiver->memories[0].address + 5, 8, receiver->handles[0], request);
}

static uint64_t flush_begun(void) {
  void *request = NULL;
  CHECK(flush(&request) == LANE_ANSWERED);
  const uint64_t handle = (uint64_t)(uintptr_t)request;
  CHECK((handle & 3) == 3 && comm_of(handle) == receiver->comm);
  return handle;
}

static bool is_flushed(uint64_t request) {
  int done = 0, size = 0;
  CHECK(lane_test(request, &done, &size) == LANE_ANSWERED && size == 0);
  return done;
}

static bool is_flush_for_java(void) {
  const struct flushes before = flushes;
  const struct flush_device device_before = flush_device;
  void *request = NULL;
  return flush(&request) == LANE_FOR_JAVA && request == NULL && memcmp(&before, &flushes, sizeof flushes) == 0 &&
         memcmp(&device_before, &flush_device, sizeof flush_device) == 0;
}

static bool is_test_for_java(uint64_t request) {
  int done = 0, size = 0;
  return lane_test(request, &done, &size) == LANE_FOR_JAVA && !done;
}

/* A READ for each, which are done in their order, whichever NCCL asks for. */
static void flushes_from(uint64_t next) {
  open_flushes(next);
  uint64_t requests[FLUSHES];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < FLUSHES; i++) {
      requests[i] = flush_begun();
      CHECK(entry_of(receiver->lane, requests[i])->request != requests[i]);
    }
    CHECK(reads_posted == (round + 1) * FLUSHES && is_flush_for_java()); // NCCL has no more of them
    canned_count = 0;
    CHECK(!is_flushed(requests[0]) && !is_flushed(requests[FLUSHES - 1]));
    canned_count = 10;
    CHECK(!is_flushed(requests[10]) && is_flushed(requests[9]) && is_test_for_java(requests[9]));
    CHECK(is_flush_for_java()); // the oldest is not told
    canned_count = LANE_COMPLETIONS;
    CHECK(!is_flushed(requests[FLUSHES - 1]) && is_flushed(requests[FLUSHES - 1]));
    for (int i = FLUSHES - 2; i >= 0; i--) {
      CHECK(i == 9 || is_flushed(requests[i]));
    }
  }
  CHECK(flush_device.done == flush_device.owed && receiver->lane->next == 0 && receiver->lane->room != 0);
  close_it();
}

static void leaves_unusual_flushes(void) {
  open_flushes(0);
  const uint64_t at = receiver->memories[0].address, handle = receiver->handles[0];
  void *request = NULL;
  CHECK(lane_flush(receiver->comm, at, 0, handle, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(receiver->comm, at, -1, handle, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(receiver->comm, at - 1, 8, handle, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(0, at, 8, handle, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(sender->comm, at, 8, handle, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(receiver->comm, at, 8, 0, &request) == LANE_FOR_JAVA);
  CHECK(lane_flush(receiver->comm, receiver->memories[1].address, 8, receiver->handles[1], &request) ==
        LANE_FOR_JAVA); // the host's
  CHECK(request == NULL && reads_posted == 0 && is_test_for_java(receiver->comm | 3));
  atomic_store(&receiver->lane->gate, GATE_ASK);
  CHECK(is_flush_for_java());
  atomic_store(&receiver->lane->gate, GATE_OPEN);
  read_errno = EINVAL;
  CHECK(is_flush_for_java());
  read_errno = 0;
  flushes.device = NULL;
  CHECK(is_flush_for_java());
  flushes.device = &flush_device;

  const uint64_t first = flush_begun(), second = flush_begun();
  CHECK(is_test_for_java(second + 4) && is_test_for_java(first + (FLUSHES << 2)));
  atomic_store(&receiver->lane->gate, GATE_FENCED);
  CHECK(is_test_for_java(first));
  atomic_store(&receiver->lane->gate, GATE_OPEN);
  flushes.all[0].begun = 0; // by Java, which has not asked for READs
  CHECK(is_test_for_java(first));
  flushes.all[0].begun = 1;
  flushes.device = NULL;
  CHECK(is_test_for_java(first));
  close_it();
}

static void leaves_reads_that_fail(void) {
  open_flushes(0);
  const uint64_t first = flush_begun(), second = flush_begun(), third = flush_begun();
  canned_count = 3;
  canned[1].status = STATUS_RETRIES;
  canned[2].status = STATUS_FLUSHED;
  CHECK(is_test_for_java(second) && flush_device.trouble == STATUS_RETRIES && flush_device.done == 1);
  canned_count = 0;
  CHECK(is_test_for_java(second) && is_test_for_java(third)); // there is no other poll
  CHECK(is_flushed(first));

  flush_device.trouble = 0; // another queue pair
  canned_count = -EIO;
  CHECK(is_test_for_java(second) && flush_device.trouble == -EIO && flush_device.done == 1);
  flush_device.trouble = 0;
  CHECK(lane_functions.flush_finish(&flush_device) == 0); // the driver has flushed it
  CHECK(is_flushed(second));
  memset(canned, 0, sizeof canned);
  canned_count = 2; // more than is asked for
  CHECK(is_flushed(third) && flush_device.done == 3);
  close_it();
}

void check_cases(void) {
  leaves_unusual_completions();
  leaves_what_is_not_asked_for();
  says_errors_of_the_device();
  leaves_unusual_arguments();
  leaves_messages_that_are_too_long();
  sees_no_gate_but_an_open_one();
  begins_nothing_where_a_post_is_refused();
  says_again_where_there_is_no_room();
  leaves_unusual_messages();
  keeps_nothing_of_a_message_that_is_refused();
  has_asked_when_there_is_no_room();
  copies_nothing_that_is_confirmed();
  copies_what_is_not_confirmed_in_time(false);
  copies_what_is_not_confirmed_in_time(true);
  sends_again_from_where_it_is_what_is_not_copied();
  flushes_from(0);
  flushes_from((UINT64_C(1) << 30) - 50);
  leaves_unusual_flushes();
  leaves_reads_that_fail();
  for (way = RENDEZVOUS; way <= EAGER_UNTIL_THE_END; way++) {
    wraps(0);
    wraps((UINT64_C(1) << 30) - 50);
    wraps((UINT64_C(1) << 32) - 50);
    wraps((UINT64_C(1) << 62) - 50);
  }
}
