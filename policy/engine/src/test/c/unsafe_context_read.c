#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    return *(volatile u64 *)((char *)ctx + 256) & 1;
}
