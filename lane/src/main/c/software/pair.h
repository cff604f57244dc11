/*
 * A queue pair of the software device, as far as it moves data. Java connects, and decides what becomes of a connection
 * that has ended, of time limits, and of the queue pair (trigon.software.device.QueuePairEngine).
 *
 * All of it belongs to whoever has its lock: a thread that posts or polls, a mover while a long message is under way,
 * or Java, which moves data where nobody polls, and changes the state. On the data path nobody waits for the lock: who
 * fails to get it leaves the work to its holder, who looks again after letting go (drive). What others may read or
 * write without the lock says so.
 *
 * What C cannot decide it leaves in the attention word, and rings the device's bell once: Java's event loop looks at
 * the queue pairs then. By that time C has done all that data need: it moves none any more.
 */
#ifndef TRIGON_SOFTWARE_PAIR_H
#define TRIGON_SOFTWARE_PAIR_H

#include "memory.h"
#include "queues.h"
#include "stream.h"
#include "wire.h"

/* Payloads of no more are copied behind their header, and read with it: cheaper than another system call. */
enum { COPIED_BYTES = 4 << 10 };

/* Most bytes of a payload by one call: who polls has other things to do. A test cuts payloads more often. */
#ifndef LONGEST_PART
#define LONGEST_PART (1 << 20)
#endif
enum { MOST_BYTES = LONGEST_PART };

/* enum ibv_qp_state. */
enum { STATE_RESET = 0, STATE_READY_TO_RECEIVE = 2, STATE_READY_TO_SEND = 3, STATE_ERROR = 6 };

/* Why a queue pair went to the error state: trigon.software.call.Reason. */
enum reason {
  REASON_NONE,
  REASON_ASKED_FOR,
  REASON_LOCAL_REQUEST,
  REASON_CONNECTION_CLOSED,
  REASON_REFUSED_BY_PEER,
  REASON_REFUSED_COMPLETE,
  REASON_BAD_RESPONSE,
  REASON_NO_RECEIVE,
  REASON_REFUSED_REQUEST,
  REASON_ALTERED
};

/* What Java is to look at: trigon.software.call.Attention. */
enum {
  ATTENTION_ARM = 1,             /* the event loop is to watch a socket for more than it does */
  ATTENTION_FAILED = 1 << 1,     /* it is in the error state */
  ATTENTION_OUT_ENDED = 1 << 2,  /* the connection of the requests that go out has ended */
  ATTENTION_IN_ENDED = 1 << 3,   /* that of those that come in */
  ATTENTION_REJECTED = 1 << 4,   /* since the peer broke the protocol */
  ATTENTION_TAKEN = 1 << 5,      /* the first request has come */
  ATTENTION_CONNECT = 1 << 6,    /* a request waits, and there is no connection */
  ATTENTION_TIMER = 1 << 7,      /* an answer is waited for, and no timer runs */
  ATTENTION_RECEIVER = 1 << 8,   /* the peer has said that it has no receive, or has one again */
  ATTENTION_NOT_READY = 1 << 9,  /* the peer is to be told again and again that there is no receive */
  ATTENTION_HOLD = 1 << 10,      /* acknowledgements are held back for a moment */
  ATTENTION_HEADER = 1 << 11,    /* a relay has altered a header */
  ATTENTION_PAYLOAD = 1 << 12,   /* or a payload */
  ATTENTION_SENDS_OVERRAN = 1 << 13,
  ATTENTION_RECEIVES_OVERRAN = 1 << 14
};

/* An open device. Java opens it before its first queue pair, and closes it after the last. */
struct software_device {
  struct regions regions;
  _Atomic uint32_t rung; /* any thread sets it, and writes a byte if it was 0; Java resets it before it looks */
  int bell;              /* the end of a pipe */
};

/* A thread for long messages: mover.c. */
struct mover;

/* A connection on which requests go out. Java's memory, for longer than a queue pair has it. */
struct outbound {
  struct stream stream;
  bool stopped; /* nothing is sent any more */
  uint32_t checks; /* one in so many payloads that are not short is checked; 0: no relay, or no check of any */
  uint32_t long_ones;

  uint32_t from; /* of what is staged, not yet written */
  uint32_t to;
  struct region *payload; /* or NULL */
  uint64_t payload_address;
  uint32_t payload_bytes;
  uint32_t payload_left;

  uint32_t filled; /* of the responses that are read */
  unsigned char responses[8 * RESPONSE_BYTES];
  unsigned char staging[16 << 10];
};

