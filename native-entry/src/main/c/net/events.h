/*
 * What NCCL's profiler hears of requests: an event for each, from the call that makes it to the test that ends it. NCCL
 * hands it to whichever profiler it has loaded, if that one wants events of net plugins (NCCL 2.26 and later).
 *
 * Who does not want them is asked again with every 1024th request of a comm, since the wish may change at any time. A
 * request between two of these costs one look; a test that finds nothing, none.
 *
 * All of it is inline, in net.c alone.
 */
#ifndef TRIGON_NET_EVENTS_H
#define TRIGON_NET_EVENTS_H

#include <stdlib.h>

#include "nccl_profiler_abi.h"
#include "lanes.h"

/* Who reports, and the version of its struct. */
#define NET_EVENT_SOURCE ((int64_t)0x5447 << 16 | 1)

/* What comes with the event's start, for that call. docs/reference/nccl-versions.md tells others. */
struct net_event_v1 {
  uint32_t type; /* 1: a send, 2: a receive */
  uint32_t unused;
  uint64_t comm;  /* the same for all requests of a comm */
  uint64_t bytes; /* of a receive: how many it has room for */
};

/* A comm's. */
struct net_events {
  void *by_slot[LANE_REQUESTS]; /* the profiler's events of the requests; NULL: none */
  uint32_t unwanted;           /* requests since the profiler did not want one; 0: it did */
};

/* By the slot number in a handle; made when a comm is, and kept for the next one that has the slot. */
extern struct net_events *_Atomic net_events[LANES] __attribute__((visibility("hidden")));

/* NCCL's, from an init of a version that has it. */
extern _Atomic(nccl_profiler_callback) net_profiler __attribute__((visibility("hidden")));

static inline struct net_events *events_of(uint64_t handle) {
  return atomic_load_explicit(&net_events[(handle >> 32) & (LANES - 1)], memory_order_acquire);
}

static inline void **event_of(struct net_events *events, uint64_t request) {
  return &events->by_slot[(request >> 2) & (LANE_REQUESTS - 1)];
}

/* A comm is there, before its first request. */
static inline void events_open(const void *comm) {
  const uint64_t handle = (uint64_t)(uintptr_t)comm;
  if (comm == NULL || atomic_load(&net_profiler) == NULL) {
    return;
  }
  struct net_events *events = events_of(handle);
  if (events == NULL) {
    events = calloc(1, sizeof *events); /* NULL: nothing is reported of this comm */
    atomic_store(&net_events[(handle >> 32) & (LANES - 1)], events);
  } else {
    *events = (struct net_events){.unwanted = 0};
  }
}

/* A request was made; parent: what NCCL gave with the call, NULL where it gave nothing. */
static inline void event_begin(const void *comm, void *parent, const void *request, uint64_t bytes, bool sends) {
  enum { ASK_EVERY = 1024 };
  const uint64_t handle = (uint64_t)(uintptr_t)comm;
  struct net_events *events = request == NULL || parent == NULL ? NULL : events_of(handle);
  if (events == NULL || (events->unwanted != 0 && events->unwanted++ % ASK_EVERY != 0)) {
    return;
  }
  const nccl_profiler_callback profiler = atomic_load_explicit(&net_profiler, memory_order_relaxed);
  void **event = event_of(events, (uint64_t)(uintptr_t)request);
  struct net_event_v1 data = {.type = sends ? 1 : 2, .comm = handle, .bytes = bytes};
  *event = NULL; /* NCCL leaves it alone where nobody wants it */
  (void)profiler(event, NCCL_NET_EVENT_START, parent, NET_EVENT_SOURCE, &data);
  events->unwanted = *event == NULL;
}

/* The request is done, or has failed. */
static inline void event_end(uint64_t request) {
  struct net_events *events = events_of(request);
  void **event = events == NULL || is_flush(request) ? NULL : event_of(events, request);
  if (event != NULL && *event != NULL) {
    const nccl_profiler_callback profiler = atomic_load_explicit(&net_profiler, memory_order_relaxed);
    (void)profiler(event, NCCL_NET_EVENT_STOP, NULL, NET_EVENT_SOURCE, NULL);
    *event = NULL;
  }
}

#endif
