/*
 * With NVLink, all-reduces in the middle of the sizes go over rings; LL128 up to 32 MiB, Simple up to 192 MiB. Between
 * nodes NCCL mostly has no LL128, and decides by itself.
 */
#include "trigon_policy.h"

#define MIB (1024ull * 1024)

SEC("tuner") int size_aware(struct trigon_tuner *ctx)
{
    if (ctx->coll_type != NCCL_ALL_REDUCE || ctx->n_bytes < 4 * MIB || ctx->n_bytes > 192 * MIB)
        return TRIGON_PASS;
    ctx->algorithm = NCCL_RING;
    ctx->protocol = ctx->n_bytes <= 32 * MIB ? NCCL_LL128 : NCCL_SIMPLE;
    return TRIGON_APPLY;
}
