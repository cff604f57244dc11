/* Decides by a table that the operator fills: the first row that fits. */
#include "trigon_policy.h"

#define ROWS 16

struct row {
    u64 min_bytes;
    u64 max_bytes;
    u32 coll_type;
    s32 algorithm;
    s32 protocol;
    s32 n_channels;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ROWS);
    __type(key, u32);
    __type(value, struct row);
} rows SEC(".maps");

SEC("tuner") int table(struct trigon_tuner *ctx)
{
    for (u32 i = 0; i < ROWS; i++) {
        u32 key = i;
        struct row *row = bpf_map_lookup_elem(&rows, &key);
        if (!row)
            return TRIGON_PASS;
        if (row->max_bytes == 0 || row->coll_type != ctx->coll_type)
            continue;
        if (ctx->n_bytes < row->min_bytes || ctx->n_bytes > row->max_bytes)
            continue;
        s32 algorithm = row->algorithm, protocol = row->protocol, channels = row->n_channels;
        if (algorithm < 0 || algorithm > 6 || protocol < 0 || protocol > 2 || channels < 0 || channels > 64)
            return TRIGON_PASS;
        ctx->algorithm = algorithm;
        ctx->protocol = protocol;
        ctx->n_channels = channels;
        return TRIGON_APPLY;
    }
    return TRIGON_PASS;
}
