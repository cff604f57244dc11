/*
 * Two programs that share a map: the profiler notes how long collectives took, the tuner takes channels away where
 * they are faster than they have to be. What a rank measures is its own, so the tuner is advisory.
 */
#include "trigon_policy.h"

struct key {
    u32 coll_type;
    u32 magnitude;
};

struct record {
    u64 average_ns;
    u64 samples;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 128);
    __type(key, struct key);
    __type(value, struct record);
} measured SEC(".maps");

const volatile u64 target_ns = 2000000;

static __always_inline u32 magnitude_of(u64 bytes)
{
    return bytes < 65536 ? 0 : bytes < 1048576 ? 1 : bytes < 16777216 ? 2 : 3;
}

SEC("profiler") int observe(struct trigon_profiler *ctx)
{
    if (ctx->event_type != NCCL_EVENT_COLLECTIVE)
        return 0;
    struct key key = {.coll_type = ctx->coll_type, .magnitude = magnitude_of(ctx->n_bytes)};
    struct record *record = bpf_map_lookup_elem(&measured, &key);
    if (record) {
        record->average_ns += (s64)(ctx->duration_ns - record->average_ns) >> 3;
        record->samples++;
        return 0;
    }
    struct record first = {.average_ns = ctx->duration_ns, .samples = 1};
    return bpf_map_update_elem(&measured, &key, &first, BPF_ANY);
}

SEC("tuner/advisory") int enforce(struct trigon_tuner *ctx)
{
    struct key key = {.coll_type = ctx->coll_type, .magnitude = magnitude_of(ctx->n_bytes)};
    struct record *record = bpf_map_lookup_elem(&measured, &key);
    if (!record || record->samples < 8)
        return TRIGON_PASS;
    ctx->n_channels = record->average_ns > target_ns ? 16 : 4;
    return TRIGON_APPLY;
}
