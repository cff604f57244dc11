/*
 * A tuner plugin, whichever API version it is used through; what a version lacks is done as NCCL's core does it. Costs
 * are made up: trees are best below 64 KiB, rings above; neither CollNet nor NVLS can be used.
 */
#ifndef HOST_TUNER_H
#define HOST_TUNER_H

#include <stdbool.h>

#include "nccl_tuner_abi.h"

struct tuner {
  int api; /* 2 to 7 */
  union {
    const void *table;
    const struct nccl_tuner_v2 *v2;
    const struct nccl_tuner_v3 *v3;
    const struct nccl_tuner_v4 *v4;
    const struct nccl_tuner_v5 *v5;
    const struct nccl_tuner_v6 *v6;
    const struct nccl_tuner_v7 *v7;
  };
};

/* What NCCL does with a collective. */
struct decision {
  int algorithm;
  int protocol;
  int channels; /* 0: as many as NCCL likes */
  size_t chunk;
};

/* As NCCL looks for it in a library. False: the library has none of this version. */
bool tuner_find(struct tuner *tuner, void *library, int api);

int tuner_init(const struct tuner *tuner, void **ctx, uint64_t comm_id, size_t ranks, size_t nodes);
int tuner_finalize(const struct tuner *tuner, void *ctx);

/* A communicator without a tuner has NULL for it, and NCCL's own choice. */
int tuner_decide(const struct tuner *tuner, void *ctx, int coll, size_t bytes, struct decision *decision);

/* Calls getCollInfo alone, on one table that is filled once; v4 to v7. */
int tuner_ask(const struct tuner *tuner, void *ctx, int coll, size_t bytes, float table[21], int *channels);

/* A tuner that decides nothing, v6. */
struct tuner empty_tuner(void);

const char *algorithm_name(int algorithm);
const char *protocol_name(int protocol);

#endif
