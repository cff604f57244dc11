#include "functions.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

enum { AWAIT_NANOS = 50 * 1000 };

/* ---- the verbs ---- */

static int opcode_on_wire(int opcode) {
  switch (opcode) {
    case REQUEST_WRITE:
      return WIRE_WRITE;
    case REQUEST_WRITE_WITH_IMMEDIATE:
      return WIRE_WRITE_WITH_IMMEDIATE;
    case REQUEST_SEND:
      return WIRE_SEND;
    case REQUEST_SEND_WITH_IMMEDIATE:
      return WIRE_SEND_WITH_IMMEDIATE;
    default:
      return 0;
  }
}

/* Adds one; an errno. The memory of an inline payload is free at once. */
static int add_send(struct queue_pair *pair, struct send_entry entry) {
  struct send_queue *queue = &pair->sends;
  const uint32_t state = state_of(pair);
  const bool is_inline = (entry.flags & REQUEST_INLINE) != 0;
  if (entry.opcode == 0) {
    return EOPNOTSUPP;
  }
  if ((state != STATE_READY_TO_SEND && state != STATE_ERROR) || atomic_load(&pair->closed) != 0 ||
      entry.length > MAX_MESSAGE_BYTES || (is_inline && entry.length > queue->inline_bytes)) {
    return EINVAL;
  }
  struct send_entry *slot = next_send(queue);
  if (slot == NULL) {
    return ENOMEM;
  }
  const uint64_t index = own(&queue->tail);
  if (is_inline && entry.length > 0) {
    unsigned char *copy = queue->inlined + (index & queue->mask) * queue->inline_bytes;
    memcpy(copy, (const void *)(uintptr_t)entry.local_address, entry.length);
    entry.local_address = (uint64_t)(uintptr_t)copy;
  }
  *slot = entry;
  atomic_store(&queue->tail.value, index + 1);
  return 0;
}

/* Sends what there is; for who has posted it. */
static void send_on(struct queue_pair *pair) {
  if (atomic_load(&pair->given) != 0 && atomic_load(&pair->sending) == 0) {
    mover_wake(pair->mover);
  }
  pair_drive(pair, false);
}

/* Goes on with what waits for a receive; for who has posted that. */
static void receive_on(struct queue_pair *pair) {
  if (atomic_load(&pair->awaits_receive) == 0 && state_of(pair) != STATE_ERROR) {
    return;
  }
  if (atomic_load(&pair->given) != 0) {
    mover_wake(pair->mover);
  }
  pair_drive(pair, false);
}

static int post_send(void *queue_pair, struct send_request *requests, struct send_request **refused) {
  struct queue_pair *pair = queue_pair;
  int result = 0;
  struct send_request *next = requests;
  for (; next != NULL; next = next->next) {
    const struct memory_piece piece = next->piece_count > 0 ? next->pieces[0] : (struct memory_piece){0};
    const struct send_entry entry = {
        .number = next->number,
        .local_address = piece.address,
        .remote_address = next->remote_address,
        .length = piece.length,
        .local_key = piece.key,
        .remote_key = next->remote_key,
        .immediate = be32toh(next->immediate),
        .opcode = (uint32_t)opcode_on_wire(next->opcode),
        .flags = next->flags,
    };
    result = next->piece_count > 1 ? EINVAL : add_send(pair, entry);
    if (result != 0) {
      *refused = next;
      break;
    }
  }
  if (next != requests) {
    send_on(pair);
  }
  return result;
}

static int add_receive(struct queue_pair *pair, const struct receive_entry *entry) {
  if (state_of(pair) == STATE_RESET || atomic_load(&pair->closed) != 0 || entry->length > INT32_MAX) {
    return EINVAL;
  }
  return post_receive_entry(&pair->receives, entry) ? 0 : ENOMEM;
}

