#include "trigon_policy.h"

struct state { u64 average_ns; u64 samples; u32 channels; u32 reserved; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, u32); __type(value, struct state); }
telemetry SEC(".maps");

struct config { u64 target_ns; u32 min_channels; u32 max_channels; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 8); __type(key, u32); __type(value, struct config); }
config SEC(".maps");

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    struct config *limits = bpf_map_lookup_elem(&config, &key);
    struct state *state = bpf_map_lookup_elem(&telemetry, &key);
    if (!limits || !state)
        return TRIGON_PASS;
    u32 channels = state->channels;
    if (state->average_ns > limits->target_ns)
        channels += 2;
    if (channels < limits->min_channels)
        channels = limits->min_channels;
    if (channels > limits->max_channels)
        channels = limits->max_channels;
    if (channels > 64)
        channels = 64;
    ctx->n_channels = channels;
    return TRIGON_APPLY;
}
