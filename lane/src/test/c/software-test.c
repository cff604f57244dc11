/* The software device's data path, over socket pairs: software-test [SEED]. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "software-ends.h"

#define F software_functions

enum { INJECTED = FLAG_INJECT_COMPLETE, TOLD = FLAG_INJECT_COMPLETE | FLAG_DELIVERY_COMPLETE };

static unsigned short seed[3];

static uint32_t random_below(uint32_t limit) {
  return (uint32_t)nrand48(seed) % limit;
}

static uint32_t random_length(void) {
  switch (random_below(4)) {
    case 0:
      return random_below(64);
    case 1:
      return random_below(5000);
    case 2:
      return random_below(70000);
    default:
      return random_below(1 << 20);
  }
}

/* Messages of any length arrive in order, with what was sent, and complete once. */
static void messages_arrive(struct mover *mover, int64_t checks, int count) {
  static const uint32_t ways[] = {REQUEST_SIGNALED, REQUEST_SIGNALED | INJECTED, REQUEST_SIGNALED | TOLD};
  struct ends ends;
  ends_open(&ends, mover, checks);
  for (int i = 0; i < MEMORY_BYTES; i++) {
    ends.first.memory[i] = (unsigned char)nrand48(seed);
  }
  for (int i = 0; i < count; i++) {
    const uint32_t length = random_length();
    const uint32_t offset = random_below(MEMORY_BYTES - length);
    const bool receive_first = random_below(2) == 0;
    if (receive_first) {
      CHECK(end_receive(&ends.second, (uint64_t)i, offset, length) == 0);
    }
    CHECK(end_send(&ends.first, (uint64_t)i, REQUEST_SEND_WITH_IMMEDIATE, offset, length, ways[i % 3]) == 0);
    if (!receive_first) {
      pair_poll(ends.second.pair);
      CHECK(end_receive(&ends.second, (uint64_t)i, offset, length) == 0);
    }
    const struct completion received = ends_await(&ends, ends.second.receives);
    CHECK(received.status == COMPLETION_SUCCESS && received.work_request == (uint64_t)i && received.bytes == length);
    CHECK(be32toh(received.immediate) == (uint32_t)i && received.flags == COMPLETION_HAS_IMMEDIATE);
    const struct completion sent = ends_await(&ends, ends.first.sends);
    CHECK(sent.status == COMPLETION_SUCCESS && sent.work_request == (uint64_t)i);
    CHECK(memcmp(ends.first.memory + offset, ends.second.memory + offset, length) == 0);
  }
  CHECK((end_attention(&ends.first) & (ATTENTION_FAILED | ATTENTION_OUT_ENDED)) == 0);
  ends_close(&ends);
}

static void arrives(struct ends *ends, uint32_t length) {
  memset(ends->second.memory, 0, MEMORY_BYTES);
  CHECK(end_receive(&ends->second, 1, 0, length) == 0);
  CHECK(end_send(&ends->first, 1, REQUEST_SEND, 0, length, REQUEST_SIGNALED) == 0);
  const struct completion received = ends_await(ends, ends->second.receives);
  CHECK(received.status == COMPLETION_SUCCESS && received.bytes == length);
  CHECK(ends_await(ends, ends->first.sends).status == COMPLETION_SUCCESS);
  CHECK(memcmp(ends->first.memory, ends->second.memory, length) == 0);
  CHECK(length == MEMORY_BYTES || ends->second.memory[length] == 0);
}

/* A payload ends where a call's part of it does, just before, or just behind. */
static void parts_are_put_together(struct mover *mover, int64_t checks) {
  struct ends ends;
  ends_open(&ends, mover, checks);
  for (int i = 0; i < MEMORY_BYTES; i++) {
    ends.first.memory[i] = (unsigned char)(1 + nrand48(seed) % 255);
  }
  for (int parts = 1; parts <= 5 && parts * MOST_BYTES < MEMORY_BYTES; parts++) {
    const uint32_t length = (uint32_t)parts * MOST_BYTES;
    arrives(&ends, length - 1);
    arrives(&ends, length);
    arrives(&ends, length + 1);
  }
  arrives(&ends, MEMORY_BYTES);
  ends_close(&ends);
}

