#include "built_in.h"

#include <float.h>
#include <stdint.h>

#include "nccl_tuner_abi.h"

/*
 * Bytes that a rank sends to its neighbour in one step of a ring: the most for LL, which adds a flag of four bytes to
 * each four; the most for one channel, and what is too much for two. Those of channels were measured over TCP.
 */
enum { MAX_STEP_OF_LL = 64 << 10, MAX_STEP_OF_ONE = 128 << 10, TOO_MUCH_FOR_TWO = 2 << 20 };

/*
 * Most bytes of a whole collective for one channel of a tree. There is no limit for two: on NCCL's four channels, the
 * double tree's second half has the upper two (connectTrees in graph/connect.cc).
 */
enum { MAX_TREE_OF_ONE = 16 << 10 };

/*
 * Bytes, for each rank, below which NCCL itself takes one channel for Ring/LL: 2 channels of 512 threads, 8 bytes each
 * (threadThresholds in graph/tuning.cc, topoGetAlgoInfo in enqueue.cc). Its other least numbers for two are below
 * MAX_STEP_OF_ONE: 64 KiB with Simple and 10 KiB with LL128, of all bytes.
 */
enum { MIN_LL_OF_TWO = 2 * 512 * 8 };

struct choice {
  int algorithm;
  int protocol;
};

static float *entry_of(struct cost_table costs, struct choice choice) {
  return &costs.entries[choice.algorithm * costs.protocols + choice.protocol];
}

/* NCCL's choice: the first of the least entries that are not below 0 (topoGetAlgoInfo); algorithm -1: there is none. */
static struct choice find_least(struct cost_table costs) {
  struct choice least = {-1, -1};
  float cost = FLT_MAX;
  for (int a = 0; a < costs.algorithms; a++) {
    for (int p = 0; p < costs.protocols; p++) {
      const struct choice next = {a, p};
      if (*entry_of(costs, next) >= 0 && *entry_of(costs, next) < cost) {
        least = next;
        cost = *entry_of(costs, next);
      }
    }
  }
  return least;
}

/* Number of a ring's steps that carry all bytes once: a broadcast and a reduction pass all of them on in each step. */
static uint64_t parts_of(struct tuned_ranks ranks, int coll) {
  return coll == NCCL_TUNER_BROADCAST || coll == NCCL_TUNER_REDUCE ? 1 : ranks.count;
}

/* Takes Simple for LL in long steps, if NCCL may use it. The cost 0 is less than any of NCCL's estimates. */
static int choose_ring_protocol(struct cost_table costs, struct choice ring, uint64_t parts, size_t bytes) {
  const struct choice simple = {NCCL_TUNER_RING, NCCL_TUNER_SIMPLE};
  const bool leaves_ll = ring.protocol == NCCL_TUNER_LL && bytes > MAX_STEP_OF_LL * parts;
  if (!leaves_ll || *entry_of(costs, ring) == 0 || simple.protocol >= costs.protocols ||
      *entry_of(costs, simple) < 0) {
    return ring.protocol;
  }
  *entry_of(costs, simple) = 0;
  return simple.protocol;
}

static int ring_channels(int protocol, struct tuned_ranks ranks, uint64_t parts, size_t bytes) {
  if (bytes >= TOO_MUCH_FOR_TWO * parts) {
    return 0;
  }
  const bool is_one_for_nccl = protocol == NCCL_TUNER_LL && bytes < MIN_LL_OF_TWO * (uint64_t)ranks.count;
  return is_one_for_nccl || bytes <= MAX_STEP_OF_ONE * parts ? 1 : 2;
}

int built_in_decide(struct cost_table costs, struct tuned_ranks ranks, int coll, size_t bytes) {
  const struct choice chosen = find_least(costs);
  int channels = 0;
  if (chosen.algorithm == NCCL_TUNER_RING) {
    const uint64_t parts = parts_of(ranks, coll);
    const int protocol = choose_ring_protocol(costs, chosen, parts, bytes);
    channels = ring_channels(protocol, ranks, parts, bytes);
  } else if (chosen.algorithm == NCCL_TUNER_TREE && bytes <= MAX_TREE_OF_ONE) {
    channels = 1;
  }
  return ranks.share_nodes ? 0 : channels;
}
