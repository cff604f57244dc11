#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    return ctx->n_bytes / ctx->reg_buff & 1;
}
