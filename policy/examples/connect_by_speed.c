/* More queue pairs for faster links, and a traffic class of its own for each channel parity. */
#include "trigon_policy.h"

SEC("net/connect") int connect_by_speed(struct trigon_connect *ctx)
{
    u64 pairs = ctx->link_mbps / 50000;
    if (pairs < 1)
        pairs = 1;
    if (pairs > 16)
        pairs = 16;
    ctx->n_queue_pairs = pairs;
    ctx->traffic_class = ctx->channel & 1 ? 104 : 96;
    ctx->split_bytes = 1 << 20;
    return TRIGON_APPLY;
}