/* A connection on which requests come in. */
struct inbound {
  struct stream stream;
  bool ended;
  bool paused;     /* in the middle; what has arrived is kept */
  bool discarding; /* nothing counts from now on */
  bool refusing;   /* a refusal is the last that is said on it */

  uint32_t kept_from; /* of the buffer, not handed on */
  uint32_t kept_to;
  uint32_t header_filled;
  uint32_t payload_bytes;
  uint32_t payload_left;
  uint32_t tail_left;
  bool was_long;         /* so is the next most likely, and nothing of it is read with its header */
  bool found_nothing;    /* the last read, or a tail */
  uint32_t likely_bytes; /* header and payload of the last message, if it had a tail; or 0 */

  bool checked;    /* it has had a checked request: so all that follow are */
  bool of_payload; /* and the payload of this one */
  uint32_t payload_check;
  uint32_t sum;

  bool responses_stopped;
  bool ack_pending;
  bool ack_soon;
  bool ack_held;
  bool not_ready_pending;
  bool nak_pending;
  uint32_t ack_psn;
  uint32_t ack_messages;
  int64_t ack_since;
  uint32_t not_ready_psn;
  int16_t not_ready_code;
  int16_t nak_reason;
  uint32_t nak_psn;
  uint32_t from; /* of what is staged, not yet written */
  uint32_t to;
  struct response staging[3]; /* one of each kind */

  struct request header;
  unsigned char buffer[COPIED_BYTES + 128];
};

/*
 * Requests lie in the order head <= next <= tail: below next they have been begun, and from head on they are not
 * complete. Each has the PSN of its place.
 */
struct requester {
  uint64_t head;
  uint64_t next;
  uint64_t acknowledged; /* below it; those that completed before may be behind it */
  uint64_t base;         /* the request that has first_psn */
  uint64_t written;      /* below it, all has been given to the socket */
  uint32_t first_psn;
  uint32_t answers; /* of those begun and not complete: that the peer answers in time, once it carries them out */
  uint32_t signaled;
  uint32_t last_length;
  uint32_t failure; /* status with which the request at next fails once all before it are done; or 0 */
  uint32_t calls_unheard;
  bool begun; /* it has sent something */
  bool lost;  /* the connection was there, and has ended */
  bool ends_with_process; /* what the connection's stream has taken, though the kernel has not */
  bool connecting;
  bool timer_armed;
  bool receiver_not_ready;
  int16_t receiver_code;
  uint32_t rnr_retry;
  int64_t retry_nanos;
  int64_t progress_at;
  _Atomic uint64_t delivered; /* acknowledged - base; any thread, relaxed */
};

enum { STAGE_NONE, STAGE_TAKEN, STAGE_REFUSED };

struct responder {
  uint32_t expected_psn;
  uint32_t opcode; /* of the request that came last, as long as it is not finished; as are the following */
  uint32_t psn;
  uint32_t length;
  uint64_t address;
  uint32_t key;
  uint32_t immediate;
  bool acknowledge_soon;
  bool answered;
  bool patient; /* its sender waits for a receive without being told that there is none */
  bool waits_for_receive;
  struct region *target;
  uint64_t destination; /* of the next byte of the payload */
  int64_t waiting_since;
  uint32_t calls_unheard;
  uint32_t stage;
  uint32_t access; /* of the peer */
  int16_t min_rnr_timer;
  _Atomic uint32_t peer_has_ended; /* Java, any thread; who has the lock */
};

struct queue_pair {
  struct software_device *device;
  uint64_t domain;
  uint32_t number;
  uint32_t reason;
  struct completion_queue *send_completions;
  struct completion_queue *receive_completions;
  struct member members[2];

  _Atomic uint32_t state;     /* under the lock; any thread */
  _Atomic uint32_t closed;    /* the same */
  _Atomic uint32_t attention; /* any thread sets bits; Java takes them */
  struct outbound *outbound;
  struct inbound *inbound;
  bool watched; /* the event loop looks at it every now and then, instead of at its sockets */
  bool moving;  /* who has the lock is the mover */
  uint32_t armed_out; /* what the event loop watches the sockets for: as poll(2) says it */
  uint32_t armed_in;

  struct requester requester;
  struct responder responder;

