/* Seven policies in the dialect of NCCLbpf that are refused: each has one mistake, which its name says. */
#include "ncclbpf_compat.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, struct nccl_policy_telemetry_key);
    __type(value, struct nccl_policy_telemetry_value);
} telemetry_map SEC(".maps");

static long (*const no_such_helper)(void) = (void *)4096;

SEC("uprobe") uint64_t null_check(struct nccl_policy_ctx *ctx)
{
    struct nccl_policy_telemetry_key key = {.coll_type = ctx->coll_type, .n_nodes = ctx->n_nodes};
    struct nccl_policy_telemetry_value *known = bpf_map_lookup_elem(&telemetry_map, &key);
    return known->samples;
}

SEC("uprobe") uint64_t context_bounds(struct nccl_policy_ctx *ctx)
{
    return ((volatile uint64_t *)ctx)[32];
}

SEC("uprobe") uint64_t unknown_helper(struct nccl_policy_ctx *ctx)
{
    return no_such_helper() + ctx->n_bytes;
}

SEC("uprobe") uint64_t stack_bounds(struct nccl_policy_ctx *ctx)
{
    __asm__ volatile("r1 = *(u64 *)(r10 - 520)" ::: "r1");
    return 0;
}

SEC("uprobe") uint64_t infinite_loop(struct nccl_policy_ctx *ctx)
{
    volatile uint64_t guard = ctx->call_count;
    while (guard <= ctx->n_bytes)
        ;
    return guard;
}

SEC("uprobe") uint64_t read_only(struct nccl_policy_ctx *ctx)
{
    ((volatile struct nccl_policy_ctx *)ctx)->n_bytes = 32;
    return 0;
}

SEC("uprobe") uint64_t division_by_zero(struct nccl_policy_ctx *ctx)
{
    return ctx->n_bytes / ctx->reg_buff;
}
