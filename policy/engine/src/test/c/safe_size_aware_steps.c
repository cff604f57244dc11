#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    u64 bytes = ctx->n_bytes;
    u32 channels = bytes < 4096 ? 1 : bytes < 65536 ? 2 : bytes < 1048576 ? 4 : bytes < 16777216 ? 8 : 16;
    if (ctx->n_nodes > 1)
        channels *= 2;
    ctx->n_channels = channels;
    return TRIGON_APPLY;
}
