/*
 * Tries rings and trees, all protocols, and 1, 2 and 4 channels, in an order that looks like chance and is the same on
 * all ranks: it comes of the call's number. Nearly half of the calls are left to NCCL, to be compared with: so its own
 * choice is the most frequent one. "trigon tune" runs programs with it.
 */
#include "trigon_policy.h"

#define LL_AT_MOST (1 << 20)
#define PROTOCOLS 3
#define CHANNELS 3
#define CHOICES (2 * PROTOCOLS * CHANNELS)

SEC("tuner") int explore(struct trigon_tuner *ctx)
{
    u64 mixed = (ctx->call_seq + 1) * 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
    u32 choice = mixed >> 59; /* one of 32 */
    u32 protocol = choice % PROTOCOLS;
    barrier_var(protocol);
    if (choice >= CHOICES || protocol > NCCL_SIMPLE || (protocol == NCCL_LL && ctx->n_bytes > LL_AT_MOST))
        return TRIGON_PASS;
    u32 channels = choice / PROTOCOLS % CHANNELS; /* 1, 2, 4 */
    ctx->algorithm = choice < CHOICES / 2 && ctx->coll_type == NCCL_ALL_REDUCE ? NCCL_TREE : NCCL_RING;
    ctx->protocol = protocol;
    ctx->n_channels = 1 << (channels & 3);
    return TRIGON_APPLY;
}
