/* Seven policies as people wrote them for NCCLbpf. */
#include "ncclbpf_compat.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, struct nccl_policy_telemetry_key);
    __type(value, struct nccl_policy_telemetry_value);
} telemetry_map SEC(".maps");
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 5);
    __type(key, struct nccl_policy_config_key);
    __type(value, struct nccl_policy_config_value);
} config_map SEC(".maps");

enum {
    ALL = NCCL_POLICY_ACTION_SET_ALGO | NCCL_POLICY_ACTION_SET_PROTO | NCCL_POLICY_ACTION_SET_CHANNELS
        | NCCL_POLICY_ACTION_SET_AGGRESSIVENESS
};

SEC("uprobe") uint64_t nothing(struct nccl_policy_ctx *ctx)
{
    return ctx ? 0 : 1;
}

SEC("uprobe") uint64_t by_size(struct nccl_policy_ctx *ctx)
{
    if (!ctx)
        return 0;
    if (ctx->n_bytes <= 32768)
        return nccl_policy_pack_action(NCCL_POLICY_ALGO_TREE, NCCL_POLICY_PROTO_SIMPLE, 2, 1, ALL);
    return nccl_policy_pack_action(NCCL_POLICY_ALGO_RING, NCCL_POLICY_PROTO_SIMPLE, 8, 3, ALL);
}

SEC("uprobe") uint64_t by_ranks(struct nccl_policy_ctx *ctx)
{
    uint8_t channels = ctx->n_ranks >= 8 ? 10 : 4;
    return nccl_policy_pack_action(0, 0, channels, 0, NCCL_POLICY_ACTION_SET_CHANNELS);
}

SEC("uprobe") uint64_t looks_up(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_telemetry_key key = {.coll_type = ctx->coll_type, .n_nodes = ctx->n_nodes};
    (void)bpf_map_lookup_elem(&telemetry_map, &key);
    return 0;
}

SEC("uprobe") uint64_t takes_notes(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_telemetry_key key = {.coll_type = ctx->coll_type, .n_nodes = ctx->n_nodes};
    struct nccl_policy_telemetry_value value = {.last_latency_ns = ctx->last_latency_ns};
    bpf_map_update_elem(&telemetry_map, &key, &value, BPF_ANY);
    return 0;
}

/* More channels while they make it faster. */
SEC("uprobe") uint64_t adapts(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_telemetry_key key = {.coll_type = ctx->coll_type, .n_nodes = ctx->n_nodes};
    struct nccl_policy_telemetry_value *known = bpf_map_lookup_elem(&telemetry_map, &key);
    struct nccl_policy_telemetry_value next = {};
    uint32_t channels = 4;
    if (known) {
        next = *known;
        channels = known->last_latency_ns > known->avg_latency_ns ? 2 : 6;
        next.applied_samples = known->samples;
    }
    next.recommended_channels = channels;
    bpf_map_update_elem(&telemetry_map, &key, &next, BPF_ANY);
    return nccl_policy_pack_action(0, 0, channels, 0, NCCL_POLICY_ACTION_SET_CHANNELS);
}

/* As many channels as a target of latency needs. */
SEC("uprobe") uint64_t enforces(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_config_key key = {.coll_type = ctx->coll_type};
    struct nccl_policy_config_value *config = bpf_map_lookup_elem(&config_map, &key);
    if (!config)
        return 0;
    uint32_t channels = ctx->current_channels ? ctx->current_channels : config->min_channels;
    if (ctx->rolling_p99_ns > config->target_p99_ns && channels < config->max_channels)
        channels += config->aggressiveness_step;
    return nccl_policy_pack_action(NCCL_POLICY_ALGO_RING, NCCL_POLICY_PROTO_SIMPLE, channels, 3, ALL);
}
