/* Many nodes: trees for small messages, rings for large ones; the limit grows with the number of ranks. */
#include "trigon_policy.h"

static __noinline u64 log2_of(u64 value)
{
    u64 bits = 0;
    for (int i = 0; i < 63; i++) {
        if (value <= 1)
            break;
        value >>= 1;
        bits++;
    }
    return bits;
}

SEC("tuner") int hierarchy(struct trigon_tuner *ctx)
{
    if (ctx->n_nodes < 2)
        return TRIGON_PASS;
    u64 limit = 65536ull << (log2_of(ctx->n_ranks) & 15);
    ctx->algorithm = ctx->n_bytes <= limit ? NCCL_TREE : NCCL_RING;
    ctx->protocol = NCCL_SIMPLE;
    return TRIGON_APPLY;
}
