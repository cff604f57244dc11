/*
 * How many of NCCL's channels a collective is to use where nobody has chosen a number.
 *
 * NCCL makes four channels of the device that it sees, and gives all four even to collectives of 32 KiB. Each channel
 * sends messages of its own, so a short collective pays for four small ones. docs/measurements/nccl.md has the times.
 */
#ifndef TRIGON_TUNER_CHANNELS_H
#define TRIGON_TUNER_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the number is ours to choose for a communicator: each rank has a node for itself, so that nothing but the
 * network carries data, and the user has asked for no least number. All ranks have to come to the same.
 */
bool chooses_channels(size_t ranks, size_t nodes);

/* The number for a collective of so many bytes, as NCCL counts them; 0: NCCL's own. The same on every rank. */
int channels_for(size_t ranks, int coll, size_t bytes);

#endif
