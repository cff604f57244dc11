/* As people wrote them for NCCLbpf: more channels while they make it faster. */
#include "ncclbpf_maps.h"

TELEMETRY_MAP;

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
