/* Hands events that took longer than a limit to the host; counts all of them for each group of threads. */
#include "trigon_policy.h"

struct slow_event {
    u64 comm_id;
    u64 n_bytes;
    u64 duration_ns;
    u32 coll_type;
    u32 rank;
};

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 65536);
} slow SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} seen SEC(".maps");

u64 limit_ns = 10000000;

SEC("profiler") int slow_events(struct trigon_profiler *ctx)
{
    u32 zero = 0;
    u64 *count = bpf_map_lookup_elem(&seen, &zero);
    if (count)
        __sync_fetch_and_add(count, 1);
    if (ctx->duration_ns < limit_ns)
        return 0;
    struct slow_event event = {
        .comm_id = ctx->comm_id,
        .n_bytes = ctx->n_bytes,
        .duration_ns = ctx->duration_ns,
        .coll_type = ctx->coll_type,
        .rank = ctx->rank,
    };
    return bpf_ringbuf_output(&slow, &event, sizeof(event), 0);
}
