#include "tuner.h"

#include <dlfcn.h>
#include <float.h>
#include <stdio.h>

#include "net.h"

enum { CHUNK_OF_NCCL = 128 << 10, MOST_CHUNK = 512 << 10, GRAIN = 512 };

typedef float cost_table[NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];

bool tuner_find(struct tuner *tuner, void *library, int api) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "ncclTunerPlugin_v%d", api);
  *tuner = (struct tuner){.api = api};
  tuner->table = dlsym(library, symbol);
  return tuner->table != NULL;
}

int tuner_init(const struct tuner *tuner, void **ctx, uint64_t comm_id, size_t ranks, size_t nodes) {
  struct nccl_tuner_domains domains = {.nNvlDomains = (int)nodes, .minRanksPerNvlDomain = 1, .maxRanksPerNvlDomain = 1};
  static struct nccl_tuner_constants constants;
  static struct nccl_tuner_constants_v7 constants_v7;
  *ctx = NULL;
  return tuner->api < 5   ? tuner->v4->init(ranks, nodes, host_logger, ctx)
         : tuner->api < 7 ? tuner->v6->init(ctx, comm_id, ranks, nodes, host_logger, &domains, &constants)
                          : tuner->v7->init(ctx, comm_id, ranks, nodes, host_logger, &domains, &constants_v7);
}

/* Under another name before v5, in the same place. */
int tuner_finalize(const struct tuner *tuner, void *ctx) {
  return tuner->v6->finalize(ctx);
}

static bool is_usable(int coll, int algorithm) {
  bool gathers = coll == 2 || coll == 3;
  return algorithm == NCCL_TUNER_RING || (algorithm == NCCL_TUNER_TREE && coll == NCCL_TUNER_ALL_REDUCE) ||
         (algorithm == 6 && gathers);
}

static void fill(cost_table table, int coll, size_t bytes) {
  for (int a = 0; a < NCCL_TUNER_ALGORITHMS; a++) {
    for (int p = 0; p < NCCL_TUNER_PROTOCOLS; p++) {
      float latency = a == NCCL_TUNER_RING ? 20.0F : 10.0F;
      float nanoseconds_per_byte = a == NCCL_TUNER_RING ? 0.1F : 0.25F;
      table[a][p] = !is_usable(coll, a) ? NCCL_TUNER_IGNORE
                                        : latency * (float)(p + 1) + (float)bytes * nanoseconds_per_byte / 1e3F /
                                                                         (float)(p + 1);
    }
  }
}

/* NCCL's own: the least that is not negative. */
static void choose(cost_table table, struct decision *decision) {
  float least = FLT_MAX;
  for (int a = 0; a < NCCL_TUNER_ALGORITHMS; a++) {
    for (int p = 0; p < NCCL_TUNER_PROTOCOLS; p++) {
      if (table[a][p] >= 0 && table[a][p] < least) {
        least = table[a][p];
        decision->algorithm = a;
        decision->protocol = p;
      }
    }
  }
}

static int ask(const struct tuner *tuner, void *ctx, int coll, size_t bytes, cost_table table,
               struct decision *decision) {
  float **flat = (float **)(void *)table;
  switch (tuner->api) {
  case 2:
    return tuner->v2->getCollInfo(ctx, coll, bytes, 0, 0, 1, &decision->algorithm, &decision->protocol,
                                  &decision->channels);
  case 3:
    return tuner->v3->getCollInfo(ctx, coll, bytes, 1, flat, NCCL_TUNER_ALGORITHMS, NCCL_TUNER_PROTOCOLS,
                                  &decision->channels);
  default:
    return tuner->v4->getCollInfo(ctx, coll, bytes, 1, flat, NCCL_TUNER_ALGORITHMS, NCCL_TUNER_PROTOCOLS, 0,
                                  &decision->channels);
  }
}

int tuner_decide(const struct tuner *tuner, void *ctx, int coll, size_t bytes, struct decision *decision) {
  cost_table table;
  fill(table, coll, bytes);
  *decision = (struct decision){.algorithm = -1, .protocol = -1, .chunk = CHUNK_OF_NCCL};
  int result = tuner == NULL ? NCCL_SUCCESS : ask(tuner, ctx, coll, bytes, table, decision);
  if (decision->algorithm < 0 || decision->protocol < 0) {
    choose(table, decision);
  }
  if (result == NCCL_SUCCESS && tuner != NULL && tuner->api >= 6 && tuner->v6->getChunkSize != NULL) {
    result = tuner->v6->getChunkSize(ctx, coll, bytes, decision->algorithm, decision->protocol, decision->channels,
                                     &decision->chunk);
    decision->chunk = (decision->chunk > MOST_CHUNK ? MOST_CHUNK : decision->chunk) / GRAIN * GRAIN;
  }
  return result;
}

int tuner_ask(const struct tuner *tuner, void *ctx, int coll, size_t bytes, float table[21], int *channels) {
  return tuner->v6->getCollInfo(ctx, coll, bytes, 1, (float **)(void *)table, NCCL_TUNER_ALGORITHMS,
                                NCCL_TUNER_PROTOCOLS, 0, channels);
}

/* ---- one that decides nothing ---- */

static int init_nothing(void **ctx, uint64_t comm_id, size_t ranks, size_t nodes, nccl_logger log,
                        struct nccl_tuner_domains *domains, struct nccl_tuner_constants *constants) {
  (void)comm_id, (void)ranks, (void)nodes, (void)log, (void)domains, (void)constants;
  *ctx = NULL;
  return NCCL_SUCCESS;
}

static int decide_nothing(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algorithms,
                          int protocols, int reg_buff, int *channels) {
  (void)ctx, (void)coll, (void)bytes, (void)pipe_ops, (void)table, (void)algorithms, (void)protocols, (void)reg_buff;
  *channels = 0;
  return NCCL_SUCCESS;
}

static int finalize_nothing(void *ctx) {
  (void)ctx;
  return NCCL_SUCCESS;
}

struct tuner empty_tuner(void) {
  static const struct nccl_tuner_v6 table = {"empty", init_nothing, decide_nothing, finalize_nothing, NULL};
  return (struct tuner){.api = 6, .v6 = &table};
}

/* ---- names, as in trigon policy test ---- */

const char *algorithm_name(int algorithm) {
  static const char *const names[] = {"tree",  "ring",      "collnet-direct", "collnet-chain",
                                      "nvls",  "nvls-tree", "pat"};
  return algorithm >= 0 && algorithm < NCCL_TUNER_ALGORITHMS ? names[algorithm] : "none";
}

const char *protocol_name(int protocol) {
  static const char *const names[] = {"ll", "ll128", "simple"};
  return protocol >= 0 && protocol < NCCL_TUNER_PROTOCOLS ? names[protocol] : "none";
}
