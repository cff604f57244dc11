/*
 * Tries rings and trees, all protocols, and 1, 2 and 4 channels, each for some calls in a row, in an order that is the
 * same on all ranks: it comes of the call's number. Nearly half of the calls are left to NCCL, to be compared with: so
 * its own choice is the most frequent one. "trigon tune" runs programs with it.
 */
#include "trigon_policy.h"

#define LL_AT_MOST (1 << 20)
#define PROTOCOLS 3
#define CHANNELS 3
#define CALLS_IN_A_ROW 8 /* as tuning.c has them: times are taken from the end of one to the end of the next */
#define CHOICES (2 * PROTOCOLS * CHANNELS)

SEC("tuner") int explore(struct trigon_tuner *ctx)
{
    u64 turn = ctx->call_seq / CALLS_IN_A_ROW;
    u64 mixed = (turn / 32 + 1) * 0x9e3779b97f4a7c15ULL; /* 32 turns have each choice once, and begin anywhere */
    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
    u32 choice = (turn * 5 + (mixed >> 59)) % 32;
    u32 protocol = choice % PROTOCOLS;
    barrier_var(protocol);
    if (choice >= CHOICES || protocol > NCCL_SIMPLE || (protocol == NCCL_LL && ctx->n_bytes > LL_AT_MOST))
        return TRIGON_PASS;
    u32 channels = choice / PROTOCOLS % CHANNELS; /* 1, 2, 4 */
    barrier_var(channels);
    ctx->algorithm = choice < CHOICES / 2 && ctx->coll_type == NCCL_ALL_REDUCE ? NCCL_TREE : NCCL_RING;
    ctx->protocol = protocol;
    ctx->n_channels = 1 << (channels & 3);
    return TRIGON_APPLY;
}