  pthread_mutex_t lock;
  _Atomic uint32_t waiters;        /* who changes the state goes first, and drives when he is done */
  _Atomic uint32_t awaits_receive; /* under the lock; who posts a receive, afterwards */
  _Atomic uint32_t work_due;       /* under the lock; any thread */
  _Atomic uint64_t tail_seen;      /* of the send queue, by work: under the lock; any thread */
  _Atomic int64_t polled_at;       /* the polling thread; the event loop */

  struct mover *mover;             /* or NULL */
  _Atomic uint32_t given;          /* the mover makes progress. Under the lock; any thread */
  _Atomic uint32_t sending;        /* the mover is sending, and goes on with what is posted behind that. The same */
  _Atomic uint32_t on_mover;       /* from before it is given until the mover has let go of it; any thread */
  struct queue_pair *given_before; /* the mover's, and of who gives it */
  bool ready;                      /* the mover's: a socket is ready, or may be */

  struct send_queue sends;
  struct receive_queue receives;
};

/* ---- pair.c: the lock, and progress under it ---- */

int64_t nanos(void);
void pair_raise(struct queue_pair *pair, uint32_t attention);

/* Waits for the lock; leaving it drives. */
void pair_lock(struct queue_pair *pair);
void pair_unlock(struct queue_pair *pair);

/* Under the lock: moves what there is, but no long message unless a mover does it. True: it is to be given then. */
bool pair_progress(struct queue_pair *pair, bool receives, bool unpolled);
bool pair_is_due(struct queue_pair *pair);
void pair_drive(struct queue_pair *pair, bool receives);

/* Under the lock: has Java arm sockets, if they are to be watched for more than they are. */
void pair_arm(struct queue_pair *pair);

/* Under the lock: to the error state, and flushes what is posted; nothing if it is there, or closed. */
void pair_fail(struct queue_pair *pair, enum reason reason);
void pair_reset(struct queue_pair *pair);
void pair_poll(struct queue_pair *pair);

/* Under the lock: leaves a region that was removed; the message that uses it fails when it goes on. */
void pair_forget(struct queue_pair *pair, const struct region *region);

bool is_left_to_mover(const struct queue_pair *pair, const struct stream *stream, uint32_t bytes);
bool has_long_message(const struct queue_pair *pair);
uint32_t wanted_of_outbound(const struct queue_pair *pair);
uint32_t wanted_of_inbound(const struct queue_pair *pair);

static inline uint32_t state_of(const struct queue_pair *pair) {
  return atomic_load_explicit(&pair->state, memory_order_acquire);
}

/* ---- requester.c ---- */

void outbound_ring(struct queue_pair *pair, struct outbound *out);
void outbound_stop(struct outbound *out);
bool outbound_has_output(const struct queue_pair *pair, const struct outbound *out);
void requester_receive(struct queue_pair *pair, bool even_if_nobody_waits);
void requester_work(struct queue_pair *pair);
void requester_lose(struct queue_pair *pair);
void requester_flush(struct queue_pair *pair);
void requester_reset(struct queue_pair *pair);
bool requester_has_work(const struct queue_pair *pair);
bool requester_waits_for_peer(const struct queue_pair *pair);
uint32_t requester_psn(const struct queue_pair *pair, uint64_t index);
void requester_fail(struct queue_pair *pair, uint32_t status, enum reason reason);

/* ---- responder.c ---- */

void responder_receive(struct queue_pair *pair, bool unpolled, bool awaits_response);
void responder_send(struct queue_pair *pair, bool all);
void responder_go_on(struct queue_pair *pair);
void responder_flush(struct queue_pair *pair);
void responder_drop(struct queue_pair *pair);
void responder_say_not_ready(struct queue_pair *pair);

/* Ends a connection for the queue pair, which does not have it any more. */
void inbound_end(struct queue_pair *pair, struct inbound *in, uint32_t attention);

/* Responses of a connection that may have no queue pair any more. */
bool responses_are_over(const struct inbound *in);
void responses_ring(struct inbound *in);

/* The one byte that may be left: to a socket that is closed with something unread the kernel's answer is a reset. */
void inbound_read_tail(struct inbound *in);

/* ---- mover.c ---- */

struct mover *mover_start(const char *name, uint32_t from_bytes);
void mover_stop(struct mover *mover);
void mover_free(struct mover *mover);
void mover_take(struct mover *mover, struct queue_pair *pair);
void mover_wake(struct mover *mover);
bool mover_has_ended(const struct mover *mover);
uint32_t mover_from_bytes(const struct mover *mover);

#endif
