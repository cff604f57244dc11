/*
 * The registered memory of an open device, by its keys. Java adds and removes regions, under the device's monitor; who
 * has the lock of a queue pair looks for them, without another lock.
 *
 * A region that is removed is closed first; then Java takes the lock of each queue pair once, and has it forget the
 * region (pair_forget); only then it is freed, with the tables that were too small. So whoever has found a region may
 * use it for as long as it holds the queue pair's lock, and asks whether it is open before each access after that.
 */
#ifndef TRIGON_SOFTWARE_MEMORY_H
#define TRIGON_SOFTWARE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* enum ibv_access_flags. */
enum { ACCESS_LOCAL_WRITE = 1, ACCESS_REMOTE_WRITE = 1 << 1 };

struct region {
  _Atomic uint32_t open; /* Java's; read by who moves data. The rest does not change */
  uint32_t access;
  uint64_t address;
  uint64_t length;
  uint64_t domain;
  uint32_t local_key;
  uint32_t remote_key;
  struct region_table *replaced; /* tables that are freed with it: nobody reads them by then */
};

/* In the place of one that is gone: it is not open. */
extern struct region no_region;

/* An open hash table: a region is in the first place from its key's on that was free, and NULL ends the search. */
struct region_table {
  struct region_table *before; /* one that it has replaced, and which somebody may still read */
  uint32_t mask;
  uint32_t used; /* places that are not NULL */
  _Atomic(struct region *) places[];
};

struct regions {
  _Atomic(struct region_table *) by_local_key; /* Java's, release; acquire */
  _Atomic(struct region_table *) by_remote_key;
};

/* NULL if there is no memory, or a key is taken. Keys are random, and not 0. */
struct region *regions_add(struct regions *regions, const struct region *like);

/* Ends all access, and takes the keys back. */
void regions_remove(struct regions *regions, struct region *region);

/* Frees it, and the tables that had been replaced when it was removed. */
void region_free(struct region *region);

/* All of it: nothing is registered any more. */
void regions_end(struct regions *regions);

static inline bool region_is_open(const struct region *region) {
  return atomic_load_explicit(&region->open, memory_order_acquire) != 0;
}

/* The region of that domain which has all of these bytes, and allows that; or NULL. */
struct region *regions_local(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                             uint32_t length, uint32_t access);
struct region *regions_remote(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                              uint32_t length, uint32_t access);

#endif
