#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    volatile u64 guard = 0;
    while (guard <= ctx->n_bytes)
        ;
    return TRIGON_PASS;
}
