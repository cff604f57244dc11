/*
 * NCCL's thread makes calls while another one shuts the gate, uses the lane and opens it again: lane-race-test [TIMES].
 * Nothing is lost.
 *
 * A thread sanitizer knows no membarrier, and needs to know none: whether somebody is inside is read with an acquire,
 * and the gate is opened with a release, so it sees a race if that is not enough. It does not see whether the barrier
 * keeps the order of gate and inside; without a sanitizer the same test does, by what is found in the lane.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lanes.h"

#define CHECK(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition), abort()))

enum { SLOT = 3, DEPTH = 40 };
static const uint64_t COMM = (uint64_t)SLOT << 32;

struct lane *_Atomic lanes[LANES];
struct lane_memory *_Atomic lane_memories[LANES];

static struct lane lane;
static struct clear_to_send ring[LANE_REQUESTS];
static struct unconfirmed unconfirmed;
static unsigned char copies[4096];
static struct lane_counters counters[2];
static struct completion completions[2][LANE_COMPLETIONS];
static unsigned char buffer[64];
static _Atomic bool over;

/* A queue whose sends are complete with every eighth poll: plain words, which the gate alone guards. */
static int posted, polls;
static uint64_t numbers; /* of the sends that are complete */
static _Atomic uint64_t delivered;

static int post(void *queue_pair, struct send_request *request, struct send_request **refused) {
  (void)refused;
  CHECK(queue_pair == &posted);
  CHECK(request->opcode == (lane.eager ? REQUEST_SEND_WITH_IMMEDIATE : REQUEST_WRITE_WITH_IMMEDIATE));
  if ((request->flags & FLAG_DELIVERY_COMPLETE) != 0) {
    atomic_store(&delivered, request->number + 1);
  }
  posted++;
  return 0;
}

static int poll(void *queue, int entries, struct completion *into) {
  CHECK(queue == &posted && entries == LANE_COMPLETIONS);
  const int most = ++polls % 8 == 0 ? 3 : 0, count = posted < most ? posted : most;
  for (int i = 0; i < count; i++) {
    into[i] = (struct completion){.work_request = numbers++,
                                  .opcode = lane.eager ? COMPLETION_SEND : COMPLETION_WRITE};
  }
  posted -= count;
  return count;
}

/* NCCL's thread: keeps some requests outstanding, and hears of each once. */
static void *call(void *messages) {
  uint64_t requests[8] = {0}, begun = 0, told = 0;
  while (!atomic_load_explicit(&over, memory_order_relaxed) || told < begun) {
    void *request = NULL;
    const uint64_t number = begun % LANE_REQUESTS;
    if (begun - told < 8 && !atomic_load_explicit(&over, memory_order_relaxed)) {
      ring[number].capacity = sizeof buffer;
      atomic_store(&ring[number].sequence, begun + 1);
      if (lane_message(COMM, true, (uint64_t)(uintptr_t)buffer, begun % 64, 0, COMM, &request) == LANE_ANSWERED &&
          request != NULL) {
        requests[begun++ % 8] = (uint64_t)(uintptr_t)request;
      }
    }
    int done = 0, size = -1;
    if (told < begun && lane_test(requests[told % 8], &done, &size) == LANE_ANSWERED && done) {
      CHECK(size == (int)(told % 64));
      told++;
    }
  }
  *(uint64_t *)messages = told;
  return NULL;
}

static long barrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0);
}

static void race(int times, bool eager) {
  static struct lane_memory memory;
  memory = (struct lane_memory){
      .handle = COMM, .comm = COMM, .address = (uint64_t)(uintptr_t)buffer, .length = sizeof buffer};
  lane = (struct lane){.handle = COMM, .gate = GATE_OPEN, .counters = counters, .completions = completions[0],
                       .queue_pair = &posted, .queue = &posted, .post_send = post, .poll = poll, .longest = 64,
                       .room = DEPTH, .sends = 1, .ring = (uint64_t)(uintptr_t)ring, .eager = eager,
                       .delivered = eager ? &delivered : NULL, .unconfirmed = eager ? &unconfirmed : NULL};
  unconfirmed = (struct unconfirmed){.rings = {{(uint64_t)(uintptr_t)copies, sizeof copies, 0}}, .longest_copy = 60};
  memset(ring, 0, sizeof ring);
  memset(counters, 0, sizeof counters);
  over = false;
  numbers = 0;
  delivered = 0;
  atomic_store(&lane_memories[SLOT], &memory);
  atomic_store(&lanes[SLOT], &lane);
  pthread_t thread;
  uint64_t messages = 0, polled = 0;
  CHECK(pthread_create(&thread, NULL, call, &messages) == 0);
  for (int i = 0; i < times; i++) {
    CHECK(atomic_exchange(&lane.gate, GATE_FENCED) == GATE_OPEN);
    CHECK(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
    while (atomic_load(&lane.inside) != 0) {
      sched_yield();
    }
    const uint32_t before = lane.completed;
    const uint32_t sent = eager ? unconfirmed.sent : before;
    CHECK(lane.room == DEPTH - posted && (uint32_t)lane.next - sent == (uint32_t)posted);
    CHECK((int32_t)(sent - before) >= 0);
    CHECK(lane_confirmed(&lane) <= lane.next);
    lane.counters = &counters[i % 2];
    lane.completions = completions[i % 2];
    memset(lane.completions, 0xff, sizeof completions[0]);
    for (int looks = i % 12; looks > 0; looks--) {
      CHECK(lane_poll(&lane));
    }
    polled += lane.completed - before;
    atomic_store(&lane.gate, GATE_OPEN);
    for (int spins = i % 128; spins > 0; spins--) {
      atomic_signal_fence(memory_order_seq_cst);
    }
    if (i % 64 == 0) {
      sched_yield();
    }
  }
  atomic_store(&over, true);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(lane.next == messages && lane.completed == (uint32_t)messages && lane.room == DEPTH && posted == 0);
  CHECK(counters[0].messages + counters[1].messages == messages && lane.polled == 0);
  printf("%d fences, %llu messages, %llu of them finished by the other thread\n", times, (unsigned long long)messages,
         (unsigned long long)polled);
}

int main(int count, char **arguments) {
  const int times = count > 1 ? atoi(arguments[1]) : 100000;
  if (barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) {
    printf("the kernel has no membarrier\n");
    return 0;
  }
  race(times / 2, false);
  race(times / 2, true);
  return 0;
}
