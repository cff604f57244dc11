#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    return TRIGON_PASS;
}
