#include "memory.h"

#include <stdlib.h>

enum { FEWEST_PLACES = 16 };

/* Most regions that are kept: 80 KiB, and with 1000 queue pairs one lock for each that is removed. */
enum { MOST_KEPT = 1024 };

struct region no_region;

/* Where one was: the search goes on behind it. */
static struct region gone;

static struct region *get(const struct region_table *table, uint32_t key, bool local) {
  for (uint32_t i = 0; table != NULL && i <= table->mask; i++) {
    struct region *found = atomic_load_explicit(&table->places[(key + i) & table->mask], memory_order_acquire);
    if (found == NULL) {
      return NULL;
    }
    if (found != &gone && (local ? found->local_key : found->remote_key) == key) {
      return found;
    }
  }
  return NULL;
}

static void put(struct region_table *table, uint32_t key, struct region *region) {
  uint32_t place = key & table->mask;
  struct region *there;
  while ((there = atomic_load_explicit(&table->places[place], memory_order_relaxed)) != NULL && there != &gone) {
    place = (place + 1) & table->mask;
  }
  table->used += there == NULL;
  atomic_store_explicit(&table->places[place], region, memory_order_release);
}

static uint32_t count(const struct region_table *table) {
  uint32_t live = 0;
  for (uint32_t i = 0; table != NULL && i <= table->mask; i++) {
    const struct region *region = atomic_load_explicit(&table->places[i], memory_order_relaxed);
    live += region != NULL && region != &gone;
  }
  return live;
}

/* Has room for one more: at least the half of the places is free. */
static bool has_room(_Atomic(struct region_table *) *of, bool local) {
  struct region_table *table = atomic_load_explicit(of, memory_order_relaxed);
  if (table != NULL && table->used < (table->mask + 1) / 2) {
    return true;
  }
  uint32_t places = FEWEST_PLACES;
  for (const uint32_t live = count(table); places < 4 * (live + 1);) {
    places *= 2;
  }
  struct region_table *next = calloc(1, sizeof *next + places * sizeof next->places[0]);
  if (next == NULL) {
    return false;
  }
  next->mask = places - 1;
  next->before = table;
  for (uint32_t i = 0; table != NULL && i <= table->mask; i++) {
    struct region *region = atomic_load_explicit(&table->places[i], memory_order_relaxed);
    if (region != NULL && region != &gone) {
      put(next, local ? region->local_key : region->remote_key, region);
    }
  }
  atomic_store_explicit(of, next, memory_order_release);
  return true;
}

struct region *regions_add(struct regions *regions, const struct region *like) {
  struct region *region = calloc(1, sizeof *region);
  if (region == NULL || !has_room(&regions->by_local_key, true) || !has_room(&regions->by_remote_key, false) ||
      get(regions->by_local_key, like->local_key, true) != NULL ||
      get(regions->by_remote_key, like->remote_key, false) != NULL) {
    free(region);
    return NULL;
  }
  region->access = like->access;
  region->address = like->address;
  region->length = like->length;
  region->domain = like->domain;
  region->local_key = like->local_key;
  region->remote_key = like->remote_key;
  atomic_store_explicit(&region->open, 1, memory_order_relaxed);
  put(regions->by_local_key, region->local_key, region);
  put(regions->by_remote_key, region->remote_key, region);
  return region;
}

static void take_out(struct region_table *table, uint32_t key, const struct region *region) {
  uint32_t place = key & table->mask;
  while (atomic_load_explicit(&table->places[place], memory_order_relaxed) != region) {
    place = (place + 1) & table->mask;
  }
  atomic_store_explicit(&table->places[place], &gone, memory_order_release);
}

/* The tables that it has replaced; the last of them links to the others. */
static struct region_table *take_replaced(struct region_table *table, struct region_table *others) {
  struct region_table **end = &table->before;
  while (*end != NULL) {
    end = &(*end)->before;
  }
  *end = others;
  struct region_table *replaced = table->before;
  table->before = NULL;
  return replaced;
}

bool regions_remove(struct regions *regions, struct region *region) {
  atomic_store(&region->open, 0);
  take_out(regions->by_local_key, region->local_key, region);
  take_out(regions->by_remote_key, region->remote_key, region);
  region->replaced = take_replaced(regions->by_remote_key, take_replaced(regions->by_local_key, NULL));
  region->removed_before = regions->removed;
  if (atomic_load(&region->users) == 0 && regions->kept < MOST_KEPT) {
    regions->removed = region;
    regions->kept++;
    return false;
  }
  regions->removed = NULL;
  regions->kept = 0;
  return true;
}

static void free_tables(struct region_table *first) {
  while (first != NULL) {
    struct region_table *next = first->before;
    free(first);
    first = next;
  }
}

void region_free(struct region *region) {
  while (region != NULL) {
    struct region *before = region->removed_before;
    free_tables(region->replaced);
    free(region);
    region = before;
  }
}

void regions_end(struct regions *regions) {
  region_free(regions->removed);
  free_tables(regions->by_local_key);
  free_tables(regions->by_remote_key);
}

static struct region *allowed(struct region *region, uint64_t domain, uint64_t address, uint32_t length,
                              uint32_t access) {
  if (region == NULL || region->domain != domain || (region->access & access) != access) {
    return NULL;
  }
  const uint64_t offset = address - region->address;
  if (address < region->address || length > region->length || offset > region->length - length) {
    return NULL;
  }
  region_use(region);
  if (!region_is_open(region)) {
    region_leave(region);
    return NULL;
  }
  return region;
}

struct region *regions_local(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                             uint32_t length, uint32_t access) {
  const struct region_table *table = atomic_load_explicit(&regions->by_local_key, memory_order_acquire);
  return allowed(get(table, key, true), domain, address, length, access);
}

struct region *regions_remote(const struct regions *regions, uint64_t domain, uint32_t key, uint64_t address,
                              uint32_t length, uint32_t access) {
  const struct region_table *table = atomic_load_explicit(&regions->by_remote_key, memory_order_acquire);
  return allowed(get(table, key, false), domain, address, length, access);
}
