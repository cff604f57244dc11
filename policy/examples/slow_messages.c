/*
 * Two programs that share a map, for jobs of any size: the profiler notes how long messages are on their way, and
 * connections that are made later get more queue pairs where that is long. How a connection is made, ranks need not
 * agree upon.
 */
#include "trigon_policy.h"

struct messages {
    u64 average_ns;
    u64 count;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct messages);
} messages SEC(".maps");

const volatile u64 long_ns = 2000000;
const volatile u64 enough = 16;

SEC("profiler") int observe(struct trigon_profiler *ctx)
{
    u32 zero = 0;
    struct messages *sent = bpf_map_lookup_elem(&messages, &zero);
    if (!sent || ctx->event_type != NCCL_EVENT_STEP || ctx->sends != 1)
        return 0;
    if (sent->count == 0)
        sent->average_ns = ctx->duration_ns;
    sent->average_ns += (s64)(ctx->duration_ns - sent->average_ns) >> 3;
    sent->count++;
    return 0;
}

SEC("net/connect") int connect(struct trigon_connect *ctx)
{
    u32 zero = 0;
    struct messages *sent = bpf_map_lookup_elem(&messages, &zero);
    if (!sent || sent->count < enough || sent->average_ns < long_ns)
        return TRIGON_PASS;
    ctx->n_queue_pairs = 4;
    return TRIGON_APPLY;
}
