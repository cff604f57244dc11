/* Another policy than advisory_random. */
#include "trigon_policy.h"

SEC("tuner/advisory") int program(struct trigon_tuner *ctx)
{
    ctx->n_channels = 40;
    return TRIGON_APPLY;
}
