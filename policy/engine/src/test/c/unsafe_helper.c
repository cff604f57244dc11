#include "trigon_policy.h"

static long (*const unregistered)(void) = (void *)4096;

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    return unregistered() & 1;
}
