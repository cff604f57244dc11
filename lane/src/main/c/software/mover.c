/*
 * A thread that makes the progress of queue pairs while they have long messages under way, and sleeps in poll(2) as
 * long as no socket of theirs is ready: a call that blocked in one direction would hold up the other, and memory that
 * is taken back. It never looks for work, and takes no signal of the host's. A queue pair has the same one for life.
 *
 * Sockets are closed by Java without asking it; it may sleep on a number that means another socket by then, and is
 * woken for nothing, or by mover_wake.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pair.h"

enum { STACK_BYTES = 256 << 10, FEWEST_PAIRS = 16, RETRY_MILLIS = 1 };

struct mover {
  uint32_t from_bytes; /* of the shortest message that it moves */
  int bell;            /* an eventfd */
  pthread_t thread;
  _Atomic(struct queue_pair *) newly_given; /* a list, the latest first; any thread adds, it takes all */
  _Atomic uint32_t asleep;                  /* it waits, or is about to: its; any thread looks, afterwards */
  _Atomic uint32_t look_at_all;             /* any thread sets it; it resets it, and looks */
  _Atomic uint32_t closed;                  /* Java's */
  _Atomic uint32_t ended;                   /* its; any thread */

  struct queue_pair **given; /* its own, as are the following */
  struct pollfd *sockets;    /* the bell's, and two of each */
  uint32_t count;
  uint32_t room;
};

uint32_t mover_from_bytes(const struct mover *mover) {
  return mover->from_bytes;
}

bool mover_has_ended(const struct mover *mover) {
  return atomic_load(&mover->ended) != 0;
}

/* ---- any thread ---- */

static void ring(struct mover *mover) {
  const uint64_t one = 1;
  ssize_t written = write(mover->bell, &one, sizeof one);
  (void)written;
}

/* Makes it no mover's; nothing of the mover touches it after that. */
static void let_go(struct queue_pair *pair) {
  atomic_store(&pair->on_mover, 0);
}

/* The thread has come to its end; whoever polls makes progress again. */
static void take_back(struct queue_pair *pair) {
  pair_lock(pair);
  atomic_store(&pair->given, 0);
  atomic_store(&pair->sending, 0);
  pair_arm(pair);
  pair_unlock(pair);
  let_go(pair);
}

static void take_all_back(struct mover *mover) {
  struct queue_pair *next = atomic_exchange(&mover->newly_given, NULL);
  while (next != NULL) {
    struct queue_pair *pair = next;
    next = pair->given_before;
    take_back(pair);
  }
}

/* A queue pair has a long message, and says so. */
void mover_take(struct mover *mover, struct queue_pair *pair) {
  struct queue_pair *before = atomic_load(&mover->newly_given);
  do {
    pair->given_before = before;
  } while (!atomic_compare_exchange_weak(&mover->newly_given, &before, pair));
  if (atomic_load(&mover->asleep) != 0) {
    ring(mover);
  }
  if (mover_has_ended(mover)) {
    take_all_back(mover);
  }
}

/* Has it look again at what it moves, whatever the sockets say. */
void mover_wake(struct mover *mover) {
  atomic_store(&mover->look_at_all, 1);
  if (atomic_load(&mover->asleep) != 0) {
    ring(mover);
  }
}

/* ---- its thread ---- */

/* Makes progress if a socket is ready; false if there is no more for it to do. */
static bool move(struct queue_pair *pair) {
  pair->ready = false;
  pair_lock(pair);
  pair->moving = true;
  do {
    (void)pair_progress(pair, true, false);
    atomic_store(&pair->sending, pair->outbound != NULL && pair->outbound->payload_left > 0);
  } while (pair_is_due(pair));
  pair->moving = false;
  const bool goes_on = has_long_message(pair);
  if (!goes_on) {
    atomic_store(&pair->given, 0);
    atomic_store(&pair->sending, 0);
    pair_arm(pair);
  }
  (void)pthread_mutex_unlock(&pair->lock);
  if (!goes_on && pair_is_due(pair)) {
    pair_drive(pair, false);
  }
  return goes_on;
}

static bool make_room(struct mover *mover) {
  if (mover->count < mover->room) {
    return true;
  }
  const uint32_t room = mover->room == 0 ? FEWEST_PAIRS : 2 * mover->room;
  struct queue_pair **given = realloc(mover->given, room * sizeof(struct queue_pair *));
  mover->given = given == NULL ? mover->given : given;
  struct pollfd *sockets = realloc(mover->sockets, (1 + 2 * room) * sizeof *sockets);
  mover->sockets = sockets == NULL ? mover->sockets : sockets;
  if (given == NULL || sockets == NULL) {
    return false;
  }
  mover->room = room;
  return true;
}