/* The longest message arrives, a longer one is not sent, and from a peer not taken; where there is memory for it. */
static void longest_message_is_kept_to(struct mover *mover) {
  if ((int)MAX_MESSAGE_BYTES > (int)MEMORY_BYTES) {
    return;
  }
  struct ends ends;
  ends_open(&ends, mover, 0);
  memset(ends.first.memory, 3, MEMORY_BYTES);
  arrives(&ends, MAX_MESSAGE_BYTES - 1);
  arrives(&ends, MAX_MESSAGE_BYTES);
  CHECK(end_send(&ends.first, 2, REQUEST_SEND, 0, MAX_MESSAGE_BYTES + 1, REQUEST_SIGNALED) == EINVAL);
  arrives(&ends, 5);
  ends_close(&ends);

  for (uint32_t over = 0; over < 2; over++) {
    ends_open(&ends, mover, 0);
    CHECK(end_receive(&ends.second, 1, 0, MEMORY_BYTES) == 0);
    const struct request request = {
        .opcode = WIRE_SEND, .psn = FIRST_PSN, .length = MAX_MESSAGE_BYTES + over};
    CHECK(write(ends.first.out_socket, &request, sizeof request) == sizeof request);
    int64_t raised = 0;
    for (int i = 0; i < 1000 && raised == 0; i++) {
      struct completion completion;
      (void)end_poll(ends.second.receives, &completion);
      raised = end_attention(&ends.second) & ATTENTION_REJECTED;
    }
    CHECK((raised != 0) == (over != 0));
    ends_close(&ends);
  }
}

/* Both ways at once, with as many as the queues hold. */
static void traffic_goes_both_ways(struct mover *mover) {
  struct ends ends;
  ends_open(&ends, mover, 0);
  struct end *sides[] = {&ends.first, &ends.second};
  uint64_t sent[2] = {0};
  uint64_t received[2] = {0};
  uint64_t posted[2] = {0};
  uint64_t completed[2] = {0};
  enum { MESSAGES = 150 };
  while (received[0] < MESSAGES || received[1] < MESSAGES || completed[0] < MESSAGES || completed[1] < MESSAGES) {
    for (int s = 0; s < 2; s++) {
      struct completion completion;
      if (posted[s] < MESSAGES && end_receive(sides[s], posted[s], 0, MEMORY_BYTES) == 0) {
        posted[s]++;
      }
      if (sent[s] < MESSAGES && end_send(sides[s], sent[s], REQUEST_SEND, 0, random_length(), REQUEST_SIGNALED) == 0) {
        sent[s]++;
      }
      if (end_poll(sides[s]->receives, &completion) == 1) {
        CHECK(completion.status == COMPLETION_SUCCESS && completion.work_request == received[s]++);
      }
      if (end_poll(sides[s]->sends, &completion) == 1) {
        CHECK(completion.status == COMPLETION_SUCCESS && completion.work_request == completed[s]++);
      }
    }
  }
  ends_close(&ends);
}

