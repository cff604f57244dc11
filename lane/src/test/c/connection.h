/* Both ends of a connection, with Java's part of a lane's life: it looks at errors, and moves the messages on. */
#ifndef TRIGON_LANE_TEST_CONNECTION_H
#define TRIGON_LANE_TEST_CONNECTION_H

#include "device.h"
#include "functions.h"
#include "lanes.h"

/* Bytes of the longest message, of its memory, and of the longest write; messages that there is memory for. */
enum { MAX_BYTES = 448, BUFFER_BYTES = 512, LONGEST = 64, BUFFERS = 2 * LANE_REQUESTS };

/* How messages go: by rendezvous, and where a move so chooses eagerly; or eagerly, and short ones are copied. */
enum way { RENDEZVOUS, CHANGING, EAGER_WITH_COPIES, EAGER_UNTIL_THE_END };

struct side {
  struct connection *connection;
  struct lane *lane;
  struct device_end *end;
  uint64_t comm;
  uint64_t handles[2]; /* of its memory, each for every other message */
  struct lane_memory memories[2];
  struct lane_counters counters;
  struct completion completions[LANE_COMPLETIONS];
  unsigned char (*buffers[2])[BUFFER_BYTES];
  int depth;
  uint64_t repeated; /* the message to be sent, or asked for, again next, up to the first that was new at the move */
  uint64_t begun;
  bool interrupted;  /* until it moves, nothing is done */
};

/* What lane_now() says, but for its lowest bit. */
extern uint32_t microseconds;

struct connection {
  struct device device;
  enum way way;
  struct unconfirmed unconfirmed;
  unsigned char *copies[UNCONFIRMED_RINGS];
  struct side sender, receiver;
  struct clear_to_send *ring; /* the sender's in use; the other one has what was there before */
  struct clear_to_send *rings[2], *entries;
};

/* Opens a connection whose first message has that number, over a first path. */
struct connection *connection_open(uint64_t first, enum way way, unsigned refusal_chance, bool opens_gates);
void connection_close(struct connection *connection);

/* Requests finished, of all since number 0. */
uint64_t completed_of(const struct side *side);

/* A message's memory, and the handle of its registration. */
unsigned char *buffer_of(const struct side *side, uint64_t number);
uint64_t memory_handle_of(const struct side *side, uint64_t number);

/* Messages that the peer is known to have. */
uint64_t confirmed_of(const struct side *side);

/* What Java does where lane_message() and lane_test() answer LANE_FOR_JAVA. */
uint64_t java_message(struct side *side, uint64_t number, uint32_t size, int32_t tag);
bool java_test(struct side *side, uint64_t request, int *size);

/* Takes what the device has completed, and repeats what is to be repeated. */
void java_progress(struct side *side);

/* Keeps NCCL's thread out, ends the use of the path, and takes all that it has completed. */
void java_fence(struct side *side);

/* Both ends have been fenced, and go on over another path. */
void java_connect(struct connection *connection);

/* Lets the library in again, if the messages that are to be repeated are. */
void java_open_gate(struct side *side);

/* Fails unless the numbers of the lane fit each other and the device's. */
void check_side(const struct side *side);

#endif
