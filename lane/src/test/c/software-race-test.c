/*
 * Threads that post, poll, take memory back and change the state of two queue pairs, with a mover: nothing is lost, and
 * ThreadSanitizer sees no race.
 */
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "software-ends.h"

#define F software_functions

enum { MESSAGES = 400, LONG = 100000, ROUNDS = 3, POSTS = 2000, USERS = 2, REMOVALS = 5000 };

static struct ends ends;
static _Atomic uint32_t over;

static uint32_t length_of(uint64_t message) {
  return message % 3 == 0 ? LONG : (uint32_t)message % 50;
}

/* Posts, and polls for what it has posted. */
static void *exchange(void *argument) {
  struct end *end = argument;
  uint64_t sent = 0;
  uint64_t posted = 0;
  uint64_t received = 0;
  uint64_t completed = 0;
  while (received < MESSAGES || completed < MESSAGES) {
    struct completion completion;
    if (posted < MESSAGES && end_receive(end, posted, 0, LONG) == 0) {
      posted++;
    }
    if (sent < MESSAGES && end_send(end, sent, REQUEST_SEND, LONG, length_of(sent), REQUEST_SIGNALED) == 0) {
      sent++;
    }
    if (end_poll(end->receives, &completion) == 1) {
      CHECK(completion.status == COMPLETION_SUCCESS && completion.work_request == received);
      CHECK(completion.bytes == length_of(received++));
    }
    if (end_poll(end->sends, &completion) == 1) {
      CHECK(completion.status == COMPLETION_SUCCESS && completion.work_request == completed++);
    }
  }
  (void)atomic_fetch_add(&over, 1);
  while (atomic_load(&over) < 2) {
    struct completion completion;
    CHECK(end_poll(end->sends, &completion) == 0 && end_poll(end->receives, &completion) == 0);
  }
  return NULL;
}

/* What Java does meanwhile: registers other memory and takes it back, looks at what it is asked to, moves unpolled. */
static void *control(void *argument) {
  struct end *end = argument;
  for (uint32_t i = 1; atomic_load(&over) < 2; i++) {
    struct region *other = F.add_region(end->device, 4096, 4096, 0, DOMAIN, (int64_t)i << 32 | i << 8);
    F.lock(end->pair);
    CHECK((F.get(end->pair, WORD_ATTENTION) & ATTENTION_FAILED) == 0);
    F.hear(end->device);
    const int64_t gives = F.get(end->pair, WORD_GIVEN) == 0 && F.progress(end->pair);
    F.unlock(end->pair);
    if (gives) {
      F.give(end->pair);
    }
    if (other != NULL && F.remove_region(end->device, other)) {
      F.lock(end->pair);
      F.forget(end->pair, other);
      F.unlock(end->pair);
      F.free_region(other);
    }
    (void)atomic_load((_Atomic uint64_t *)(intptr_t)F.get(end->pair, WORD_DELIVERED_AT));
    (void)usleep(100);
  }
  return NULL;
}

static void run_round(struct mover *mover) {
  ends_open(&ends, mover, 0);
  over = 0;
  pthread_t threads[4];
  CHECK(pthread_create(&threads[0], NULL, exchange, &ends.first) == 0);
  CHECK(pthread_create(&threads[1], NULL, exchange, &ends.second) == 0);
  CHECK(pthread_create(&threads[2], NULL, control, &ends.first) == 0);
  CHECK(pthread_create(&threads[3], NULL, control, &ends.second) == 0);
  for (int i = 0; i < 4; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
  ends_close(&ends);
}

static pthread_barrier_t barrier;

/* Takes the lock now and then, while another posts. */
static void *disturb(void *argument) {
  for (int i = 0; i < POSTS; i++) {
    (void)pthread_barrier_wait(&barrier);
    if (i % 2 == 0) {
      pair_drive(argument, false);
    } else {
      F.lock(argument);
      F.unlock(argument);
    }
    (void)pthread_barrier_wait(&barrier);
  }
  return NULL;
}

/* A thread that does not get the lock leaves the work to who has it, and that one does not miss it. */
static void nothing_is_missed(void) {
  ends_open(&ends, NULL, 0);
  pthread_t other;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&other, NULL, disturb, ends.first.pair) == 0);
  for (int i = 0; i < POSTS; i++) {
    (void)pthread_barrier_wait(&barrier);
    CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 0, FLAG_INJECT_COMPLETE) == 0);
    (void)pthread_barrier_wait(&barrier);
    CHECK(atomic_load(&ends.first.pair->tail_seen) == latest(&ends.first.pair->sends.tail));
    CHECK(own(&ends.first.pair->sends.head) == latest(&ends.first.pair->sends.tail)); // the socket has it
    char bytes[64];
    CHECK(recv(ends.second.in_socket, bytes, sizeof bytes, MSG_DONTWAIT) == REQUEST_BYTES + TAIL_BYTES);
  }
  CHECK(pthread_join(other, NULL) == 0);
  (void)pthread_barrier_destroy(&barrier);
  ends_close(&ends);
}

