/* As people wrote them for NCCLbpf: channels alone, by the number of ranks. */
#include "ncclbpf_compat.h"

SEC("uprobe") uint64_t by_ranks(struct nccl_policy_ctx *ctx)
{
    uint8_t channels = ctx->n_ranks >= 8 ? 10 : 4;
    return nccl_policy_pack_action(0, 0, channels, 0, NCCL_POLICY_ACTION_SET_CHANNELS);
}
