/*
 * A simulated device: two ends of a reliable connection, which complete what is posted later, in steps that a seed
 * chooses. Not thread-safe. A test fails by CHECK, which says the seed.
 */
#ifndef TRIGON_LANE_TEST_DEVICE_H
#define TRIGON_LANE_TEST_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "verbs_abi.h"

/* Slots of an end's queues, more than a lane may use. */
enum { DEVICE_SLOTS = 256, DEVICE_INLINE = 64, DEVICE_INJECTED = 512 };

/* enum ibv_wc_status. */
enum { STATUS_LOCAL_PROTECTION = 4, STATUS_FLUSHED = 5, STATUS_REMOTE_ACCESS = 10, STATUS_RETRIES = 12 };

struct device_send {
  struct send_request request;
  struct memory_piece piece;
  unsigned char inlined[DEVICE_INLINE];
  unsigned char injected[DEVICE_INJECTED];
  bool is_injected; /* complete, though it may not have reached the peer; what it sends is there */
  uint32_t copied;  /* bytes that have reached memory */
  bool stray;       /* a message's of which a later write was refused: the lane does not count it */
};

struct device_completion {
  struct completion completion;
  uint64_t frees; /* all sends below that number leave the send queue once it is polled; of a receive: 0 */
};

struct device_receive {
  uint64_t number;
  struct memory_piece piece;
};

/* Numbers that count up: freed <= acknowledged <= posted, reached <= posted. */
struct device_end {
  struct device *device;
  struct device_end *peer;
  struct device_send sends[DEVICE_SLOTS];
  struct device_completion completions[2 * DEVICE_SLOTS];
  struct device_receive asked[DEVICE_SLOTS];
  struct completion arrivals[DEVICE_SLOTS]; /* messages that have arrived, as they will be completed */
  uint64_t posted, reached, acknowledged, freed;
  uint64_t completed, polled;
  uint64_t arrived, told;
  _Atomic uint64_t delivered; /* what has asked for it, and all before, has reached the peer */
  uint64_t errors; /* completions that are none of success, and have been polled */
  uint64_t messages, bytes; /* that the end has been given */
  int send_depth, receive_depth;
  int receives;            /* receive work requests that no message has taken */
  int refusing, accepting; /* errno for the post after so many that are accepted; 0: none */
  bool failed;
};

struct device {
  struct device_end ends[2];
  bool cut;                /* nothing passes any more */
  unsigned refusal_chance; /* one post of so many is refused; 0: none */
  unsigned answer_chance;  /* of so many sends that reach the peer, it says so of one without being asked; 0: none */
};

/* ---- the test's failure, and chance ---- */

/* Sets what is drawn from now on. */
void draw_from(uint64_t seed);

/* A number below that bound. */
uint64_t draw(uint64_t bound);

/* Ends the test. */
_Noreturn void failed_check(const char *file, int line, const char *what);

#define CHECK(condition) ((condition) ? (void)0 : failed_check(__FILE__, __LINE__, #condition))

/* ---- memory ---- */

/* Gives memory a key, for one use: by the peer, or by the device that reads it. */
uint32_t device_register(const void *address, uint64_t length, bool by_peer);

/* Takes all keys away. */
void device_forget_keys(void);

/* ---- connections ---- */

/* A new connection; both ends are ready. */
void device_connect(struct device *device, int send_depth, int other_send_depth, int receive_depth);

/* A step of either end: bytes reach memory, or a completion comes. */
void device_step(struct device *device);

/* Loses the connection: what is under way may reach the peer or not, and the ends hear of it with a later step. */
void device_cut(struct device *device);

/* Flushes an end: all that is outstanding has completed after that. */
void device_fence(struct device_end *end);

/* Sends in the queue that the lane counts. */
int device_occupied(const struct device_end *end);

int device_post_send(void *queue_pair, struct send_request *requests, struct send_request **refused);
int device_post_receive(void *queue_pair, struct receive_request *requests, struct receive_request **refused);
int device_poll(void *queue, int entries, struct completion *completions);

#endif