/* Takes those that are new; one for which there is no memory stays whoever polls it. */
static void begin(struct mover *mover) {
  struct queue_pair *next = atomic_exchange(&mover->newly_given, NULL);
  while (next != NULL) {
    struct queue_pair *pair = next;
    next = pair->given_before;
    if (make_room(mover)) {
      pair->ready = true;
      mover->given[mover->count++] = pair;
    } else {
      take_back(pair);
    }
  }
}

static void watch(struct pollfd *of, int socket, uint32_t wanted) {
  *of = (struct pollfd){.fd = wanted == 0 ? -1 : socket, .events = (short)wanted};
}

static void watch_both(struct pollfd *sockets, struct queue_pair *pair) {
  pair_lock(pair);
  watch(&sockets[0], pair->outbound == NULL ? -1 : pair->outbound->stream.socket, wanted_of_outbound(pair));
  watch(&sockets[1], pair->inbound == NULL ? -1 : pair->inbound->stream.socket, wanted_of_inbound(pair));
  (void)pthread_mutex_unlock(&pair->lock); // not pair_unlock, which wakes this thread
}

static void move_all(struct mover *mover) {
  if (atomic_exchange(&mover->look_at_all, 0) != 0) {
    for (uint32_t i = 0; i < mover->count; i++) {
      mover->given[i]->ready = true;
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < mover->count; i++) {
    struct queue_pair *pair = mover->given[i];
    const bool was_ready = pair->ready;
    if (was_ready && !move(pair)) {
      let_go(pair);
    } else {
      if (was_ready) {
        watch_both(&mover->sockets[1 + 2 * kept], pair);
      } else {
        mover->sockets[1 + 2 * kept] = mover->sockets[1 + 2 * i];
        mover->sockets[2 + 2 * kept] = mover->sockets[2 + 2 * i];
      }
      mover->given[kept++] = pair;
    }
  }
  mover->count = kept;
}

static void sleep_until_ready(struct mover *mover) {
  struct pollfd *sockets = mover->sockets;
  sockets[0] = (struct pollfd){.fd = mover->bell, .events = POLLIN};
  atomic_store(&mover->asleep, 1);
  if (atomic_load(&mover->newly_given) == NULL && atomic_load(&mover->look_at_all) == 0 &&
      atomic_load(&mover->closed) == 0) {
    (void)poll(sockets, 1 + 2 * (nfds_t)mover->count, -1);
  }
  atomic_store(&mover->asleep, 0);
  uint64_t rings;
  if ((sockets[0].revents & POLLIN) != 0 && read(mover->bell, &rings, sizeof rings) < 0) {
    return; // somebody's ring is still on its way
  }
  for (uint32_t i = 0; i < mover->count; i++) {
    mover->given[i]->ready |= (sockets[1 + 2 * i].revents | sockets[2 + 2 * i].revents) != 0;
  }
}

static void *run(void *argument) {
  struct mover *mover = argument;
  while (atomic_load(&mover->closed) == 0) {
    sleep_until_ready(mover);
    begin(mover);
    move_all(mover);
  }
  atomic_store(&mover->ended, 1);
  take_all_back(mover);
  for (uint32_t i = 0; i < mover->count; i++) {
    take_back(mover->given[i]);
  }
  return NULL;
}

/* ---- Java ---- */

static bool start_thread(struct mover *mover, const char *name) {
  pthread_attr_t attributes;
  sigset_t all;
  sigset_t before;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&mover->thread, &attributes, run, mover) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
  if (started) {
    (void)pthread_setname_np(mover->thread, name);
  }
  return started;
}

/* Nobody has a queue pair of it any more: who posts late may still wake it before. */
void mover_free(struct mover *mover) {
  if (mover->bell >= 0) {
    (void)close(mover->bell);
  }
  free(mover->given);
  free(mover->sockets);
  free(mover);
}

/* NULL if there is no memory, thread or descriptor. */
struct mover *mover_start(const char *name, uint32_t from_bytes) {
  struct mover *mover = calloc(1, sizeof *mover);
  if (mover == NULL) {
    return NULL;
  }
  mover->from_bytes = from_bytes;
  mover->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (mover->bell < 0 || !make_room(mover) || !start_thread(mover, name)) {
    mover_free(mover);
    return NULL;
  }
  return mover;
}

/* Ends the thread. Its queue pairs may still ask whether it has ended. */
void mover_stop(struct mover *mover) {
  atomic_store(&mover->closed, 1);
  ring(mover);
  (void)pthread_join(mover->thread, NULL);
}
