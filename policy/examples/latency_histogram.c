/* Counts collectives by the logarithm of their duration. */
#include "trigon_policy.h"

#define BUCKETS 64

struct histogram {
    u64 counts[BUCKETS];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 8);
    __type(key, u32);
    __type(value, struct histogram);
} histograms SEC(".maps");

SEC("profiler") int latency_histogram(struct trigon_profiler *ctx)
{
    if (ctx->event_type != NCCL_EVENT_COLLECTIVE)
        return 0;
    u32 key = ctx->coll_type;
    struct histogram *histogram = bpf_map_lookup_elem(&histograms, &key);
    if (!histogram)
        return 0;
    u64 left = ctx->duration_ns;
    u32 bucket = 0;
    for (int i = 0; i < BUCKETS - 1; i++) {
        if (left <= 1)
            break;
        left >>= 1;
        bucket++;
    }
    if (bucket < BUCKETS)
        __sync_fetch_and_add(&histogram->counts[bucket], 1);
    return 0;
}