/* A peer that says anything, and a connection that is cut at any byte: no memory is touched but what was given. */
static void any_bytes_are_borne(int rounds) {
  for (int round = 0; round < rounds; round++) {
    struct ends ends;
    ends_open(&ends, NULL, 0);
    CHECK(end_receive(&ends.second, 1, 0, 1000) == 0 && end_receive(&ends.second, 2, 0, 100000) == 0);
    unsigned char bytes[6000];
    uint32_t length = random_below(sizeof bytes);
    for (uint32_t i = 0; i < sizeof bytes; i++) {
      bytes[i] = (unsigned char)nrand48(seed);
    }
    if (random_below(4) > 0) {
      const uint32_t lengths[] = {0, 1, 999, 1001, 5000, MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES + 1u, UINT32_MAX};
      struct request request = {
          .opcode = random_below(8) | (random_below(2) == 0 ? 0 : random_below(0x8000) & ~0xFFu),
          .psn = random_below(8) == 0 ? random_below(1 << 25) : FIRST_PSN,
          .address = (uint64_t)(uintptr_t)ends.second.memory + random_below(2) * MEMORY_BYTES - random_below(2) * 8,
          .key = 102 - (random_below(4) == 0),
          .length = lengths[random_below(8)],
      };
      memcpy(bytes, &request, sizeof request);
      length = length < 32 ? 32 : length;
    }
    const int to = random_below(2) == 0 ? ends.first.out_socket : ends.first.in_socket;
    for (uint32_t at = 0; at < length;) {
      const uint32_t piece = 1 + random_below(length - at);
      CHECK(write(to, bytes + at, piece) == (ssize_t)piece);
      at += piece;
      pair_poll(ends.second.pair);
    }
    if (random_below(2) == 0) {
      (void)shutdown(to, SHUT_RDWR);
    }
    for (int i = 0; i < 20; i++) {
      struct completion completion;
      (void)end_poll(ends.second.receives, &completion);
      (void)end_send(&ends.second, 1, REQUEST_SEND, 0, random_below(9000), REQUEST_SIGNALED);
    }
    ends_close(&ends);
  }
}

/* A bit of a message through a relay, changed anywhere, is seen before its receive completes. */
static void changed_bits_are_seen(void) {
  for (uint32_t at = 0; at < REQUEST_BYTES + 5000; at += at < 33 ? 1 : 511) {
    struct ends ends;
    ends_open(&ends, NULL, 1);
    int between[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, between) == 0);
    ends.second.in->stream.socket = between[1];
    CHECK(end_receive(&ends.second, 1, 0, 1 << 20) == 0);
    CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 5000, REQUEST_SIGNALED) == 0);
    unsigned char bytes[REQUEST_BYTES + 5000];
    CHECK(recv(ends.second.in_socket, bytes, sizeof bytes, MSG_WAITALL) == (ssize_t)sizeof bytes);
    bytes[at] ^= (unsigned char)(1 << at % 8);
    CHECK(write(between[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes);
    const struct completion completion = ends_await(&ends, ends.second.receives);
    CHECK(completion.status == COMPLETION_FLUSHED);
    const int64_t expected = at < REQUEST_BYTES ? ATTENTION_HEADER : ATTENTION_PAYLOAD;
    CHECK((end_attention(&ends.second) & (ATTENTION_HEADER | ATTENTION_PAYLOAD)) == expected);
    (void)close(between[0]);
    (void)close(between[1]);
    ends_close(&ends);
  }
}

/* Calls of the kernel since they were counted last; of the calling thread. */
static _Thread_local uint32_t reads;
static _Thread_local uint32_t writes;
static _Thread_local int64_t moved; /* bytes by these */

ssize_t __real_recvmsg(int socket, struct msghdr *message, int flags);
ssize_t __real_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int socket, struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags);

ssize_t __wrap_recvmsg(int socket, struct msghdr *message, int flags) {
  reads++;
  const ssize_t bytes = __real_recvmsg(socket, message, flags);
  moved += bytes > 0 ? bytes : 0;
  return bytes;
}

ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags) {
  writes++;
  const ssize_t bytes = __real_sendmsg(socket, message, flags);
  moved += bytes > 0 ? bytes : 0;
  return bytes;
}

