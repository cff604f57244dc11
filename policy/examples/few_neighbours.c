/*
 * For two to four nodes that all are neighbours, over software links. There a tree has fewer steps than a ring, and
 * steps are what middle sizes wait for. NCCL's costs are those of switched networks, and choose rings from 32 KiB on.
 * The limits were measured with real NCCL (docs/measurements/policies.md); large messages are a ring's.
 */
#include "trigon_policy.h"

const volatile u32 most_nodes = 4;
const volatile u64 from_bytes = 32 << 10, to_bytes = 192 << 10;

SEC("tuner") int few_neighbours(struct trigon_tuner *ctx)
{
    if (ctx->coll_type != NCCL_ALL_REDUCE || ctx->n_nodes > most_nodes || ctx->n_nodes != ctx->n_ranks)
        return TRIGON_PASS;
    if (ctx->n_bytes < from_bytes || ctx->n_bytes > to_bytes)
        return TRIGON_PASS;
    ctx->algorithm = NCCL_TREE;
    ctx->protocol = NCCL_SIMPLE;
    return TRIGON_APPLY;
}
