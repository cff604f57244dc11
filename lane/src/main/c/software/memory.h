/*
 * The registered memory of an open device, by its keys. Java adds and removes regions, under the device's monitor; who
 * has the lock of a queue pair looks for them, without another lock.
 *
 * Whoever finds a region uses it until he leaves it: a queue pair as long as one message takes, though it may let go of
 * its lock in between. He is counted before he looks whether the region is open; who removes it closes it before he
 * looks at the count. Both are sequentially consistent, so one of them sees the other (removal.pml).
 *
 * Where nobody uses it, that is all, whatever number of queue pairs there is. Otherwise Java takes the lock of each
 * once, and has it forget the region (pair_forget). Who has it at a lock asks whether it is open before each access.
 *
 * Somebody may have found a region before it was removed, and look at it afterwards, as at a table that was too small.
 * They are kept until Java has taken each lock once, which it does for every so many of them.
 */
#ifndef TRIGON_SOFTWARE_MEMORY_H
#define TRIGON_SOFTWARE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
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
  _Atomic uint32_t users;        /* anybody */
  struct region_table *replaced; /* tables that are freed with it: nobody reads them by then */
  struct region *removed_before; /* the same of regions */
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
  struct region *removed; /* the last of those that are kept; Java's */
  uint32_t kept;
};

/* NULL if there is no memory, or a key is taken. Keys are random, and not 0. */
struct region *regions_add(struct regions *regions, const struct region *like);

/*
 * Ends all access, and takes the keys back. True: somebody may be using it, or many are kept. Then it is to be freed,
 * once each queue pair was locked and has forgotten it. False: nobody uses it, and it is not the caller's any more.
 */
bool regions_remove(struct regions *regions, struct region *region);

/* Frees it, with what was kept when it was removed. */
void region_free(struct region *region);

/* All of it: nothing is registered any more. */
void regions_end(struct regions *regions);

static inline bool region_is_open(const struct region *region) {
  return atomic_load(&region->open) != 0;
}

static inline void region_use(struct region *region) {
  (void)atomic_fetch_add(&region->users, 1);
}

/* Ends the use of what regions_local or regions_remote has found; NULL: nothing. */
static inline void region_leave(struct region *region) {
  if (region != NULL) {
    (void)atomic_fetch_sub(&region->users, 1);
  }
}

/* The region of that domain which has all of these bytes, and allows that, to be left in the end; or NULL. */
struct region *regions_local(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                             uint32_t length, uint32_t access);
struct region *regions_remote(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                              uint32_t length, uint32_t access);

#endif
