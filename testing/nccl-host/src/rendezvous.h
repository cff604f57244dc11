/*
 * Where ranks leave small values for each other: files in a directory that all see, or a store that rank 0 serves at
 * HOST:PORT. One object per rank; its calls come from one thread at a time.
 */
#ifndef HOST_RENDEZVOUS_H
#define HOST_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

enum { RENDEZVOUS_MAX_VALUE = 255 };

struct rendezvous;

/* NULL: it has said why. Rank 0's also serves. */
struct rendezvous *rendezvous_open(const char *where, int rank, double deadline);
void rendezvous_close(struct rendezvous *rendezvous);

bool rendezvous_put(struct rendezvous *rendezvous, const char *key, const void *value, size_t bytes);

/* 1: the value is there; 0: not yet; -1: failed, and it has said why. */
int rendezvous_get(struct rendezvous *rendezvous, const char *key, void *value, size_t bytes);

/* Returns when all ranks have come here, or false when the deadline has passed. */
bool rendezvous_barrier(struct rendezvous *rendezvous, const char *name, int ranks, double deadline);

/* The last call before closing: rank 0 stays until all ranks have left, since it may serve them. */
bool rendezvous_leave(struct rendezvous *rendezvous, int ranks, double deadline);

#endif
