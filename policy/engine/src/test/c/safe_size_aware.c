#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    ctx->algorithm = ctx->n_bytes < 32768 ? NCCL_TREE : NCCL_RING;
    ctx->protocol = ctx->n_bytes < 32768 ? NCCL_LL : NCCL_SIMPLE;
    return TRIGON_APPLY;
}
