/* As people wrote them for NCCLbpf: as many channels as a target of latency needs. */
#include "ncclbpf_maps.h"

CONFIG_MAP;

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
