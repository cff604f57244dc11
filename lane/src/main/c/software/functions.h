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

/*
 * Words of a queue pair that Java reads or writes: trigon.software.call.Word has the same order. FIELD: what that field
 * has. VALUE: that value of pair, to be read alone.
 */
#define SOFTWARE_WORDS(FIELD, VALUE)                                                                                   \
  FIELD(STATE, state)                                                                                                  \
  FIELD(CLOSED, closed)                                                                                                \
  VALUE(ATTENTION, atomic_exchange(&pair->attention, 0)) /* reading takes it */                                        \
  FIELD(ASKS, attention)                                 /* the same, and it stays */                                  \
  FIELD(REASON, reason)                                                                                                \
  FIELD(GIVEN, given)                                                                                                  \
  FIELD(POLLED_AT, polled_at)                                                                                          \
  FIELD(AWAITS_RECEIVE, awaits_receive)                                                                                \
  FIELD(WORK_DUE, work_due)                                                                                            \
  FIELD(WATCHED, watched)                                                                                              \
  FIELD(ARMED_OUT, armed_out)                                                                                          \
  FIELD(ARMED_IN, armed_in)                                                                                            \
  VALUE(WANTED_OUT, wanted_of_outbound(pair))                                                                          \
  VALUE(WANTED_IN, wanted_of_inbound(pair))                                                                            \
  VALUE(HAS_WORK, requester_has_work(pair))                                                                            \
  VALUE(WAITS_FOR_PEER, requester_waits_for_peer(pair))                                                                \
  VALUE(NEXT_PSN, requester_psn(pair, pair->requester.head))                                                           \
  FIELD(FIRST_PSN, requester.first_psn)                                                                                \
  FIELD(BEGUN, requester.begun)                                                                                        \
  FIELD(LOST, requester.lost)                                                                                          \
  FIELD(CONNECTING, requester.connecting)                                                                              \
  VALUE(DELIVERED_AT, (intptr_t)&pair->requester.delivered) /* an address: any thread, relaxed */                      \
  FIELD(PROGRESS_AT, requester.progress_at)                                                                            \
  FIELD(TIMER_ARMED, requester.timer_armed)                                                                            \
  FIELD(RETRY_NANOS, requester.retry_nanos)                                                                            \
  FIELD(RNR_RETRY, requester.rnr_retry)                                                                                \
  FIELD(RECEIVER_NOT_READY, requester.receiver_not_ready)                                                              \
  FIELD(RECEIVER_CODE, requester.receiver_code)                                                                        \
  FIELD(EXPECTED_PSN, responder.expected_psn)                                                                          \
  FIELD(STAGE, responder.stage)                                                                                        \
  FIELD(ACCESS, responder.access)                                                                                      \
  FIELD(MIN_RNR_TIMER, responder.min_rnr_timer)                                                                        \
  FIELD(PEER_HAS_ENDED, responder.peer_has_ended)                                                                      \
  FIELD(WAITING_SINCE, responder.waiting_since)                                                                        \
  VALUE(ACK_HELD, pair->inbound != NULL && pair->inbound->ack_held)

#define NAME_OF_WORD(name, what) WORD_##name,
enum word { SOFTWARE_WORDS(NAME_OF_WORD, NAME_OF_WORD) WORDS };
#undef NAME_OF_WORD

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
  int64_t (*remove_region)(struct software_device *device, struct region *region); /* 1: is to be freed */
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
