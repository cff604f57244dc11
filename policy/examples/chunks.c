/* Larger pieces for large messages over rings: fewer, which costs less on links with much latency. NCCL 2.30 asks. */
#include "trigon_policy.h"

SEC("chunk") int chunks(struct trigon_chunk *ctx)
{
    if (ctx->algorithm != NCCL_RING || ctx->protocol != NCCL_SIMPLE || ctx->n_bytes < 16ull << 20)
        return TRIGON_PASS;
    ctx->chunk_bytes = 512 << 10;
    return TRIGON_APPLY;
}
