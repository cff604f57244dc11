/*
 * Messages over a simulated connection that is lost now and then, as a seed chooses: lane-test [SEED [ROUNDS]]. Each
 * arrives once, in its order, as it was. Single cases (cases.c) precede the rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "connection.h"

/* What NCCL knows at one end. */
struct calls {
  struct side *side;
  uint64_t begun, told;
  uint64_t requests[LANE_REQUESTS]; /* outstanding; 0: none */
  uint64_t last;                    /* heard of */
  uint64_t prepared;                /* messages whose memory is ready */
  uint64_t bytes;
};

static uint64_t salt;

static uint32_t mixed(uint64_t number) {
  number = (number + salt) * UINT64_C(0x9E3779B97F4A7C15);
  number = (number ^ number >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
  return (uint32_t)(number >> 32);
}

static uint32_t size_of(uint64_t number) {
  const uint32_t of = mixed(number);
  return of % 8 == 0 ? 0 : of % 8 == 1 ? of / 8 % (MAX_BYTES / LONGEST + 1) * LONGEST : of / 8 % (MAX_BYTES + 1);
}

static int32_t tag_of(uint64_t number) {
  return (int32_t)mixed(~number);
}

static unsigned char byte_of(uint64_t number, uint32_t at) {
  return (unsigned char)(mixed(number) + at * 7 + at / 256);
}

static void begin(struct calls *calls, uint64_t end) {
  struct side *side = calls->side;
  const bool sends = side->lane->sends;
  const uint64_t number = calls->begun;
  if (number == end) {
    return;
  }
  unsigned char *buffer = buffer_of(side, number);
  if (calls->prepared == number) {
    memset(buffer, 0xa5, BUFFER_BYTES);
    for (uint32_t i = 0; sends && i < size_of(number); i++) {
      buffer[i] = byte_of(number, i);
    }
    calls->prepared++;
  }
  const uint32_t room = BUFFER_BYTES - size_of(number);
  const uint32_t size = sends ? size_of(number) : size_of(number) + mixed(number + 1000) % (room + 1);
  void *request = NULL;
  if (lane_message(side->comm, sends, (uint64_t)(uintptr_t)buffer, size, tag_of(number),
                   memory_handle_of(side, number), &request) == LANE_FOR_JAVA) {
    CHECK(request == NULL);
    if (draw(4) == 0) {
      return; // another thread has Java's gate
    }
    request = (void *)(uintptr_t)java_message(side, number, size, tag_of(number));
  }
  if (request != NULL) {
    CHECK(calls->requests[number % LANE_REQUESTS] == 0);
    calls->requests[number % LANE_REQUESTS] = (uint64_t)(uintptr_t)request;
    calls->begun++;
    CHECK(((uint64_t)(uintptr_t)request & 3) == 1 && comm_of((uint64_t)(uintptr_t)request) == side->comm);
    CHECK(side->lane->next == calls->begun);
  }
}

/* A request is done: its message is there, and all requests before it are done. */
static void hear(struct calls *calls, uint64_t number, uint32_t size) {
  struct side *side = calls->side;
  unsigned char *buffer = buffer_of(side, number);
  CHECK(number < completed_of(side) && size == size_of(number));
  for (uint32_t i = 0; i < BUFFER_BYTES; i++) {
    CHECK(buffer[i] == (i < size ? byte_of(number, i) : 0xa5));
  }
  memset(buffer, 0x5a, BUFFER_BYTES);
  calls->last = calls->requests[number % LANE_REQUESTS];
  calls->requests[number % LANE_REQUESTS] = 0;
  calls->told++;
  calls->bytes += size;
}

static void test(struct calls *calls) {
  const uint64_t number = calls->begun - 1 - draw(LANE_REQUESTS);
  uint64_t request = calls->requests[number % LANE_REQUESTS];
  int done = 0, size = -1;
  if (request != 0 && lane_test(request, &done, &size) == LANE_FOR_JAVA) {
    CHECK(done == 0);
    done = draw(4) != 0 && java_test(calls->side, request, &size);
  }
  if (done) {
    hear(calls, number, (uint32_t)size);
  }
  if (calls->last != 0 && draw(16) == 0) {
    CHECK(lane_test(calls->last, &done, &size) == LANE_FOR_JAVA && done == 0);
  }
}

static void call(struct calls *calls, uint64_t end) {
  if (draw(2)) {
    begin(calls, end);
  } else {
    test(calls);
  }
  check_side(calls->side);
  _Atomic uint32_t *gate = &calls->side->lane->gate;
  if (atomic_load(gate) == GATE_ASK && draw(4) == 0) {
    java_open_gate(calls->side);
  } else if (atomic_load(gate) == GATE_OPEN && (calls->side->interrupted || draw(200) == 0)) {
    atomic_store(gate, GATE_ASK);
  }
}

static void any(struct connection *connection, struct calls calls[2], uint64_t end) {
  microseconds += (uint32_t)draw(2);
  if (draw(2)) {
    device_step(&connection->device);
  } else {
    call(&calls[draw(2)], end);
  }
}

/* Counts what a path that ends was given. */
static void count_given(const struct connection *connection, uint64_t *messages, uint64_t *bytes) {
  *messages += connection->sender.end->messages;
  *bytes += connection->sender.end->bytes;
}

static uint64_t play_round(uint64_t seed) {
  draw_from(seed);
  salt = draw(UINT32_MAX);
  const uint64_t firsts[] = {0, (1u << 30) - draw(100), (UINT64_C(1) << 32) - draw(100), draw(UINT64_C(1) << 40)};
  const uint64_t first = firsts[draw(4)], end = first + 100 + draw(400);
  const uint64_t cut_chance = 100 + draw(20000);
  const enum way way = (enum way)draw(4);
  struct connection *connection = connection_open(first, way, draw(2) ? 0 : 20 + (unsigned)draw(500), draw(2));
  connection->device.answer_chance = (unsigned)draw(4);
  microseconds = (uint32_t)draw(UINT64_C(1) << 32);
  struct calls calls[2] = {{.side = &connection->sender, .begun = first, .prepared = first},
                           {.side = &connection->receiver, .begun = first, .prepared = first}};
  uint64_t moves = 0, given = 0, given_bytes = 0;
  for (uint64_t steps = 0; calls[0].told + calls[1].told < 2 * (end - first); steps++) {
    CHECK(steps < 10000000);
    any(connection, calls, end);
    if (way != EAGER_UNTIL_THE_END && steps < 200000 && draw(cut_chance) == 0) {
      device_cut(&connection->device);
    }
    const bool known = connection->sender.interrupted || connection->receiver.interrupted;
    if (draw(64) == 0 && (known || (connection->device.cut && draw(64) == 0))) {
      const uint64_t sooner = draw(2);
      java_fence(calls[sooner].side);
      for (uint64_t left = draw(200); left > 0; left--) {
        any(connection, calls, end);
      }
      java_fence(calls[1 - sooner].side);
      count_given(connection, &given, &given_bytes);
      java_connect(connection);
      moves++;
    }
  }
  count_given(connection, &given, &given_bytes);
  for (int i = 0; i < 2; i++) {
    CHECK(completed_of(calls[i].side) == end && calls[i].side->lane->next == end);
    CHECK(calls[i].side->counters.waits <= (i == 0 ? end - first + moves : 0));
  }
  CHECK(calls[0].bytes == calls[1].bytes && connection->receiver.counters.messages == end - first);
  CHECK(connection->receiver.counters.bytes == calls[1].bytes);
  CHECK(connection->sender.counters.messages == given && connection->sender.counters.bytes == given_bytes);
  connection_close(connection);
  return moves;
}

int main(int count, char **arguments) {
  const uint64_t seed = count > 1 ? strtoull(arguments[1], NULL, 0) : 1;
  const uint64_t rounds = count > 2 ? strtoull(arguments[2], NULL, 0) : 200;
  printf("seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + rounds - 1));
  draw_from(seed);
  check_cases();
  uint64_t moves = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    moves += play_round(seed + round);
  }
  printf("%llu moves to another path\n", (unsigned long long)moves);
  return 0;
}
