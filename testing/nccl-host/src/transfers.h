/* The two tests; each returns whether it ran to its end, and counts what was wrong in rank->wrong. */
#ifndef HOST_TRANSFERS_H
#define HOST_TRANSFERS_H

#include "connections.h"

/* Sums float32 vectors of all ranks: reduce-scatter and all-gather around the ring, on all channels at once. */
bool run_ring(struct rank *rank);

/* Messages of many sizes, 0 and odd ones among them, to the next rank. */
bool run_exchange(struct rank *rank);

/* What the plugin must bear from NCCL, in this process alone. Returns the number of checks that failed. */
int run_contract(const struct options *options);

#endif