/* A message is one write, and few reads. */
static void calls_are_few(struct mover *mover) {
  static const uint32_t lengths[] = {0, 8, 1000, 4096, 4097, 32768, 65536};
  enum { MESSAGES = 100 };
  for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    struct ends ends;
    ends_open(&ends, mover, 0);
    for (int i = 0; i < 2 * MESSAGES; i++) {
      if (i == MESSAGES) {
        reads = writes = 0;
      }
      struct completion completion;
      CHECK(end_receive(&ends.second, 1, 0, lengths[l]) == 0);
      CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, lengths[l], REQUEST_SIGNALED | INJECTED) == 0);
      CHECK(take_completions(ends.first.sends, 1, &completion) == 1);
      while (end_poll(ends.second.receives, &completion) == 0) {
      }
      CHECK(completion.bytes == lengths[l]);
    }
    CHECK(writes <= MESSAGES + MESSAGES / 10);
    CHECK(reads <= (lengths[l] > COPIED_BYTES ? 2u : 1u) * MESSAGES + MESSAGES / 5);
    ends_close(&ends);
  }
}

/* A long message is moved by its thread alone. */
static void mover_moves(struct mover *mover) {
  struct ends ends;
  ends_open(&ends, mover, 0);
  CHECK(end_receive(&ends.second, 1, 0, MEMORY_BYTES) == 0);
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, MEMORY_BYTES, REQUEST_SIGNALED | INJECTED) == 0);
  moved = 0;
  CHECK(ends_await(&ends, ends.second.receives).status == COMPLETION_SUCCESS);
  CHECK(moved < MEMORY_BYTES / 16);
  ends_close(&ends);
}

/* What has a tail leaves it for the next read; a tail is read before its socket is closed. */
static void tails_are_left(void) {
  struct ends ends;
  ends_open(&ends, NULL, 0);
  for (int i = 0; i < 4; i++) {
    struct completion completion;
    char unread[4];
    CHECK(end_receive(&ends.second, 1, 0, 8) == 0);
    CHECK(end_poll(ends.second.receives, &completion) == 0); // finds nothing
    CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 8, INJECTED) == 0);
    CHECK(end_poll(ends.second.receives, &completion) == 1);
    CHECK(recv(ends.second.in_socket, unread, sizeof unread, MSG_PEEK | MSG_DONTWAIT) == (i == 0 ? -1 : TAIL_BYTES));
  }
  F.read_tail(ends.second.in);
  char unread;
  CHECK(recv(ends.second.in_socket, &unread, 1, MSG_PEEK | MSG_DONTWAIT) == -1);
  ends_close(&ends);
}

/* What comes in pieces of any length is put together. */
static void pieces_are_put_together(void) {
  for (uint32_t piece = 1; piece < 9000; piece = piece * 3 + 1) {
    struct ends ends;
    ends_open(&ends, NULL, 1);
    const uint32_t lengths[] = {0, 1, 31, 1024, 1025, 4096, 4097, 9000, 0, 12000, 5};
    enum { COUNT = sizeof lengths / sizeof *lengths };
    int between[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, between) == 0);
    ends.second.in->stream.socket = between[1];
    for (int i = 0; i < MEMORY_BYTES; i++) {
      ends.first.memory[i] = (unsigned char)(i * 7);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
      CHECK(end_receive(&ends.second, i, i << 16, 1 << 16) == 0);
      CHECK(end_send(&ends.first, i, REQUEST_SEND, i << 16, lengths[i], INJECTED) == 0);
    }
    uint64_t received = 0;
    while (received < COUNT) {
      unsigned char bytes[9000];
      const ssize_t some = recv(ends.second.in_socket, bytes, piece, MSG_DONTWAIT);
      CHECK(some <= 0 || write(between[0], bytes, (size_t)some) == some);
      pair_poll(ends.first.pair);
      struct completion completion;
      if (end_poll(ends.second.receives, &completion) == 1) {
        CHECK(completion.status == COMPLETION_SUCCESS && completion.work_request == received);
        CHECK(completion.bytes == lengths[received]);
        const uint64_t at = received++ << 16;
        CHECK(memcmp(ends.first.memory + at, ends.second.memory + at, completion.bytes) == 0);
      }
    }
    (void)close(between[0]);
    (void)close(between[1]);
    ends_close(&ends);
  }
}

