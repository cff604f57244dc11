/* Slots and rings: who has them, and when they are free again. */
#include "fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <infiniband/verbs.h>

enum { MOST_REUSE = 4095 };

static off_t place_of(int ring) {
  return (off_t)(ring_at(ring) - (uint8_t *)fabric.header);
}

int slot_take(void) {
  int found = -1;

  registry_lock();
  collect();
  for (int i = 1; i < SLOTS && found < 0; i++) {
    Slot *s = &fabric.slots[i];
    if (atomic_load(&s->number))
      continue;
    s->reuse = s->reuse % MOST_REUSE + 1;
    s->ring = NO_RING;
    s->port = NO_PORT;
    atomic_store(&s->owner, (uint32_t)self);
    atomic_store(&s->owner_nonce, self_nonce);
    atomic_store(&s->state, IBV_QPS_RESET);
    atomic_store(&s->sending, 0);
    atomic_store(&s->bound, 0);
    atomic_store(&s->peer, 0);
    atomic_store(&s->number, s->reuse << 12 | (uint32_t)i);
    found = i;
  }
  registry_unlock();
  return found;
}

int ring_take(uint64_t link, uint32_t reader) {
  int found = NO_RING;

  registry_lock();
  collect();
  for (int i = 0; i < SLOTS && found == NO_RING; i++) {
    Ring *r = &fabric.rings[i];
    if (atomic_load(&r->taken))
      continue;
    if (fallocate(fabric.fd, 0, place_of(i), (off_t)fabric.header->ring_bytes))
      break;  /* here, and not by a signal when the memory is used */
    atomic_store(&r->tail, 0);
    atomic_store(&r->response_tail, 0);
    atomic_store(&r->abandoned, 0);
    atomic_store(&r->reader, reader);
    atomic_store(&r->owner, (uint32_t)self);
    atomic_store(&r->owner_nonce, self_nonce);
    atomic_store(&r->taken, 1);
    atomic_store(&r->link, link);
    found = i;
  }
  registry_unlock();
  return found;
}

static bool owner_gone(const Ring *r) {
  return !process_alive(atomic_load(&r->owner), atomic_load(&r->owner_nonce));
}

/* Whether the reader may still want packets of the ring. One that is stopped may, so its ring stays. */
static bool may_be_read(const Ring *r, uint64_t link) {
  uint32_t number = atomic_load(&r->reader);
  const Slot *s = &fabric.slots[slot_of(number)];
  uint32_t state = atomic_load(&s->state);
  uint64_t bound = atomic_load(&s->bound);

  if (atomic_load(&s->number) != number || atomic_load(&s->peer) != link >> 32)
    return false;
  if ((state != IBV_QPS_RTR && state != IBV_QPS_RTS)
      || !process_alive(atomic_load(&s->owner), atomic_load(&s->owner_nonce)))
    return false;
  if (bound == link)
    return atomic_load(&s->head) < atomic_load(&r->tail);
  return !bound && atomic_load(&r->tail);
}

/*
 * The reader publishes that it is bound to a link before it looks whether the ring still has it; here the link is
 * taken away before a second look at what the reader has published. So one of both sees the other.
 */
static void free_ring(int ring) {
  Ring *r = &fabric.rings[ring];
  uint64_t link = atomic_load(&r->link);

  if (link && may_be_read(r, link))
    return;
  atomic_store(&r->link, 0);
  if (link && may_be_read(r, link)) {
    atomic_store(&r->link, link);
    notify(slot_of(atomic_load(&r->reader)));  /* it may have found the link gone */
    return;
  }
  fallocate(fabric.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place_of(ring), (off_t)fabric.header->ring_bytes);
  atomic_store(&r->taken, 0);
}

void ring_abandon(int ring) {
  atomic_store(&fabric.rings[ring].abandoned, 1);
  notify(slot_of(atomic_load(&fabric.rings[ring].reader)));
}

/* A queue pair's slot stays as long as packets of its are on the wire: they are recognised by its number. */
static bool on_the_wire(const Slot *s) {
  uint64_t link = atomic_load(&s->sending);

  return link && s->ring != NO_RING && atomic_load(&fabric.rings[s->ring].link) == link;
}

void collect(void) {
  for (int i = 0; i < SLOTS; i++) {
    Ring *r = &fabric.rings[i];
    if (atomic_load(&r->taken) && (atomic_load(&r->abandoned) || owner_gone(r)))
      free_ring(i);
  }
  for (int i = 1; i < SLOTS; i++) {
    Slot *s = &fabric.slots[i];
    if (!atomic_load(&s->number))
      continue;
    bool gone = !process_alive(atomic_load(&s->owner), atomic_load(&s->owner_nonce));
    if ((gone || atomic_load(&s->state) == SLOT_DESTROYED) && !on_the_wire(s))
      atomic_store(&s->number, 0);
  }
}
