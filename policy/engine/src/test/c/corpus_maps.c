/* Ten correct programs with maps. */
#include "trigon_policy.h"

struct key { u32 coll_type; u8 magnitude; };
struct state { u64 calls; u64 bytes; u32 channels; u32 reserved; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 64); __type(key, u32); __type(value, struct state); }
states SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_LRU_HASH); __uint(max_entries, 16); __type(key, struct key);
         __type(value, struct state); } recent SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 8); __type(key, u32); __type(value, u32); }
channels_of SEC(".maps");
struct buckets { u64 counts[64]; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, u32); __type(value, struct buckets); }
histogram SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 1); __type(key, u32); __type(value, u64); }
seen SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } events SEC(".maps");

SEC("tuner") int look_up_or_insert(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    struct state *state = bpf_map_lookup_elem(&states, &key);
    if (!state) {
        struct state fresh = {.channels = 2};
        if (bpf_map_update_elem(&states, &key, &fresh, BPF_NOEXIST))
            return TRIGON_PASS;
        state = bpf_map_lookup_elem(&states, &key);
        if (!state)
            return TRIGON_PASS;
    }
    state->calls++;
    state->bytes += ctx->n_bytes;
    ctx->n_channels = state->channels & 31;
    return TRIGON_APPLY;
}

SEC("tuner") int two_look_ups(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type, index = ctx->coll_type;
    struct state *state = bpf_map_lookup_elem(&states, &key);
    u32 *channels = bpf_map_lookup_elem(&channels_of, &index);
    if (!state || !channels || *channels == 0 || *channels > 64)
        return TRIGON_PASS;
    ctx->n_channels = state->calls > 4 ? *channels & 63 : 1;
    return TRIGON_APPLY;
}

SEC("tuner") int default_of_a_look_up(struct trigon_tuner *ctx)
{
    u32 index = ctx->coll_type;
    u32 *channels = bpf_map_lookup_elem(&channels_of, &index);
    u32 n = channels ? *channels : 8;
    ctx->n_channels = n < 64 ? n : 64;
    return TRIGON_APPLY;
}

SEC("tuner") int copied_and_written_back(struct trigon_tuner *ctx)
{
    struct key key;
    __builtin_memset(&key, 0, sizeof key);
    key.coll_type = ctx->coll_type;
    key.magnitude = ctx->n_bytes > 65536;
    struct state copy = {};
    struct state *known = bpf_map_lookup_elem(&recent, &key);
    if (known)
        copy = *known;
    copy.calls++;
    if (copy.channels < 32)
        copy.channels++;
    bpf_map_update_elem(&recent, &key, &copy, BPF_ANY);
    ctx->n_channels = copy.channels > 32 ? 32 : copy.channels;
    return TRIGON_APPLY;
}

SEC("tuner") int masked_index(struct trigon_tuner *ctx)
{
    u32 zero = 0;
    struct buckets *buckets = bpf_map_lookup_elem(&histogram, &zero);
    if (!buckets)
        return TRIGON_PASS;
    u32 bucket = ctx->n_bytes >> 10;
    buckets->counts[bucket & 63]++;
    ctx->n_channels = buckets->counts[0] > 8 ? 4 : 2;
    return TRIGON_APPLY;
}

SEC("tuner") int compared_index(struct trigon_tuner *ctx)
{
    u32 zero = 0;
    u64 bucket = ctx->n_bytes / 4096;
    barrier_var(bucket);
    struct buckets *buckets = bpf_map_lookup_elem(&histogram, &zero);
    if (!buckets || bucket >= 64)
        return TRIGON_PASS;
    buckets->counts[bucket] += 1;
    ctx->n_channels = 1;
    return TRIGON_APPLY;
}

SEC("tuner") int forgotten_now_and_then(struct trigon_tuner *ctx)
{
    u32 key = ctx->coll_type;
    if (ctx->call_seq % 100 == 99 && bpf_map_delete_elem(&states, &key) == 0)
        return TRIGON_PASS;
    struct state *state = bpf_map_lookup_elem(&states, &key);
    return state && state->calls ? TRIGON_APPLY : TRIGON_PASS;
}

SEC("tuner") int key_in_a_value(struct trigon_tuner *ctx)
{
    u32 index = 0;
    u32 *key = bpf_map_lookup_elem(&channels_of, &index);
    if (!key)
        return TRIGON_PASS;
    struct state *state = bpf_map_lookup_elem(&states, key);
    if (!state)
        return TRIGON_PASS;
    ctx->n_channels = state->channels % 65;
    return TRIGON_APPLY;
}

SEC("profiler") int counts_by_thread(struct trigon_profiler *ctx)
{
    u32 zero = 0;
    u64 *count = bpf_map_lookup_elem(&seen, &zero);
    if (count)
        *count += ctx->event_type == NCCL_EVENT_STEP;
    return 0;
}

SEC("profiler") int hands_over(struct trigon_profiler *ctx)
{
    struct { u64 nanos; u32 type, rank; } event = {ctx->duration_ns, ctx->event_type, ctx->rank};
    if (event.nanos < 1000)
        return 0;
    return bpf_ringbuf_output(&events, &event, sizeof event, 0);
}
