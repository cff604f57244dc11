/*
 * A rank that makes NCCL's one-sided calls, and what is tried with it.
 */
#ifndef TRIGON_HOST_ONE_SIDED_H
#define TRIGON_HOST_ONE_SIDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nccl_one_sided_abi.h"
#include "net.h"

enum { MOST_RANKS = 8, COMMS = 4, DEADLINE_SECONDS = 60, WINDOW_BYTES = 4 << 20, CONTEXTS = 4 };

/* What the ranks share, as NCCL's bootstrap does for them. */
struct shared {
  _Atomic int arrived[4096];
  char handles[COMMS + 1][MOST_RANKS][NCCL_NET_HANDLE_BYTES];
  _Atomic int failures;
};

struct rank {
  struct shared *shared;
  int number;
  int ranks;
  bool is_gin;
  long count;
  struct net net;
  void *net_ctx;
  const struct nccl_gin_v11 *gin;
  const struct nccl_rma_v14 *rma;
  void *ctx;
  void *comms[COMMS];
  void *contexts[COMMS];
  void *signal_handles[COMMS];
  void *window_handles[COMMS];
  _Atomic uint64_t *signals[COMMS];
  unsigned char *window;
  int barrier;
  uintptr_t apart; /* a fake GPU's addresses from those of the processor */
};

#define OK(r, call, ...)                                                                                               \
  one_sided_check(r, #call, (r)->is_gin ? (r)->gin->call(__VA_ARGS__) : (r)->rma->call(__VA_ARGS__))

bool one_sided_check(const struct rank *r, const char *call, int result);

/* False once a rank has failed, or not all come. */
bool one_sided_barrier(struct rank *r);

/* The same, and data moves meanwhile. */
bool all_progress_until(struct rank *r);

/* One of "all", "signals", "times" and "death"; on the thread that moves data. */
bool one_sided_test(struct rank *r, const char *name);

#endif
