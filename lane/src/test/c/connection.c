#include "connection.h"

#include <stdlib.h>
#include <string.h>

struct lane *_Atomic lanes[LANES];
struct lane_memory *_Atomic lane_memories[LANES];

uint32_t microseconds;

uint32_t lane_now(void) {
  return microseconds | 1;
}

static void *aligned(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  CHECK(memory != NULL);
  return memset(memory, 0, bytes);
}

uint64_t completed_of(const struct side *side) {
  return side->lane->next - (uint32_t)((uint32_t)side->lane->next - side->lane->completed);
}

uint64_t confirmed_of(const struct side *side) {
  return (uint64_t)lane_functions.confirmed(side->lane);
}

unsigned char *buffer_of(const struct side *side, uint64_t number) {
  return side->buffers[number % 2][number / 2 % (BUFFERS / 2)];
}

uint64_t memory_handle_of(const struct side *side, uint64_t number) {
  return side->handles[number % 2];
}

/* ---- moves ---- */

static void take(struct side *side, int from, int count) {
  for (int i = from; i < count; i++) {
    if (side->completions[i].status != COMPLETION_SUCCESS) {
      CHECK(side->completions[i].status != STATUS_REMOTE_ACCESS);
      side->interrupted = true;
    } else {
      CHECK(lane_functions.take(side->lane, &side->completions[i]) == 1);
    }
  }
}

static void take_polled(struct side *side) {
  struct lane *lane = side->lane;
  const int polled = lane->polled;
  lane->polled = 0;
  if (polled != 0) {
    take(side, (int)lane->taken, polled);
  } else {
    take(side, 0, lane->poll(lane->queue, LANE_COMPLETIONS, side->completions));
  }
}

static uint32_t key_of(const struct side *side, uint64_t number) {
  const struct lane_memory *memory = &side->memories[number % 2];
  return side->lane->sends || side->lane->eager ? memory->local_key : memory->remote_key;
}

static void repeat(struct side *side) {
  while (side->repeated < side->begun) {
    const uint32_t key = key_of(side, side->repeated);
    const int64_t result = lane_functions.repeat(side->lane, side->repeated, key);
    CHECK(result != LANE_FAILED || side->lane->refused != 0);
    if (result != 1) {
      return;
    }
    side->repeated++;
  }
}

void java_progress(struct side *side) {
  if (!side->interrupted) {
    repeat(side);
    take_polled(side);
  }
}

void java_fence(struct side *side) {
  struct lane *lane = side->lane;
  atomic_store(&lane->gate, GATE_FENCED);
  CHECK(atomic_load(&lane->inside) == 0);
  void *request = NULL;
  const uint64_t to = (uint64_t)(uintptr_t)buffer_of(side, lane->next);
  CHECK(lane_message(side->comm, lane->sends, to, 1, 0, memory_handle_of(side, lane->next), &request) ==
            LANE_FOR_JAVA && atomic_load(&lane->inside) == 0);
  device_fence(side->end);
  while (lane->polled != 0 || side->end->polled < side->end->completed) {
    take_polled(side);
  }
  side->interrupted = true;
  atomic_store(&lane->gate, GATE_ASK);
}

static void use(struct side *side, struct device_end *end, uint64_t from) {
  struct lane *lane = side->lane;
  side->end = end;
  lane->queue_pair = lane->queue = end;
  lane->post_send = device_post_send;
  lane->post_receive = device_post_receive;
  lane->poll = device_poll;
  lane->longest = LONGEST;
  lane->room = side->depth = end->send_depth;
  lane->receives = 0;
  lane->written = lane->eager = 0;
  lane->waited = 0;
  lane->delivered = NULL;
  lane->confirmed = from;
  for (int i = 0; i < 2; i++) {
    struct lane_memory *memory = &side->memories[i];
    memory->local_key = device_register(side->buffers[i], memory->length, false);
    memory->remote_key = device_register(side->buffers[i], memory->length, true);
  }
  side->repeated = from;
  side->begun = lane->next;
  side->interrupted = false;
}

/* Bytes of the rings of copies, where each is in use from when the one before was too small. */
static const uint32_t ring_bytes[UNCONFIRMED_RINGS] = {1 << 10, 4 << 10, 16 << 10};

