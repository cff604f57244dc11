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

struct rank;

enum { MOST_RANKS = 8, COMMS = 4, DEADLINE_SECONDS = 60, WINDOW_BYTES = 4 << 20, CONTEXTS = 4 };

/* What the ranks share, as NCCL's bootstrap does for them. */
struct shared {
  _Atomic int arrived[4096];
  char handles[COMMS + 1][MOST_RANKS][NCCL_NET_HANDLE_BYTES];
  _Atomic int failures;
  _Atomic int cuts;        /* made so far, by all ranks */
  _Atomic int moves;       /* of connections to other paths, as the log of all ranks tells them */
  _Atomic long rounds;     /* of the test "rounds", by all ranks */
  _Atomic long last_round; /* once it is known */
  struct rank *threads[MOST_RANKS]; /* for one thread that plays them all */
};

struct rank {
  struct shared *shared;
  int number;
  int ranks;
  bool is_gin;
  long count;
  long times; /* rounds of the test "times" */
  int cuts;
  int moves; /* at least so many: cuts go on until then */
  int cutters; /* as many of the ranks cut connections: those of a process share them */
  unsigned seed;
  bool yields; /* while it waits, for the good of others: where no times are told */
  struct net net;
  void *net_ctx;
  const struct nccl_gin_v11 *gin;
  int rma_api; /* 14 to 17 */
  union { /* as the library has it */
    const void *rma_table;
    const struct nccl_rma_v14 *rma_v14;
    const struct nccl_rma_v16 *rma_v16;
    const struct nccl_rma_v17 *rma_v17;
  };
  struct nccl_rma_v17 rma; /* a copy; what v14 has otherwise is called by one_sided_put and one_sided_get */
  void *ctx;
  void *comms[COMMS];
  void *contexts[COMMS]; /* GIN: of the comms with even numbers the comm itself */
  void *signal_handles[COMMS];
  void *window_handles[COMMS];
  _Atomic uint64_t *signals[COMMS];
  unsigned char *window;
  bool leaves; /* before the others, for which it does not wait */
  int barrier;
  uintptr_t apart; /* a fake GPU's addresses from those of the processor */
};

#define OK(r, call, ...)                                                                                               \
  one_sided_check(r, #call, (r)->is_gin ? (r)->gin->call(__VA_ARGS__) : (r)->rma.call(__VA_ARGS__))

bool one_sided_check(const struct rank *r, const char *call, int result);

/* False once a rank has failed, or not all come. */
bool one_sided_barrier(struct rank *r);

/* The same, and data moves meanwhile. */
bool all_progress_until(struct rank *r);

/* One of "all", "signals", "rounds", "times", "calls", "leave" and "death"; on the thread that moves data. */
bool one_sided_test(struct rank *r, const char *name);

/* Rounds of puts and signals by chance, while connections are cut; each byte and each addition is looked at. */
bool one_sided_rounds(struct rank *r);

/* One way, rank 0 to 1 and back: puts with a signal. */
bool one_sided_times(struct rank *r);

/* What the calls of both ends take, without a thread that waits for another one. */
bool one_sided_calls(struct rank *r);

/* Puts as the table has it; operation 0: without a signal. */
int one_sided_put(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to, int rank,
                  uint64_t signal, uint64_t value, uint32_t op, void **request);

int one_sided_get(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to, int rank,
                  void **request);

/* By the config of the table's version. */
int one_sided_create_context(const struct rank *r, void *comm, struct nccl_rma_config_v17 *config, void **ctx);

int one_sided_progress(const struct rank *r, int comm);

int one_sided_ask(const struct rank *r, int comm, void *request, int *done);

bool one_sided_finish(const struct rank *r, int comm, void *request);

bool one_sided_put_and_finish(const struct rank *r, int comm, int context, uint64_t from, size_t bytes, uint64_t to,
                              int rank, uint64_t signal, uint64_t value, uint32_t op);

/* Until the word has the value, or more. */
bool one_sided_await(const struct rank *r, int comm, int word, uint64_t value);

#endif
