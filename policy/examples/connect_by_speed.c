/* More queue pairs for faster links, one traffic class for direct links and another for relays. */
#include "trigon_policy.h"

SEC("net/connect") int connect_by_speed(struct trigon_connect *ctx)
{
    u64 pairs = ctx->link_mbps / 50000;
    if (pairs < 1)
        pairs = 1;
    if (pairs > 8)
        pairs = 8;
    ctx->n_queue_pairs = pairs;
    ctx->traffic_class = ctx->relayed ? 96 : 104;
    return TRIGON_APPLY;
}