/* There may be no memory for the larger rings. */
static void open_rings(struct connection *connection, uint64_t first) {
  struct unconfirmed *of = &connection->unconfirmed;
  const int count = 1 + (int)draw(UNCONFIRMED_RINGS);
  for (int i = 0; i < count; i++) {
    connection->copies[i] = aligned(ring_bytes[i]);
    of->rings[i] = (struct copy_ring){.address = (uint64_t)(uintptr_t)connection->copies[i], .bytes = ring_bytes[i]};
  }
  const uint32_t longest = ring_bytes[count - 1] / LONGEST_OF_RING;
  of->longest_copy = longest < MAX_BYTES / 2 ? longest : MAX_BYTES / 2;
  of->oldest = of->asked_next = first;
  of->sent = (uint32_t)first;
}

static void go_eagerly(struct connection *connection, struct side *side) {
  struct lane *lane = side->lane;
  lane->eager = 1;
  lane->done_when = connection->way == EAGER_UNTIL_THE_END ? FLAG_INJECT_COMPLETE : FLAG_DELIVERY_COMPLETE;
  lane->delivered = &side->end->delivered;
  if (connection->way == EAGER_WITH_COPIES && lane->sends) {
    lane->unconfirmed = &connection->unconfirmed;
    for (uint32_t i = 0; i < UNCONFIRMED_RINGS; i++) {
      if (connection->copies[i] != NULL) {
        connection->unconfirmed.rings[i].key = device_register(connection->copies[i], ring_bytes[i], false);
      }
    }
  }
}

void java_connect(struct connection *connection) {
  struct side *sender = &connection->sender, *receiver = &connection->receiver;
  const uint64_t received = completed_of(receiver);
  CHECK(confirmed_of(sender) <= received && received <= sender->lane->next);
  CHECK(sender->lane->next <= completed_of(sender) + LANE_REQUESTS);
  CHECK(connection->way != RENDEZVOUS || sender->lane->next <= receiver->lane->next);
  while (completed_of(sender) < received) {
    lane_finish(sender->lane, (uint32_t)entry_at(sender->lane, sender->lane->completed)->size);
  }
  device_forget_keys();
  device_connect(&connection->device, 7 + (int)draw(80), LANE_SIGNAL_INTERVAL + (int)draw(50),
                 LANE_REQUESTS + LANE_RECEIVES);
  connection->ring = connection->rings[connection->ring == connection->rings[0]];
  memset(connection->ring, 0, LANE_REQUESTS * sizeof *connection->ring);
  const bool eager = connection->way > CHANGING || (connection->way == CHANGING && draw(2) == 0);
  use(receiver, &connection->device.ends[1], received);
  if (eager) {
    go_eagerly(connection, receiver);
  }
  receiver->lane->ring = (uint64_t)(uintptr_t)connection->entries;
  receiver->lane->ring_key = device_register(connection->entries, LANE_REQUESTS * sizeof *connection->ring, false);
  receiver->lane->remote_ring = (uint64_t)(uintptr_t)connection->ring;
  receiver->lane->remote_ring_key = device_register(connection->ring, LANE_REQUESTS * sizeof *connection->ring, true);
  receiver->lane->inlined = draw(2) ? REQUEST_INLINE : 0;
  repeat(receiver);
  for (uint64_t steps = draw(100); steps > 0; steps--) {
    device_step(&connection->device);
  }
  use(sender, &connection->device.ends[0], received);
  if (eager) {
    go_eagerly(connection, sender);
    CHECK(confirmed_of(sender) == received);
  }
  sender->lane->ring = (uint64_t)(uintptr_t)connection->ring;
  repeat(sender);
}

void java_open_gate(struct side *side) {
  if (!side->interrupted && side->repeated == side->begun) {
    atomic_store(&side->lane->gate, GATE_OPEN);
  }
}

/* ---- calls ---- */

uint64_t java_message(struct side *side, uint64_t number, uint32_t size, int32_t tag) {
  struct lane *lane = side->lane;
  if (side->interrupted) {
    return 0;
  }
  int64_t begun = LANE_NO_ROOM;
  if (side->repeated == side->begun) {
    const uint64_t at = (uint64_t)(uintptr_t)buffer_of(side, number), memory = memory_handle_of(side, number);
    begun = lane->sends ? lane_functions.isend(lane, at, size, key_of(side, number), tag, memory)
                        : lane_functions.irecv(lane, at, size, key_of(side, number), tag, memory);
    CHECK(begun != LANE_FAILED || lane->refused != 0);
  }
  if (begun <= 0) {
    java_progress(side);
    return 0;
  }
  return (uint64_t)begun;
}

