/*
 * A profiler plugin, whichever API version it is used through, called as NCCL calls it: around a collective on the
 * application's side, for operations and steps on the progress thread. Without --profiler nothing is called.
 *
 * NCCL's own part towards net plugins is here as well: what they report of their requests goes to the profiler, with
 * --net-events to one of this program's that counts.
 */
#ifndef HOST_PROFILER_H
#define HOST_PROFILER_H

#include "connections.h"

/* A communicator's. */
struct profile {
  const struct profiler *profiler; /* NULL: none */
  void *ctx;
  int ranks;
  int rank;
  uint64_t comm;
  uint64_t collectives;
  const char *algorithm; /* of the next collective; v1 says ring and Simple */
  const char *protocol;
  void *group;
  void *call;
  void *collective;
};

/* Finds the plugin's table. False: it has said why. */
bool profiler_open(const struct options *options, void *library);

/* From init to finalize. */
bool profile_begin(struct profile *profile, const struct options *options, uint64_t comm, int rank);
bool profile_end(struct profile *profile);

void profile_collective_begin(struct profile *profile, size_t elements, int channels);
void profile_collective_end(struct profile *profile);

/* One direction of a channel in a collective; the flow keeps what belongs to its messages. */
void profile_flow_begin(struct profile *profile, struct flow *flow, bool sends, int channel, int peer, size_t messages);
void profile_flow_end(struct flow *flow);

/* The next message has a place. For a receive: at each try, as NCCL does it. */
void profile_step_begin(struct flow *flow);
/* Before each try to send. */
void profile_step_ready(struct flow *flow);
/* The plugin has taken the message `number`. */
void profile_step_posted(struct flow *flow, size_t number);
void profile_step_done(struct flow *flow, size_t number);

/* Where NCCL keeps the event of the message that is posted next, for isend and irecv. */
void *profile_parent(struct flow *flow);

/* NCCL's callback for net plugins. */
int profile_net_event(void **event, int type, void *parent, int64_t plugin_id, void *data);

/* With --net-events: says how many were begun, and returns whether each was ended once, all with a parent. */
bool profile_check_net_events(int rank);

#endif
