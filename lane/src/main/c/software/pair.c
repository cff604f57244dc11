#include "pair.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

int64_t nanos(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void pair_raise(struct queue_pair *pair, uint32_t attention) {
  (void)atomic_fetch_or(&pair->attention, attention);
  if (atomic_exchange(&pair->device->rung, 1) == 0) {
    const char ring = 1;
    ssize_t written = write(pair->device->bell, &ring, sizeof ring);
    (void)written; // one byte is enough, and a full pipe has more
  }
}

/* ---- progress ---- */

static bool is_closed(const struct queue_pair *pair) {
  return atomic_load_explicit(&pair->closed, memory_order_acquire) != 0;
}

bool pair_is_due(struct queue_pair *pair) {
  const bool wants_receive = atomic_load(&pair->awaits_receive) != 0 || state_of(pair) == STATE_ERROR;
  return atomic_load(&pair->work_due) != 0 || latest(&pair->sends.tail) != atomic_load(&pair->tail_seen) ||
         (wants_receive && !has_no_receive(&pair->receives));
}

static void work(struct queue_pair *pair) {
  atomic_store(&pair->work_due, 0);
  atomic_store(&pair->tail_seen, latest(&pair->sends.tail));
  if (is_closed(pair)) {
    requester_reset(pair);
    release_to(&pair->receives.head, latest(&pair->receives.tail));
    return;
  }
  if (state_of(pair) == STATE_READY_TO_SEND) {
    requester_work(pair);
  }
  if (state_of(pair) == STATE_ERROR) {
    requester_flush(pair);
    responder_flush(pair);
  } else {
    responder_go_on(pair);
  }
}

static bool is_long(const struct queue_pair *pair, uint32_t bytes) {
  return pair->mover != NULL && bytes >= mover_from_bytes(pair->mover);
}

static bool leaves_to_mover(const struct queue_pair *pair) {
  return !pair->moving && pair->mover != NULL && !mover_has_ended(pair->mover);
}

/* A stream of Java's is never a mover's. */
static bool are_sockets(const struct queue_pair *pair) {
  return (pair->outbound == NULL || is_socket(&pair->outbound->stream)) &&
         (pair->inbound == NULL || is_socket(&pair->inbound->stream));
}

bool is_left_to_mover(const struct queue_pair *pair, const struct stream *stream, uint32_t bytes) {
  return is_socket(stream) && is_long(pair, bytes) && leaves_to_mover(pair) && are_sockets(pair);
}

static bool sends_long_message(const struct queue_pair *pair) {
  return pair->outbound != NULL && pair->outbound->payload_left > 0 && is_long(pair, pair->outbound->payload_bytes);
}

bool has_long_message(const struct queue_pair *pair) {
  return are_sockets(pair) &&
         (sends_long_message(pair) ||
          (pair->inbound != NULL && pair->inbound->payload_left > 0 && is_long(pair, pair->inbound->payload_bytes)));
}

bool pair_progress(struct queue_pair *pair, bool receives, bool unpolled) {
  if (receives) {
    responder_receive(pair, unpolled, requester_has_work(pair));
    requester_receive(pair, unpolled);
  }
  work(pair);
  responder_send(pair, unpolled);
  if (atomic_load(&pair->given) == 0 && leaves_to_mover(pair) && has_long_message(pair)) {
    atomic_store(&pair->on_mover, 1);
    atomic_store(&pair->given, 1);
    return true;
  }
  pair_arm(pair);
  return false;
}

void pair_drive(struct queue_pair *pair, bool receives) {
  do {
    if (atomic_load(&pair->given) != 0 || atomic_load(&pair->waiters) != 0 || pthread_mutex_trylock(&pair->lock) != 0) {
      return;
    }
    // given between the look and the lock: the mover makes progress
    const bool gives = atomic_load(&pair->given) == 0 && pair_progress(pair, receives, false);
    (void)pthread_mutex_unlock(&pair->lock);
    if (gives) {
      mover_take(pair->mover, pair);
    }
  } while (pair_is_due(pair));
}

void pair_poll(struct queue_pair *pair) {
  atomic_store_explicit(&pair->polled_at, nanos(), memory_order_release);
  pair_drive(pair, true);
}

void pair_lock(struct queue_pair *pair) {
  (void)atomic_fetch_add(&pair->waiters, 1);
  (void)pthread_mutex_lock(&pair->lock);
  (void)atomic_fetch_sub(&pair->waiters, 1);
}

void pair_unlock(struct queue_pair *pair) {
  (void)pthread_mutex_unlock(&pair->lock);
  if (atomic_load(&pair->given) != 0) {
    mover_wake(pair->mover); // there may be no long message any more
  }
  if (pair_is_due(pair)) {
    pair_drive(pair, false);
  }
}

/* ---- sockets that are watched ---- */

uint32_t wanted_of_outbound(const struct queue_pair *pair) {
  const struct outbound *out = pair->outbound;
  return out == NULL ? 0 : (uint32_t)(outbound_has_output(pair, out) ? POLLIN | POLLOUT : POLLIN);
}

uint32_t wanted_of_inbound(const struct queue_pair *pair) {
  const struct inbound *in = pair->inbound;
  return in == NULL ? 0 : (uint32_t)((in->paused ? 0 : POLLIN) | (responses_are_over(in) ? 0 : POLLOUT));
}

void pair_arm(struct queue_pair *pair) {
  if (pair->watched || atomic_load(&pair->given) != 0) {
    return;
  }
  const uint32_t missing =
      (wanted_of_outbound(pair) & ~pair->armed_out) | (wanted_of_inbound(pair) & ~pair->armed_in);
  if (missing != 0 || !are_sockets(pair)) {
    pair_raise(pair, ATTENTION_ARM);
  }
}

/* ---- states ---- */

/* The connections are Java's from now on: responses that need no memory still get out. */
static void leave_connections(struct queue_pair *pair) {
  if (pair->outbound != NULL) {
    outbound_stop(pair->outbound);
    pair->outbound = NULL;
  }
  if (pair->inbound != NULL) {
    pair->inbound->ack_held = false;
    pair->inbound->discarding = true;
    pair->inbound->paused = false;
    pair->inbound->payload_left = 0;
    pair->inbound = NULL;
  }
  responder_drop(pair);
}

void pair_fail(struct queue_pair *pair, enum reason reason) {
  if (is_closed(pair) || state_of(pair) == STATE_ERROR) {
    return;
  }
  pair->reason = reason;
  atomic_store(&pair->state, STATE_ERROR);
  leave_connections(pair);
  requester_flush(pair);
  responder_flush(pair);
  pair_raise(pair, ATTENTION_FAILED);
}

void pair_reset(struct queue_pair *pair) {
  leave_connections(pair);
  requester_reset(pair);
  release_to(&pair->receives.head, latest(&pair->receives.tail));
  pair->responder.stage = STAGE_NONE;
  atomic_store(&pair->responder.peer_has_ended, 0);
  pair->reason = REASON_NONE;
}

static void forget(struct region **used, const struct region *region) {
  if (*used == region) {
    region_use(&no_region);
    region_leave(*used);
    *used = &no_region;
  }
}

void pair_forget(struct queue_pair *pair, const struct region *region) {
  if (pair->outbound != NULL) {
    forget(&pair->outbound->payload, region);
  }
  forget(&pair->responder.target, region);
}
