#include "software-ends.h"

#include <string.h>
#include <unistd.h>

#define F software_functions

static void *zeros(int64_t bytes) {
  void *memory = calloc(1, (size_t)bytes);
  CHECK(memory != NULL);
  return memory;
}

void end_register(struct end *end, uint32_t key) {
  const int64_t keys = (int64_t)((uint64_t)key << 32 | key);
  end->region = F.add_region(end->device, (int64_t)(uintptr_t)end->memory, MEMORY_BYTES,
                             ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE, DOMAIN, keys);
  CHECK(end->region != NULL);
}

void end_deregister(struct end *end) {
  const bool is_left = F.remove_region(end->device, end->region);
  F.lock(end->pair);
  F.forget(end->pair, end->region);
  F.unlock(end->pair);
  if (is_left) {
    F.free_region(end->region);
  }
  end->region = NULL;
}

static void open_end(struct end *end, uint32_t number, struct mover *mover) {
  CHECK(pipe(end->bells) == 0);
  end->device = F.open(end->bells[1]);
  end->memory = zeros(MEMORY_BYTES);
  end_register(end, 100 + number);
  end->sends = zeros(F.queue_bytes(COMPLETIONS));
  end->receives = zeros(F.queue_bytes(COMPLETIONS));
  CHECK(F.make_queue(end->sends, COMPLETIONS) == 0 && F.make_queue(end->receives, COMPLETIONS) == 0);
  end->pair = zeros(F.pair_bytes(DEPTH, DEPTH, INLINE_BYTES));
  const int64_t capacity[] = {DEPTH, DEPTH, INLINE_BYTES};
  CHECK(F.make_pair(end->pair, end->device, (int64_t)DOMAIN << 32 | number, end->sends, end->receives, mover,
                    capacity) == 0);
  F.attach(end->pair);
  end->out = zeros(F.outbound_bytes());
  end->in = zeros(F.inbound_bytes());
}

static void start(struct end *end, int64_t checks) {
  F.make_outbound(end->out, end->out_socket, NULL, NULL, checks);
  F.make_inbound(end->in, end->in_socket, NULL, NULL);
  F.lock(end->pair);
  F.set(end->pair, WORD_STATE, STATE_READY_TO_SEND);
  F.set(end->pair, WORD_FIRST_PSN, FIRST_PSN);
  F.set(end->pair, WORD_EXPECTED_PSN, FIRST_PSN);
  F.set(end->pair, WORD_RNR_RETRY, 7);
  F.set(end->pair, WORD_ACCESS, ACCESS_REMOTE_WRITE);
  F.connect(end->pair, end->out);
  F.adopt(end->pair, end->in);
  F.unlock(end->pair);
}

void ends_open(struct ends *ends, struct mover *mover, int64_t checks) {
  memset(ends, 0, sizeof *ends);
  open_end(&ends->first, 1, mover);
  open_end(&ends->second, 2, mover);
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  ends->first.out_socket = sockets[0];
  ends->second.in_socket = sockets[1];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  ends->second.out_socket = sockets[0];
  ends->first.in_socket = sockets[1];
  start(&ends->first, checks);
  start(&ends->second, checks);
}

static void close_end(struct end *end) {
  F.lock(end->pair);
  F.set(end->pair, WORD_CLOSED, 1);
  F.reset(end->pair);
  F.unlock(end->pair);
  F.await_mover(end->pair);
  F.detach(end->pair);
  if (end->region != NULL) {
    end_deregister(end);
  }
  F.close(end->device);
  (void)close(end->out_socket);
  (void)close(end->in_socket);
  (void)close(end->bells[0]);
  (void)close(end->bells[1]);
  free(end->pair);
  free(end->out);
  free(end->in);
  free(end->sends);
  free(end->receives);
  free(end->memory);
}

void ends_close(struct ends *ends) {
  close_end(&ends->first);
  close_end(&ends->second);
}

static uint64_t address(const struct end *end, uint64_t offset) {
  return (uint64_t)(uintptr_t)(end->memory + offset);
}

int end_send(struct end *end, uint64_t number, int opcode, uint64_t offset, uint32_t length, uint32_t flags) {
  struct memory_piece piece = {address(end, offset), length, end->region == NULL ? 1 : end->region->local_key};
  struct send_request request = {
      .number = number,
      .pieces = &piece,
      .piece_count = 1,
      .opcode = opcode,
      .flags = flags,
      .immediate = htobe32((uint32_t)number),
  };
  struct send_request *refused;
  return ((post_send_function)F.post_send)(end->pair, &request, &refused);
}

int end_receive(struct end *end, uint64_t number, uint64_t offset, uint32_t length) {
  struct memory_piece piece = {address(end, offset), length, end->region == NULL ? 1 : end->region->local_key};
  struct receive_request request = {.number = number, .pieces = &piece, .piece_count = 1};
  struct receive_request *refused;
  return ((post_receive_function)F.post_receive)(end->pair, &request, &refused);
}

int end_poll(struct completion_queue *queue, struct completion *completion) {
  return ((poll_function)F.poll)(queue, 1, completion);
}

struct completion ends_await(struct ends *ends, struct completion_queue *queue) {
  struct completion_queue *queues[] = {ends->first.sends, ends->first.receives, ends->second.sends,
                                       ends->second.receives};
  const int64_t until = nanos() + INT64_C(60000000000);
  struct completion completion;
  while (nanos() < until) {
    for (int i = 0; i < 4; i++) {
      if (queues[i] == queue) {
        if (end_poll(queue, &completion) == 1) {
          return completion;
        }
      } else if (take_completions(queues[i], 0, &completion) == 0) {
        pair_poll(i < 2 ? ends->first.pair : ends->second.pair);
      }
    }
  }
  fprintf(stderr, "nothing has completed for a minute\n");
  abort();
}

int64_t end_attention(struct end *end) {
  F.hear(end->device);
  return F.get(end->pair, WORD_ATTENTION);
}
