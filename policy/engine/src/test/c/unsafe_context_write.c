#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    *(volatile u64 *)((char *)ctx + 256) = 1;
    return TRIGON_PASS;
}
