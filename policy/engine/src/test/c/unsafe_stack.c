#include "trigon_policy.h"

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    u64 value;
    asm volatile("%0 = *(u64 *)(r10 - 520)" : "=r"(value));
    return value & 1;
}
