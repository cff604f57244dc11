/* Ten correct programs whose functions clang does not inline. */
#include "trigon_policy.h"

struct choice { s32 algorithm; s32 protocol; u32 channels; u32 reserved; };
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 32); __type(key, u32); __type(value, struct choice); }
choices SEC(".maps");

static __noinline u64 mixed(u64 a, u64 b, u64 c, u64 d, u64 e)
{
    return (a ^ b) + (c << 3) - (d | e);
}

static __noinline void fill(u64 *words, u64 with)
{
    for (int i = 0; i < 8; i++)
        words[i] = with + i;
}

static __noinline u64 total(const u64 *words)
{
    u64 sum = 0;
    for (int i = 0; i < 8; i++)
        sum += words[i];
    return sum;
}

static __noinline u32 magnitude(u64 value)
{
    u32 bits = 0;
    for (int i = 0; i < 64 && value > 1; i++) {
        value >>= 1;
        bits++;
    }
    return bits;
}

static __noinline struct choice *choice_of(u32 collective)
{
    return bpf_map_lookup_elem(&choices, &collective);
}

static __noinline int chosen(const struct choice *choice)
{
    if (!choice)
        return 0;
    return choice->channels && choice->channels <= 64;
}

static __noinline void choose(struct choice *into, u64 bytes)
{
    if (bytes < 4096) {
        into->algorithm = NCCL_TREE;
        into->protocol = NCCL_LL;
        return;
    }
    into->algorithm = NCCL_RING;
    into->protocol = NCCL_SIMPLE;
    into->channels = magnitude(bytes) & 15;
}

static __noinline int count(u32 collective)
{
    struct choice *choice = choice_of(collective);
    if (choice)
        choice->reserved++;
    return choice != 0;
}

static __noinline u64 deepest(u64 value) { return value * 3 + 1; }
static __noinline u64 deeper(u64 value) { return deepest(value >> 1) ^ value; }
static __noinline u64 deep(u64 value) { return deeper(value + 7) - 1; }

SEC("tuner") int five_arguments(struct trigon_tuner *ctx)
{
    ctx->n_channels = mixed(ctx->n_bytes, ctx->comm_id, ctx->call_seq, ctx->n_ranks, ctx->n_nodes) & 63;
    return TRIGON_APPLY;
}

SEC("tuner") int without_a_result(struct trigon_tuner *ctx)
{
    u64 words[8];
    fill(words, ctx->n_bytes);
    ctx->n_channels = words[7] & 31;
    return TRIGON_APPLY;
}

SEC("tuner") int stack_to_two_functions(struct trigon_tuner *ctx)
{
    u64 words[8];
    fill(words, ctx->n_ranks);
    ctx->n_channels = total(words) % 65;
    return TRIGON_APPLY;
}

SEC("tuner") int three_deep(struct trigon_tuner *ctx)
{
    ctx->n_channels = deep(ctx->n_bytes) & 7;
    return TRIGON_APPLY;
}

SEC("tuner") int loop_in_a_function(struct trigon_tuner *ctx)
{
    ctx->n_channels = magnitude(ctx->n_bytes) & 63;
    return TRIGON_APPLY;
}

SEC("tuner") int function_in_a_loop(struct trigon_tuner *ctx)
{
    u32 sum = 0;
    for (int i = 0; i < 8; i++)
        sum += deep(ctx->n_bytes >> i);
    ctx->n_channels = sum & 63;
    return TRIGON_APPLY;
}

SEC("tuner") int value_of_a_function(struct trigon_tuner *ctx)
{
    struct choice *choice = choice_of(ctx->coll_type);
    if (!choice || choice->channels > 64)
        return TRIGON_PASS;
    ctx->n_channels = choice->channels & 63;
    return TRIGON_APPLY;
}

SEC("tuner") int null_goes_into_a_function(struct trigon_tuner *ctx)
{
    return chosen(choice_of(ctx->coll_type)) ? TRIGON_APPLY : TRIGON_PASS;
}

SEC("tuner") int structure_to_fill(struct trigon_tuner *ctx)
{
    struct choice choice = {.channels = 1};
    choose(&choice, ctx->n_bytes);
    if (choice.channels > 64 || choice.algorithm < 0 || choice.algorithm > 6 || choice.protocol < 0
        || choice.protocol > 2)
        return TRIGON_PASS;
    ctx->algorithm = choice.algorithm;
    ctx->protocol = choice.protocol;
    ctx->n_channels = choice.channels;
    return TRIGON_APPLY;
}

SEC("tuner") int result_that_nobody_reads(struct trigon_tuner *ctx)
{
    count(ctx->coll_type);
    (void)count(NCCL_ALL_REDUCE);
    return TRIGON_PASS;
}