static int post_receive(void *queue_pair, struct receive_request *requests, struct receive_request **refused) {
  struct queue_pair *pair = queue_pair;
  int result = 0;
  struct receive_request *next = requests;
  for (; next != NULL; next = next->next) {
    const struct memory_piece piece = next->piece_count > 0 ? next->pieces[0] : (struct memory_piece){0};
    const struct receive_entry entry = {next->number, piece.address, piece.length, piece.key};
    result = next->piece_count > 1 ? EINVAL : add_receive(pair, &entry);
    if (result != 0) {
      *refused = next;
      break;
    }
  }
  if (next != requests) {
    receive_on(pair);
  }
  return result;
}

/* Who polls moves data itself when there is nothing to take. */
static int poll_queue(void *completion_queue, int entries, struct completion *completions) {
  struct completion_queue *queue = completion_queue;
  int taken = take_completions(queue, entries, completions);
  if (taken == 0 && pthread_mutex_trylock(&queue->attaching) == 0) {
    for (struct member *member = queue->members; member != NULL; member = member->next) {
      pair_poll(member->pair);
    }
    (void)pthread_mutex_unlock(&queue->attaching);
    taken = take_completions(queue, entries, completions);
  }
  return taken == 0 && atomic_load(&queue->overrun) != 0 ? -EIO : taken;
}

static int64_t send_one(struct queue_pair *pair, int64_t number, int64_t address, int64_t length_and_key,
                        int64_t remote_address, int64_t remote_key_and_immediate, int64_t opcode_and_flags) {
  const struct send_entry entry = {
      .number = (uint64_t)number,
      .local_address = (uint64_t)address,
      .remote_address = (uint64_t)remote_address,
      .length = (uint32_t)(length_and_key >> 32),
      .local_key = (uint32_t)length_and_key,
      .remote_key = (uint32_t)(remote_key_and_immediate >> 32),
      .immediate = (uint32_t)remote_key_and_immediate,
      .opcode = (uint32_t)opcode_on_wire((int)(opcode_and_flags >> 32)),
      .flags = (uint32_t)opcode_and_flags,
  };
  const int result = add_send(pair, entry);
  if (result == 0) {
    send_on(pair);
  }
  return result;
}

static int64_t receive_one(struct queue_pair *pair, int64_t number, int64_t address, int64_t length_and_key) {
  const struct receive_entry entry = {(uint64_t)number, (uint64_t)address, (uint32_t)(length_and_key >> 32),
                                      (uint32_t)length_and_key};
  const int result = add_receive(pair, &entry);
  if (result == 0) {
    receive_on(pair);
  }
  return result;
}

/* ---- devices and memory ---- */

static struct software_device *open_device(int64_t bell) {
  struct software_device *device = calloc(1, sizeof *device);
  if (device != NULL) {
    device->bell = (int)bell;
  }
  return device;
}

static int64_t close_device(struct software_device *device) {
  regions_end(&device->regions);
  free(device);
  return 0;
}

static int64_t hear(struct software_device *device) {
  atomic_store(&device->rung, 0);
  return 0;
}

static struct region *add_region(struct software_device *device, int64_t address, int64_t length, int64_t access,
                                 int64_t domain, int64_t keys) {
  const struct region like = {
      .access = (uint32_t)access,
      .address = (uint64_t)address,
      .length = (uint64_t)length,
      .domain = (uint64_t)domain,
      .local_key = (uint32_t)(keys >> 32),
      .remote_key = (uint32_t)keys,
  };
  return regions_add(&device->regions, &like);
}

static int64_t remove_region(struct software_device *device, struct region *region) {
  return regions_remove(&device->regions, region);
}

static int64_t free_region(struct region *region) {
  region_free(region);
  return 0;
}

/* ---- in memory of Java's ---- */

static int64_t queue_bytes(int64_t entries) {
  return (int64_t)(sizeof(struct completion_queue) + power_of_two((uint64_t)entries) * sizeof(struct completion_slot));
}

static int64_t make_queue(struct completion_queue *queue, int64_t entries) {
  queue->mask = power_of_two((uint64_t)entries) - 1;
  return pthread_mutex_init(&queue->attaching, NULL);
}

