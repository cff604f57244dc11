#include "trigon_policy.h"

struct state { u64 average_ns; u64 samples; u32 channels; u32 reserved; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, u32); __type(value, struct state); }
telemetry SEC(".maps");

SEC("tuner") int program(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    struct state *state = bpf_map_lookup_elem(&telemetry, &key);
    if (!state) {
        struct state first = {.channels = 2};
        bpf_map_update_elem(&telemetry, &key, &first, BPF_NOEXIST);
        return TRIGON_PASS;
    }
    state->average_ns = (state->average_ns * 7 + ctx->n_bytes / 10) / 8;
    if (state->average_ns > 100000 && state->channels < 16)
        state->channels++;
    else if (state->average_ns < 10000 && state->channels > 1)
        state->channels--;
    ctx->n_channels = state->channels & 31;
    return TRIGON_APPLY;
}
