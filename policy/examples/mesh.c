/*
 * For nodes cabled to a ring or a line. There only neighbours share a link, and what NCCL sends to others goes through
 * relays, which NCCL's costs do not know. Rings send to neighbours only, if ranks are in the cabling's order; trees and
 * PAT do not, so they are the last resort. Up to three nodes may all be neighbours: there NCCL decides.
 */
#include "trigon_policy.h"

const volatile u32 nodes_that_are_all_neighbours = 3;

SEC("tuner") int mesh(struct trigon_tuner *ctx)
{
    if (ctx->n_nodes <= nodes_that_are_all_neighbours)
        return TRIGON_PASS;
    ctx->avoid = TRIGON_AVOID(NCCL_TREE) | TRIGON_AVOID(NCCL_PAT);
    return TRIGON_APPLY;
}
