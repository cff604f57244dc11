/* In the dialect of NCCLbpf: as many channels as microseconds that such collectives took on this rank. */
#include "ncclbpf_compat.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, struct nccl_policy_telemetry_key);
    __type(value, struct nccl_policy_telemetry_value);
} telemetry_map SEC(".maps");

SEC("uprobe") uint64_t measures(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_telemetry_key key = {.coll_type = ctx->coll_type, .n_nodes = ctx->n_nodes};
    if (!bpf_map_lookup_elem(&telemetry_map, &key))
        return 0;
    return nccl_policy_pack_action(0, 0, ctx->last_latency_ns / 1000, 0, NCCL_POLICY_ACTION_SET_CHANNELS);
}
