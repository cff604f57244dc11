/*
 * What Java calls of the software device: trigon.software.call.SoftwareFunctions has the same order. All arguments
 * and results are 64 bits wide. Under the lock: the calling thread has called lock.
 */
#ifndef TRIGON_SOFTWARE_FUNCTIONS_H
#define TRIGON_SOFTWARE_FUNCTIONS_H

#include <stdint.h>

struct completion_queue;
struct inbound;
struct mover;
struct outbound;
struct queue_pair;
struct region;
struct software_device;

/* Words of a queue pair that Java reads or writes: trigon.software.call.Word. */
enum word {
  WORD_STATE,
  WORD_CLOSED,
  WORD_ATTENTION, /* reading takes it */
  WORD_ASKS,      /* the same, and it stays */
  WORD_REASON,
  WORD_GIVEN,
  WORD_POLLED_AT,
  WORD_AWAITS_RECEIVE,
  WORD_WORK_DUE,
  WORD_WATCHED,
  WORD_ARMED_OUT,
  WORD_ARMED_IN,
  WORD_WANTED_OUT,
  WORD_WANTED_IN,
  WORD_HAS_WORK,
  WORD_WAITS_FOR_PEER,
  WORD_NEXT_PSN, /* writing it starts the requester */
  WORD_BEGUN,
  WORD_LOST,
  WORD_CONNECTING,
  WORD_DELIVERED,
  WORD_PROGRESS_AT,
  WORD_TIMER_ARMED,
  WORD_RETRY_NANOS,
  WORD_RNR_RETRY,
  WORD_RECEIVER_NOT_READY,
  WORD_RECEIVER_CODE,
  WORD_EXPECTED_PSN,
  WORD_STAGE,
  WORD_ACCESS,
  WORD_MIN_RNR_TIMER,
  WORD_PEER_HAS_ENDED,
  WORD_WAITING_SINCE,
  WORD_ACK_HELD,
  WORDS
};

struct software_functions {
  int64_t words; /* WORDS: both sides mean the same */

  /* The verbs of the data path, as struct ibv_context_ops has them. */
  void *post_send;
  void *post_receive;
  void *poll;

  /* The same with one work request, for Java. Negative: none. */
  int64_t (*send)(struct queue_pair *pair, int64_t number, int64_t address, int64_t length_and_key,
                  int64_t remote_address, int64_t remote_key_and_immediate, int64_t opcode_and_flags);
  int64_t (*receive)(struct queue_pair *pair, int64_t number, int64_t address, int64_t length_and_key);

  /* Devices and memory; 0: there is none. */
  struct software_device *(*open)(int64_t bell);
  int64_t (*close)(struct software_device *device);
  int64_t (*hear)(struct software_device *device);
  struct region *(*add_region)(struct software_device *device, int64_t address, int64_t length, int64_t access,
                               int64_t domain, int64_t keys);
  int64_t (*remove_region)(struct software_device *device, struct region *region);
  int64_t (*free_region)(struct region *region);

  /* In memory of Java's, of so many bytes: aligned to 8, all 0. */
  int64_t (*queue_bytes)(int64_t entries);
  int64_t (*make_queue)(struct completion_queue *queue, int64_t entries);
  int64_t (*pair_bytes)(int64_t sends, int64_t receives, int64_t inline_bytes);
  int64_t (*make_pair)(struct queue_pair *pair, struct software_device *device, int64_t domain_and_number,
                       struct completion_queue *sends, struct completion_queue *receives, struct mover *mover,
                       const int64_t *capacity);
  int64_t (*outbound_bytes)(void);
  int64_t (*make_outbound)(struct outbound *out, int64_t socket, void *read, void *write, int64_t checks);
  int64_t (*inbound_bytes)(void);
  int64_t (*make_inbound)(struct inbound *in, int64_t socket, void *read, void *write);

  /* Of a queue pair. Attached: it is polled with its completion queues. */
  int64_t (*attach)(struct queue_pair *pair);
  int64_t (*detach)(struct queue_pair *pair);
  int64_t (*lock)(struct queue_pair *pair);
  int64_t (*unlock)(struct queue_pair *pair);
  int64_t (*get)(struct queue_pair *pair, int64_t word);
  int64_t (*set)(struct queue_pair *pair, int64_t word, int64_t value);

  /* Under its lock. */
  int64_t (*connect)(struct queue_pair *pair, struct outbound *out);
  int64_t (*adopt)(struct queue_pair *pair, struct inbound *in);
  int64_t (*fail)(struct queue_pair *pair, int64_t reason);
  int64_t (*fail_oldest)(struct queue_pair *pair, int64_t status, int64_t reason);
  int64_t (*reset)(struct queue_pair *pair);
  int64_t (*lose_outbound)(struct queue_pair *pair);
  int64_t (*lose_inbound)(struct queue_pair *pair);
  int64_t (*forget)(struct queue_pair *pair, struct region *region);
  int64_t (*work)(struct queue_pair *pair);
  int64_t (*say_not_ready)(struct queue_pair *pair);
  int64_t (*answer)(struct queue_pair *pair);
  int64_t (*progress)(struct queue_pair *pair);

  /* Without it: gives to the mover what progress has said is to be; or waits until the mover has let go. */
  int64_t (*give)(struct queue_pair *pair);
  int64_t (*await_mover)(struct queue_pair *pair);

  /* Of a connection that no queue pair has any more: sends what is to be answered; 1 once that is over. */
  int64_t (*finish_responses)(struct inbound *in);
  int64_t (*read_tail)(struct inbound *in);

  struct mover *(*start_mover)(const char *name, int64_t from_bytes);
  int64_t (*stop_mover)(struct mover *mover);
  int64_t (*free_mover)(struct mover *mover);
};

extern const struct software_functions software_functions;

#endif
