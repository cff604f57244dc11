#include "trigon_policy.h"

struct state { u64 average_ns; u64 samples; u32 channels; u32 reserved; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, u32); __type(value, struct state); }
telemetry SEC(".maps");

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    struct state *state = bpf_map_lookup_elem(&telemetry, &key);
    if (!state)
        return TRIGON_PASS;
    ctx->n_channels = state->channels & 15;
    return TRIGON_APPLY;
}
