/* Ten correct programs with data of all kinds: switches, signs, divisions, bit fields, unions, globals. */
#include "trigon_policy.h"

struct settings { u32 channels : 6; u32 algorithm : 3; u32 protocol : 2; u32 enabled : 1; s16 bias; s8 small; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 5); __type(key, u32); __type(value, struct settings); }
settings SEC(".maps");

const volatile u64 limit = 1 << 20;
const volatile u32 channels_by_collective[5] = {1, 2, 4, 8, 16};
u64 calls;
u32 last_channels = 4;
static u64 sizes[8];

SEC("tuner") int by_switch(struct trigon_tuner *ctx)
{
    switch (ctx->coll_type) {
    case NCCL_BROADCAST: ctx->n_channels = 1; break;
    case NCCL_REDUCE: ctx->n_channels = 2; break;
    case NCCL_ALL_GATHER: ctx->n_channels = ctx->n_bytes > 4096 ? 4 : 3; break;
    case NCCL_REDUCE_SCATTER: ctx->n_channels = 5; break;
    case NCCL_ALL_REDUCE:
        ctx->algorithm = NCCL_RING;
        ctx->protocol = NCCL_SIMPLE;
        break;
    default: return TRIGON_PASS;
    }
    return TRIGON_APPLY;
}

SEC("tuner") int least_and_most(struct trigon_tuner *ctx)
{
    u64 wanted = ctx->n_bytes >> 16;
    wanted = wanted < 1 ? 1 : wanted;
    wanted = wanted > 32 ? 32 : wanted;
    u32 ranks = ctx->n_ranks;
    ctx->n_channels = wanted < ranks ? wanted : ranks > 32 ? 32 : ranks;
    return TRIGON_APPLY;
}

SEC("tuner") int signed_numbers(struct trigon_tuner *ctx)
{
    s64 distance = (s64)ctx->n_bytes - (s64)limit;
    if (distance < 0)
        distance = -distance;
    s64 steps = distance / 4096;
    if (steps < 0 || steps > 40)
        return TRIGON_PASS;
    ctx->n_channels = steps + 1;
    return TRIGON_APPLY;
}

SEC("tuner") int divided(struct trigon_tuner *ctx)
{
    if (ctx->n_ranks == 0)
        return TRIGON_PASS;
    u64 share = ctx->n_bytes / ctx->n_ranks;
    u64 rest = ctx->n_bytes % ctx->n_ranks;
    ctx->n_channels = (share + rest) % 65;
    return TRIGON_APPLY;
}

SEC("tuner") int bit_fields(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    struct settings *own = bpf_map_lookup_elem(&settings, &key);
    if (!own || !own->enabled)
        return TRIGON_PASS;
    u32 algorithm = own->algorithm, protocol = own->protocol;
    barrier_var(algorithm);
    barrier_var(protocol);
    if (algorithm > NCCL_PAT || protocol > NCCL_SIMPLE)
        return TRIGON_PASS;
    ctx->algorithm = algorithm;
    ctx->protocol = protocol;
    ctx->n_channels = own->channels;
    return TRIGON_APPLY;
}

SEC("tuner") int narrow_signs(struct trigon_tuner *ctx)
{
    u32 key = 0;
    struct settings *own = bpf_map_lookup_elem(&settings, &key);
    if (!own)
        return TRIGON_PASS;
    s32 channels = 8 + (own->bias >> 8) + own->small;
    if (channels < 0)
        channels = 0;
    if (channels > 64)
        channels = 64;
    ctx->n_channels = channels;
    return TRIGON_APPLY;
}

SEC("tuner") int leading_zeros(struct trigon_tuner *ctx)
{
    if (!ctx->n_bytes)
        return TRIGON_PASS;
    u32 magnitude = 63 - __builtin_clzll(ctx->n_bytes);
    barrier_var(magnitude);
    ctx->n_channels = magnitude > 64 ? 64 : magnitude;
    return TRIGON_APPLY;
}

SEC("tuner") int of_a_union(struct trigon_tuner *ctx)
{
    union { u64 whole; u32 halves[2]; u8 bytes[8]; } view = {.whole = ctx->comm_id};
    ctx->n_channels = (view.halves[0] ^ view.halves[1] ^ view.bytes[3]) & 63;
    return TRIGON_APPLY;
}

SEC("tuner") int globals(struct trigon_tuner *ctx)
{
    calls++;
    sizes[calls & 7] = ctx->n_bytes;
    if (sizes[(calls - 1) & 7] == ctx->n_bytes && last_channels < 32)
        last_channels++;
    u32 channels = last_channels;
    ctx->n_channels = channels > 32 ? 32 : channels;
    return TRIGON_APPLY;
}

SEC("tuner") int constants_by_index(struct trigon_tuner *ctx)
{
    u32 collective = ctx->coll_type;
    if (collective >= 5 || (ctx->n_bytes < limit && ctx->n_nodes == 1))
        return TRIGON_PASS;
    u32 channels = channels_by_collective[collective];
    ctx->n_channels = channels <= 64 ? channels : 64;
    return TRIGON_APPLY;
}
