/* Chooses what NCCL cannot do: half a pair, or a pair that it does not have for the collective. */
#include "trigon_policy.h"

SEC("tuner") int halves(struct trigon_tuner *ctx)
{
    switch (ctx->coll_type) {
    case NCCL_ALL_GATHER:
        ctx->algorithm = NCCL_RING;
        return TRIGON_APPLY;
    case NCCL_REDUCE_SCATTER:
        ctx->protocol = NCCL_SIMPLE;
        ctx->n_channels = 4;
        return TRIGON_APPLY;
    case NCCL_BROADCAST:
        ctx->algorithm = NCCL_TREE;
        ctx->protocol = NCCL_SIMPLE;
        return TRIGON_APPLY;
    case NCCL_ALL_REDUCE:
        ctx->algorithm = NCCL_NVLS;
        ctx->protocol = NCCL_LL;
        return TRIGON_APPLY;
    default:
        return TRIGON_PASS;
    }
}