/* ---- memory that goes while it is used ---- */

static struct regions regions;
static _Atomic uint32_t key; /* of the region that is there */
static _Atomic uint32_t found;
static uint64_t memory[USERS];
static pthread_mutex_t user_lock[USERS];

/* Writes to the region that is there, as a queue pair does under its lock. */
static void *use(void *argument) {
  pthread_mutex_t *lock = argument;
  uint64_t *place = &memory[lock - user_lock];
  for (uint64_t i = 0; atomic_load(&over) == 0; i++) {
    (void)pthread_mutex_lock(lock);
    struct region *region =
        regions_remote(&regions, DOMAIN, atomic_load(&key), (uint64_t)(uintptr_t)memory, sizeof memory, 0);
    if (region != NULL) {
      atomic_store_explicit(&found, 1, memory_order_relaxed);
      *place = i;
      region_leave(region);
    }
    (void)pthread_mutex_unlock(lock);
  }
  return NULL;
}

/* Once a region is removed, its memory is its owner's alone, whether somebody was using it or nobody. */
static void nobody_uses_what_is_removed(void) {
  over = 0;
  pthread_t users[USERS];
  for (int i = 0; i < USERS; i++) {
    CHECK(pthread_mutex_init(&user_lock[i], NULL) == 0);
    CHECK(pthread_create(&users[i], NULL, use, &user_lock[i]) == 0);
  }
  for (uint32_t i = 1; i <= REMOVALS; i++) {
    const struct region like = {.address = (uint64_t)(uintptr_t)memory, .length = sizeof memory, .domain = DOMAIN,
                                .local_key = i, .remote_key = i};
    struct region *region = regions_add(&regions, &like);
    CHECK(region != NULL);
    atomic_store(&found, 0);
    atomic_store(&key, i);
    while (atomic_load_explicit(&found, memory_order_relaxed) == 0) {
      (void)sched_yield();
    }
    if (regions_remove(&regions, region)) {
      for (int user = 0; user < USERS; user++) {
        (void)pthread_mutex_lock(&user_lock[user]);
        (void)pthread_mutex_unlock(&user_lock[user]);
      }
      region_free(region);
    }
    for (int user = 0; user < USERS; user++) {
      memory[user] = UINT64_MAX;
    }
    (void)sched_yield();
    for (int user = 0; user < USERS; user++) {
      CHECK(memory[user] == UINT64_MAX);
    }
  }
  atomic_store(&over, 1);
  for (int i = 0; i < USERS; i++) {
    CHECK(pthread_join(users[i], NULL) == 0);
    (void)pthread_mutex_destroy(&user_lock[i]);
  }
  regions_end(&regions);
}

int main(void) {
  nothing_is_missed();
  nobody_uses_what_is_removed();
  for (int round = 0; round < ROUNDS; round++) {
    struct mover *mover = F.start_mover("mover", 5000);
    run_round(round == 0 ? NULL : mover);
    F.stop_mover(mover);
    F.free_mover(mover);
  }
  return 0;
}
