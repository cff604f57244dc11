/*
 * One rank's connections: on each channel a send comm to the next rank of the ring and a receive comm from the one
 * before, with registered staging buffers. What NCCL's service thread does.
 */
#ifndef HOST_CONNECTIONS_H
#define HOST_CONNECTIONS_H

#include "gpu.h"
#include "net.h"
#include "options.h"
#include "rendezvous.h"

/*
 * Messages on their way per connection, as NCCL's NCCL_STEPS, and the registered buffers of a connection, one for each
 * of NCCL's protocols, of its sizes; the last one is used.
 */
enum { DEPTH = 8, BUFFERS = 3, LL_BYTES = 512 << 10, LL128_BYTES = 4800 << 10 };

struct channel {
  int device;
  void *listen_comm;
  void *send_comm;
  void *recv_comm;
  char handle[NCCL_NET_HANDLE_BYTES];      /* of our listener */
  char next_handle[NCCL_NET_HANDLE_BYTES]; /* of the next rank's; the plugin may keep state in it */
  bool has_next_handle;
  bool host_only; /* its device has not said that it reaches a GPU's memory */
  struct gpu_memory send_gpu; /* the buffers' memory, if it is a GPU's */
  struct gpu_memory recv_gpu;
  char *send_memory; /* all buffers, as this program looks at them; for the plugin they may be elsewhere */
  char *recv_memory;
  char *send_buffer; /* DEPTH slots */
  char *recv_buffer;
  void *send_mhandles[BUFFERS];
  void *recv_mhandles[BUFFERS];
};

struct profile;

struct rank {
  const struct options *options;
  struct profile *profile; /* of the communicator */
  const struct tuner *tuner; /* asked before each all-reduce; NULL: none */
  void *tuner_ctx;
  bool is_slow; /* the tuner chose what is to take longer */
  struct net *net;
  struct rendezvous *rendezvous; /* NULL: this rank is alone */
  int number;
  int communicator; /* which one this is of the process */
  bool stays;       /* its channels are closed later than its data are moved */
  bool dies;        /* in the midst of its all-reduces, with the process */
  int devices;
  void *ctx;
  size_t slot_bytes;
  struct channel channels[MAX_CHANNELS];
  double seconds; /* of all iterations */
  int rounds;     /* how many those were */
  double *round_seconds; /* of each of them; NULL where nobody asks */
  size_t wrong;   /* elements or bytes that were not as expected */
};

/* What NCCL keeps of a message for its profiler; net plugins get its address. */
struct step {
  void *event;
  struct profile *profile;
};

/*
 * Sequence numbers of a channel's messages: those below `posted` were given to the plugin, those below `done` ended.
 * As in NCCL, a send leaves its request behind, a receive clears it.
 */
struct flow {
  size_t posted;
  size_t done;
  void *requests[DEPTH];
  struct channel *flushes; /* receives are flushed on this channel; NULL: they need not be */
  void *data[DEPTH];       /* for the flush of each */
  void *flush;             /* of the oldest message, which has come; or NULL */
  int flushed;             /* its bytes */
  bool sends;
  struct profile *profile; /* NULL: nobody profiles */
  void *operation;         /* the profiler's event */
  struct step steps[DEPTH];
};

/* Listens, connects and accepts on all channels at once, then registers slots of `slot_bytes`. */
bool connect_channels(struct rank *rank, size_t slot_bytes);

/* The rank that sends on a channel. */
int sender_on(const struct rank *rank, int channel);

/* Deregisters and closes, whatever there is. */
bool close_channels(struct rank *rank);

/* Tests the oldest request of a flow. Returns 1: done, with its size; 0: not done; -1: failed, said why. */
int test_oldest(struct rank *rank, struct flow *flow, size_t *size);

/* Sends or receives message flow->posted. Returns 1: posted; 0: the plugin had no room; -1: failed, said why. */
int post_send(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t size);
int post_recv(struct rank *rank, struct channel *channel, struct flow *flow, void *data, size_t capacity);

static inline char *slot_of(const struct rank *rank, char *buffer, size_t message) {
  return buffer + (message % DEPTH) * rank->slot_bytes;
}

#endif
