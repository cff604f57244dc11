/*
 * The built-in tuner: protocol and number of channels of a collective, as far as no policy has chosen them.
 *
 * NCCL makes four channels of the device that it sees, and gives all four even to collectives of 32 KiB. Each channel
 * sends messages of its own, so a short collective pays for four small ones. docs/measurements/nccl.md has the times.
 *
 * All ranks have to come to the same answer, or the collective hangs. The answer depends on the arguments alone, which
 * NCCL has alike on all ranks: it makes the cost table of speeds that they exchange (initTransportsRank in init.cc).
 * Nothing is read from the environment, which may differ from node to node. Connections compare the version of the
 * rules, and whether they are in force.
 */
#ifndef TRIGON_TUNER_BUILT_IN_H
#define TRIGON_TUNER_BUILT_IN_H

#include <stdbool.h>
#include <stddef.h>

/* Version of the rules. Each change of an answer needs another one: nodes with different versions refuse each other. */
enum { BUILT_IN_VERSION = 1 };

/* NCCL's table of estimated times in microseconds; a row for each algorithm, a column for each protocol. */
struct cost_table {
  float *entries; /* below 0: NCCL cannot or may not use it; 0: a policy's choice */
  int algorithms;
  int protocols;
};

/* Size of a communicator. */
struct tuned_ranks {
  size_t count;
  bool share_nodes; /* several GPUs a node: NVLink carries data, too, and wants many channels */
};

/*
 * Decides on a collective of so many bytes, as NCCL counts them: may make Ring/Simple the table's least entry. No entry
 * below 0 is changed, so NCCL_ALGO and NCCL_PROTO have their way.
 *
 * Returns the number of channels, never more than NCCL would take; 0: NCCL's own number.
 */
int built_in_decide(struct cost_table costs, struct tuned_ranks ranks, int coll, size_t bytes);

#endif
