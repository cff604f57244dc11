/* In the dialect of NCCLbpf: a channel more with each call, and rings for what is larger than 4 KiB. */
#include "ncclbpf_compat.h"

SEC("uprobe") uint64_t counts(struct nccl_policy_ctx *ctx)
{
    if (ctx->n_bytes > 4096)
        return nccl_policy_pack_action(NCCL_POLICY_ALGO_RING, NCCL_POLICY_PROTO_SIMPLE, 0, 2,
                                       NCCL_POLICY_ACTION_SET_ALGO | NCCL_POLICY_ACTION_SET_PROTO);
    if (ctx->n_bytes < 8)
        return 0;
    return nccl_policy_pack_action(0, 0, ctx->current_channels + 1, 0, NCCL_POLICY_ACTION_SET_CHANNELS);
}
