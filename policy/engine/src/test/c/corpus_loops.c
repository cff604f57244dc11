/* Ten correct programs with loops, as people write them and clang compiles them. */
#include "trigon_policy.h"

struct row { u64 min_bytes; u64 max_bytes; u32 coll_type; u32 channels; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 64); __type(key, u32); __type(value, struct row); }
rows SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 128); __type(key, u32); __type(value, struct row); }
many_rows SEC(".maps");
struct table { struct row rows[32]; };
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 1); __type(key, u32); __type(value, struct table); }
whole SEC(".maps");

static const u64 limits[16] = {
    8, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576, 4194304, 16777216, 67108864, 1073741824
};
static const u8 channels_of[16] = {1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32};

static __always_inline int take(struct trigon_tuner *ctx, u32 channels)
{
    if (channels > 64)
        return TRIGON_PASS;
    ctx->n_channels = channels;
    return TRIGON_APPLY;
}

SEC("tuner") int first_row_of_64(struct trigon_tuner *ctx)
{
    for (u32 i = 0; i < 64; i++) {
        u32 key = i;
        struct row *row = bpf_map_lookup_elem(&rows, &key);
        if (!row)
            break;
        if (row->coll_type == ctx->coll_type && ctx->n_bytes >= row->min_bytes && ctx->n_bytes <= row->max_bytes)
            return take(ctx, row->channels);
    }
    return TRIGON_PASS;
}

SEC("tuner") int first_row_of_128(struct trigon_tuner *ctx)
{
    for (u32 i = 0; i < 128; i++) {
        u32 key = i;
        struct row *row = bpf_map_lookup_elem(&many_rows, &key);
        if (!row)
            return TRIGON_PASS;
        if (row->max_bytes == 0)
            continue;
        if (ctx->n_bytes < row->min_bytes || ctx->n_bytes > row->max_bytes)
            continue;
        if (row->channels <= 64) {
            ctx->n_channels = row->channels;
            return TRIGON_APPLY;
        }
    }
    return TRIGON_PASS;
}

SEC("tuner") int constants(struct trigon_tuner *ctx)
{
    for (int i = 0; i < 16; i++) {
        if (ctx->n_bytes <= limits[i])
            return take(ctx, channels_of[i]);
    }
    return TRIGON_PASS;
}

SEC("tuner") int binary_search(struct trigon_tuner *ctx)
{
    u32 low = 0, high = 15;
    for (int step = 0; step < 5 && low < high; step++) {
        u32 middle = (low + high) / 2;
        if (limits[middle & 15] < ctx->n_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return take(ctx, channels_of[low & 15]);
}

SEC("tuner") int rows_of_a_value(struct trigon_tuner *ctx)
{
    u32 zero = 0;
    struct table *table = bpf_map_lookup_elem(&whole, &zero);
    if (!table)
        return TRIGON_PASS;
    for (int i = 0; i < 32; i++) {
        struct row *row = &table->rows[i];
        if (ctx->n_bytes >= row->min_bytes && ctx->n_bytes < row->max_bytes)
            return take(ctx, row->channels);
    }
    return TRIGON_PASS;
}

SEC("tuner") int counting_down(struct trigon_tuner *ctx)
{
    u64 left = ctx->n_bytes;
    u32 rounds = 64;
    while (left > 1 && rounds-- > 0)
        left >>= 1;
    return take(ctx, 64 - (rounds & 63));
}

SEC("tuner") int set_bits(struct trigon_tuner *ctx)
{
    u64 left = ctx->n_bytes;
    u32 bits = 0;
    for (int i = 0; i < 64; i++) {
        if (!left)
            break;
        left &= left - 1;
        bits++;
    }
    return take(ctx, bits);
}

SEC("tuner") int unrolled(struct trigon_tuner *ctx)
{
    u32 channels = 1;
#pragma unroll
    for (int i = 0; i < 5; i++)
        if (ctx->n_bytes > (1ull << (4 * i + 10)))
            channels *= 2;
    return take(ctx, channels);
}

SEC("tuner") int nested(struct trigon_tuner *ctx)
{
    u32 best = 1;
    u64 least = ~0ull;
    for (u32 channels = 1; channels <= 8; channels++)
        for (u32 pieces = 1; pieces <= 8; pieces++) {
            u64 cost = ctx->n_bytes / (channels * pieces) + 4096ull * channels + 512ull * pieces;
            if (cost < least) {
                least = cost;
                best = channels;
            }
        }
    return take(ctx, best);
}

SEC("tuner") int on_the_stack(struct trigon_tuner *ctx)
{
    u64 sums[8] = {};
    for (u32 i = 0; i < 32; i++)
        sums[(ctx->call_seq + i) & 7] += ctx->n_bytes >> (i & 15);
    u64 most = 0;
    for (u32 i = 0; i < 8; i++)
        if (sums[i] > most)
            most = sums[i];
    return take(ctx, most & 63);
}