static int64_t pair_bytes(int64_t sends, int64_t receives, int64_t inline_bytes) {
  return (int64_t)(sizeof(struct queue_pair) +
                   power_of_two((uint64_t)sends) * (sizeof(struct send_entry) + (uint64_t)inline_bytes) +
                   power_of_two((uint64_t)receives) * sizeof(struct receive_entry));
}

/* Capacity: sends, receives, inline bytes. */
static int64_t make_pair(struct queue_pair *pair, struct software_device *device, int64_t domain_and_number,
                         struct completion_queue *sends, struct completion_queue *receives, struct mover *mover,
                         const int64_t *capacity) {
  pair->device = device;
  pair->domain = (uint64_t)domain_and_number >> 32;
  pair->number = (uint32_t)domain_and_number;
  pair->send_completions = sends;
  pair->receive_completions = receives;
  pair->mover = mover;
  const uint64_t send_slots = power_of_two((uint64_t)capacity[0]);
  const uint64_t receive_slots = power_of_two((uint64_t)capacity[1]);
  pair->sends.mask = send_slots - 1;
  pair->sends.inline_bytes = (uint64_t)capacity[2];
  pair->sends.entries = (struct send_entry *)(pair + 1);
  pair->receives.mask = receive_slots - 1;
  pair->receives.capacity = capacity[1] == 0 ? 0 : receive_slots;
  pair->receives.entries = (struct receive_entry *)(pair->sends.entries + send_slots);
  pair->sends.inlined = (unsigned char *)(pair->receives.entries + receive_slots);
  return pthread_mutex_init(&pair->lock, NULL);
}

static int64_t outbound_bytes(void) {
  return sizeof(struct outbound);
}

static int64_t make_outbound(struct outbound *out, int64_t socket, void *read, void *write, int64_t checks) {
  out->stream = (struct stream){(int)socket, (stream_function)read, (stream_function)write};
  out->checks = (uint32_t)checks;
  return 0;
}

static int64_t inbound_bytes(void) {
  return sizeof(struct inbound);
}

static int64_t make_inbound(struct inbound *in, int64_t socket, void *read, void *write) {
  in->stream = (struct stream){(int)socket, (stream_function)read, (stream_function)write};
  return 0;
}

/* ---- queue pairs ---- */

static void attach_to(struct completion_queue *queue, struct member *member, struct queue_pair *pair) {
  (void)pthread_mutex_lock(&queue->attaching);
  *member = (struct member){pair, queue->members};
  queue->members = member;
  (void)pthread_mutex_unlock(&queue->attaching);
}

static void detach_from(struct completion_queue *queue, const struct member *member) {
  (void)pthread_mutex_lock(&queue->attaching);
  struct member **link = &queue->members;
  while (*link != member) {
    link = &(*link)->next;
  }
  *link = member->next;
  (void)pthread_mutex_unlock(&queue->attaching);
}

static int64_t attach(struct queue_pair *pair) {
  attach_to(pair->send_completions, &pair->members[0], pair);
  if (pair->receive_completions != pair->send_completions) {
    attach_to(pair->receive_completions, &pair->members[1], pair);
  }
  return 0;
}

static int64_t detach(struct queue_pair *pair) {
  detach_from(pair->send_completions, &pair->members[0]);
  if (pair->receive_completions != pair->send_completions) {
    detach_from(pair->receive_completions, &pair->members[1]);
  }
  return 0;
}

static int64_t lock(struct queue_pair *pair) {
  pair_lock(pair);
  return 0;
}

static int64_t unlock(struct queue_pair *pair) {
  pair_unlock(pair);
  return 0;
}

#define GET_FIELD(name, field) \
  case WORD_##name:            \
    return (int64_t)pair->field;
#define GET_VALUE(name, value) \
  case WORD_##name:            \
    return (int64_t)(value);

static int64_t get(struct queue_pair *pair, int64_t word) {
  switch ((enum word)word) {
    SOFTWARE_WORDS(GET_FIELD, GET_VALUE)
    case WORDS:
      break;
  }
  return 0;
}