bool java_test(struct side *side, uint64_t request, int *size) {
  struct request_entry *entry = entry_of(side->lane, request);
  CHECK(entry->request == request && !is_free(entry));
  if (entry->state != REQUEST_DONE) {
    java_progress(side);
    if (!side->interrupted) {
      lane_functions.settle(side->lane);
    }
  }
  if (entry->state != REQUEST_DONE) {
    return false;
  }
  CHECK(entry->finished == request);
  entry->finished = 0;
  entry->state = REQUEST_FREE;
  *size = (int)entry->size;
  return true;
}

/* ---- life ---- */

static void open_side(struct side *side, unsigned slot, bool sends, uint64_t first) {
  struct lane *lane = side->lane = aligned(sizeof *lane);
  side->comm = (draw(0x7fff) << 16 | slot) << 32;
  lane->counters = &side->counters;
  lane->completions = side->completions;
  lane->next = first;
  lane->completed = (uint32_t)first;
  lane->sends = sends;
  for (unsigned i = 0; i < 2; i++) {
    const uint64_t bytes = BUFFERS / 2 * BUFFER_BYTES;
    side->buffers[i] = aligned(bytes);
    side->handles[i] = (draw(0x7fff) << 16 | (2 * slot + i)) << 32 | 1;
    struct lane_memory *memory = &side->memories[i];
    memory->comm = side->comm;
    memory->address = (uint64_t)(uintptr_t)side->buffers[i];
    memory->length = bytes;
    atomic_store(&memory->handle, side->handles[i]);
    atomic_store(&lane_memories[2 * slot + i], memory);
  }
  atomic_store(&lane->gate, GATE_ASK);
  atomic_store(&lane->handle, side->comm);
  atomic_store(&lanes[slot], lane);
}

struct connection *connection_open(uint64_t first, enum way way, unsigned refusal_chance, bool opens_gates) {
  struct connection *connection = aligned(sizeof *connection);
  connection->way = way;
  connection->sender.connection = connection->receiver.connection = connection;
  const size_t bytes = LANE_REQUESTS * sizeof *connection->ring;
  connection->rings[0] = aligned(bytes);
  connection->rings[1] = aligned(bytes);
  connection->entries = aligned(bytes);
  open_side(&connection->sender, 1, true, first);
  open_side(&connection->receiver, 2, false, first);
  connection->device.refusal_chance = refusal_chance;
  if (way == EAGER_WITH_COPIES) {
    open_rings(connection, first);
  }
  java_connect(connection);
  if (opens_gates) {
    java_open_gate(&connection->sender);
    java_open_gate(&connection->receiver);
  }
  return connection;
}

static void close_side(struct side *side, unsigned slot) {
  atomic_store(&lanes[slot], NULL);
  for (unsigned i = 0; i < 2; i++) {
    atomic_store(&lane_memories[2 * slot + i], NULL);
    free(side->buffers[i]);
  }
  free(side->lane);
}

void connection_close(struct connection *connection) {
  close_side(&connection->sender, 1);
  close_side(&connection->receiver, 2);
  free(connection->rings[0]);
  free(connection->rings[1]);
  free(connection->entries);
  for (int i = 0; i < UNCONFIRMED_RINGS; i++) {
    free(connection->copies[i]);
  }
  free(connection);
  device_forget_keys();
}

void check_side(const struct side *side) {
  const struct lane *lane = side->lane;
  CHECK(lane->room >= 0 && lane->room <= side->depth && atomic_load(&lane->inside) == 0);
  CHECK((uint32_t)lane->next - lane->completed <= LANE_REQUESTS);
  CHECK(side->end->errors == 0 || side->interrupted || lane->polled != 0);
  if (!side->end->failed) {
    CHECK(lane->polled != 0 || lane->room == side->depth - device_occupied(side->end));
    const uint64_t asked = side->repeated < side->begun ? side->repeated : lane->next;
    const bool counts = !lane->sends && !lane->eager;
    CHECK(!counts || lane->polled != 0 || lane->receives >= (int32_t)(asked - completed_of(side)));
    CHECK(!counts || lane->receives >= side->end->receives);
    CHECK(lane->sends || !lane->eager || side->end->receives <= (int32_t)(asked - completed_of(side)));
  }
}