/* Memory is left alone once it is taken back, in the middle of a message. */
static void memory_is_taken_back(struct mover *mover, bool sender) {
  for (int round = 0; round < 10; round++) {
    struct ends ends;
    ends_open(&ends, mover, 0);
    CHECK(end_receive(&ends.second, 1, 0, MEMORY_BYTES) == 0);
    CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, MEMORY_BYTES, REQUEST_SIGNALED) == 0);
    for (uint32_t i = random_below(20); i > 0; i--) {
      pair_poll(ends.second.pair);
      pair_poll(ends.first.pair);
    }
    struct end *end = sender ? &ends.first : &ends.second;
    end_deregister(end);
    memset(end->memory, 1, MEMORY_BYTES);
    const struct completion completion = ends_await(&ends, sender ? ends.first.sends : ends.second.receives);
    CHECK(completion.status == COMPLETION_LOCAL_PROTECTION || completion.status == COMPLETION_SUCCESS);
    for (uint32_t i = 0; i < MEMORY_BYTES; i++) {
      CHECK(end->memory[i] == 1);
    }
    ends_close(&ends);
  }
}

/* What the peer does not have fails when the connection ends, and what it refuses, as it says. */
static void failures_are_told(void) {
  struct ends ends;
  ends_open(&ends, NULL, 0);
  CHECK(end_send(&ends.first, 1, REQUEST_WRITE, 0, 100, REQUEST_SIGNALED) == 0); // to address 0
  CHECK(ends_await(&ends, ends.first.sends).status == COMPLETION_REMOTE_ACCESS);
  CHECK(state_of(ends.first.pair) == STATE_ERROR && (end_attention(&ends.first) & ATTENTION_FAILED) != 0);
  ends_close(&ends);

  ends_open(&ends, NULL, 0);
  CHECK(end_receive(&ends.second, 5, 0, 10) == 0);
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 11, REQUEST_SIGNALED) == 0);
  CHECK(ends_await(&ends, ends.second.receives).status == COMPLETION_LOCAL_LENGTH);
  CHECK(ends_await(&ends, ends.first.sends).status == COMPLETION_INVALID_REQUEST);
  ends_close(&ends);

  ends_open(&ends, NULL, 0);
  F.set(ends.first.pair, WORD_RNR_RETRY, 0);
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 11, REQUEST_SIGNALED) == 0);
  CHECK(ends_await(&ends, ends.first.sends).status == COMPLETION_RECEIVER_NOT_READY);
  ends_close(&ends);

  ends_open(&ends, NULL, 0);
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, 11, REQUEST_SIGNALED) == 0);
  CHECK(end_send(&ends.first, 2, REQUEST_SEND, 0, 11, REQUEST_SIGNALED) == 0);
  (void)shutdown(ends.second.in_socket, SHUT_RDWR);
  CHECK(ends_await(&ends, ends.first.sends).status == COMPLETION_RETRY_EXCEEDED);
  CHECK(ends_await(&ends, ends.first.sends).status == COMPLETION_FLUSHED);
  CHECK((end_attention(&ends.first) & ATTENTION_OUT_ENDED) != 0);
  ends_close(&ends);
}

