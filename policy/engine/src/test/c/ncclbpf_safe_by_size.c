/* As people wrote them for NCCLbpf: trees for what is small. */
#include "ncclbpf_maps.h"

SEC("uprobe") uint64_t by_size(struct nccl_policy_ctx *ctx)
{
    if (!ctx)
        return 0;
    if (ctx->n_bytes <= 32768)
        return nccl_policy_pack_action(NCCL_POLICY_ALGO_TREE, NCCL_POLICY_PROTO_SIMPLE, 2, 1, ALL);
    return nccl_policy_pack_action(NCCL_POLICY_ALGO_RING, NCCL_POLICY_PROTO_SIMPLE, 8, 3, ALL);
}