#define SET_FIELD(name, field)                         \
  case WORD_##name:                                    \
    pair->field = (__typeof__(pair->field))value; \
    break;
#define NOT_SET(name, value) case WORD_##name:

static int64_t set(struct queue_pair *pair, int64_t word, int64_t value) {
  if (word == WORD_ACK_HELD && pair->inbound != NULL) {
    pair->inbound->ack_held = value != 0;
  }
  switch ((enum word)word) {
    SOFTWARE_WORDS(SET_FIELD, NOT_SET)
    case WORDS:
      break;
  }
  return 0;
}

static int64_t connect_by(struct queue_pair *pair, struct outbound *out) {
  pair->outbound = out;
  pair->requester.ends_with_process = !is_socket(&out->stream);
  pair->requester.connecting = false;
  pair->requester.progress_at = nanos();
  outbound_ring(pair, out);
  requester_work(pair);
  return 0;
}

static int64_t adopt(struct queue_pair *pair, struct inbound *in) {
  pair->inbound = in;
  atomic_store(&pair->work_due, 1); // it may have said more already
  return 0;
}

static int64_t fail(struct queue_pair *pair, int64_t reason) {
  pair_fail(pair, (enum reason)reason);
  return 0;
}

static int64_t fail_oldest(struct queue_pair *pair, int64_t status, int64_t reason) {
  requester_fail(pair, (uint32_t)status, (enum reason)reason);
  return 0;
}

static int64_t reset(struct queue_pair *pair) {
  pair_reset(pair);
  return 0;
}

static int64_t lose_outbound(struct queue_pair *pair) {
  requester_lose(pair);
  return 0;
}

static int64_t lose_inbound(struct queue_pair *pair) {
  if (pair->inbound != NULL) {
    inbound_end(pair, pair->inbound, 0);
  }
  return 0;
}

static int64_t forget(struct queue_pair *pair, struct region *region) {
  pair_forget(pair, region);
  return 0;
}

static int64_t work(struct queue_pair *pair) {
  if (state_of(pair) == STATE_READY_TO_SEND) {
    requester_work(pair);
  }
  return 0;
}

static int64_t say_not_ready(struct queue_pair *pair) {
  responder_say_not_ready(pair);
  return 0;
}

static int64_t answer(struct queue_pair *pair) {
  responder_send(pair, true);
  return 0;
}

static int64_t progress(struct queue_pair *pair) {
  return pair_progress(pair, true, true);
}

static int64_t give(struct queue_pair *pair) {
  mover_take(pair->mover, pair);
  return 0;
}

static int64_t await_mover(struct queue_pair *pair) {
  const struct timespec pause = {.tv_nsec = AWAIT_NANOS};
  while (atomic_load(&pair->on_mover) != 0) {
    mover_wake(pair->mover);
    (void)nanosleep(&pause, NULL);
  }
  return 0;
}

static int64_t finish_responses(struct inbound *in) {
  responses_ring(in);
  return responses_are_over(in);
}

static int64_t read_tail(struct inbound *in) {
  inbound_read_tail(in);
  return 0;
}

/* ---- movers ---- */

static struct mover *start_mover(const char *name, int64_t from_bytes) {
  return mover_start(name, (uint32_t)from_bytes);
}

static int64_t stop_mover(struct mover *mover) {
  mover_stop(mover);
  return 0;
}

static int64_t free_mover(struct mover *mover) {
  mover_free(mover);
  return 0;
}

/* clang-format off */
const struct software_functions software_functions = {
    WORDS, (void *)post_send, (void *)post_receive, (void *)poll_queue, send_one, receive_one, open_device,
    close_device, hear, add_region, remove_region, free_region, queue_bytes, make_queue, pair_bytes, make_pair,
    outbound_bytes, make_outbound, inbound_bytes, make_inbound, attach, detach, lock, unlock, get, set, connect_by,
    adopt, fail, fail_oldest, reset, lose_outbound, lose_inbound, forget, work, say_not_ready, answer, progress, give,
    await_mover, finish_responses, read_tail, start_mover, stop_mover, free_mover,
};
/* clang-format on */
