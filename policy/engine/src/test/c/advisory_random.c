/* Each process decides something else. */
#include "trigon_policy.h"

SEC("tuner/advisory") int program(struct trigon_tuner *ctx)
{
    ctx->n_channels = 1 + (bpf_get_prandom_u32() & 31);
    return TRIGON_APPLY;
}
