/* Channels for each communicator, as the operator set them, with a default in a global variable. */
#include "trigon_policy.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, u64);
    __type(value, u32);
} channels SEC(".maps");

const volatile u32 default_channels = 8;

SEC("tuner") int by_communicator(struct trigon_tuner *ctx)
{
    u64 key = ctx->comm_id;
    u32 *configured = bpf_map_lookup_elem(&channels, &key);
    u32 n = configured ? *configured : default_channels;
    if (n > 64)
        n = 64;
    ctx->n_channels = n;
    return TRIGON_APPLY;
}
