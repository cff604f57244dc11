#include "trigon_policy.h"

SEC("net/connect") int connect_three(struct trigon_connect *ctx)
{
    ctx->n_queue_pairs = 3;
    ctx->relay = 0;
    return TRIGON_APPLY;
}