/* Its memory is free when it is posted, and no key is looked at. */
static void inline_payloads_are_copied(void) {
  struct ends ends;
  ends_open(&ends, NULL, 0);
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, INLINE_BYTES + 1, REQUEST_INLINE) == EINVAL);
  CHECK(end_send(&ends.first, 1, 4, 0, 8, 0) == EOPNOTSUPP);
  memset(ends.first.memory, 5, INLINE_BYTES);
  struct outbound *connection = ends.first.pair->outbound;
  ends.first.pair->outbound = NULL;
  CHECK(end_send(&ends.first, 1, REQUEST_SEND, 0, INLINE_BYTES, REQUEST_INLINE) == 0);
  ends.first.pair->outbound = connection;
  memset(ends.first.memory, 6, INLINE_BYTES);
  CHECK(end_receive(&ends.second, 1, 0, INLINE_BYTES) == 0);
  CHECK(ends_await(&ends, ends.second.receives).status == COMPLETION_SUCCESS);
  CHECK(ends.second.memory[0] == 5 && ends.second.memory[INLINE_BYTES - 1] == 5);
  ends_close(&ends);
}

/* Keys come and go, and what has one is found by it alone. */
static void keys_are_found(void) {
  struct regions regions = {0};
  enum { REGIONS = 300 };
  struct region *made[REGIONS] = {0};
  for (int i = 0; i < 20000; i++) {
    const uint32_t slot = random_below(REGIONS);
    const struct region like = {.address = 4096 * (slot + 1), .length = 4096, .domain = DOMAIN, .access = 1,
                                .local_key = slot * 977 + 1, .remote_key = slot * 512 + 3};
    if (made[slot] == NULL) {
      CHECK((made[slot] = regions_add(&regions, &like)) != NULL && regions_add(&regions, &like) == NULL);
    } else {
      CHECK(regions_local(&regions, DOMAIN, like.local_key, like.address + 1, 4095, 1) == made[slot]);
      CHECK(regions_remote(&regions, DOMAIN, like.remote_key, like.address, 4096, 0) == made[slot]);
      region_leave(made[slot]);
      const bool is_used = random_below(4) == 0;
      if (!is_used) {
        region_leave(made[slot]);
      }
      CHECK(regions_local(&regions, DOMAIN, like.local_key, like.address + 1, 4096, 1) == NULL);
      CHECK(regions_local(&regions, DOMAIN, like.local_key, like.address - 1, 1, 1) == NULL);
      CHECK(regions_local(&regions, DOMAIN + 1, like.local_key, like.address, 1, 1) == NULL);
      CHECK(regions_local(&regions, DOMAIN, like.local_key, like.address, 1, 2) == NULL);
      const bool is_left = regions_remove(&regions, made[slot]);
      CHECK(is_left || !is_used);
      CHECK(regions_local(&regions, DOMAIN, like.local_key, like.address, 1, 1) == NULL);
      if (is_left) {
        region_free(made[slot]);
      }
      made[slot] = NULL;
    }
  }
  for (int i = 0; i < REGIONS; i++) {
    if (made[i] != NULL && regions_remove(&regions, made[i])) {
      region_free(made[i]);
    }
  }
  regions_end(&regions);
}

int main(int argc, char **argv) {
  const long from = argc > 1 ? atol(argv[1]) : (long)time(NULL);
  printf("seed %ld\n", from);
  memcpy(seed, &from, sizeof seed);
  CHECK(crc32c(0, "123456789", 9) == 0xE3069283);
  CHECK(crc32c(crc32c(0, "1234", 4), "56789", 5) == 0xE3069283);
  keys_are_found();
  calls_are_few(NULL);
  tails_are_left();
  pieces_are_put_together();
  inline_payloads_are_copied();
  failures_are_told();
  changed_bits_are_seen();
  any_bytes_are_borne(500);
  struct mover *mover = F.start_mover("mover", 5000);
  mover_moves(mover);
  for (int movers = 0; movers < 2; movers++) {
    struct mover *its = movers == 0 ? NULL : mover;
    messages_arrive(its, 0, 100);
    messages_arrive(its, 3, 100);
    parts_are_put_together(its, 0);
    parts_are_put_together(its, 3);
    longest_message_is_kept_to(its);
    traffic_goes_both_ways(its);
    memory_is_taken_back(its, true);
    memory_is_taken_back(its, false);
  }
  F.stop_mover(mover);
  F.free_mover(mover);
  return 0;
}
