#include "device.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT(array, number) (&(array)[(number) % (sizeof(array) / sizeof *(array))])

/* ---- the test's failure, and chance ---- */

static uint64_t drawn_from, state;

void draw_from(uint64_t seed) {
  drawn_from = seed;
  state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
  draw(1);
}

uint64_t draw(uint64_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) % bound;
}

_Noreturn void failed_check(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: not so: %s (lane-test %llu 1)\n", file, line, what, (unsigned long long)drawn_from);
  fflush(NULL);
  abort();
}

/* ---- memory ---- */

static struct {
  uint64_t address, length;
  uint32_t key;
  bool by_peer;
} keys[64];
static unsigned key_count;
static uint32_t last_key = 1000;

uint32_t device_register(const void *address, uint64_t length, bool by_peer) {
  CHECK(key_count < sizeof keys / sizeof *keys);
  keys[key_count].address = (uint64_t)(uintptr_t)address;
  keys[key_count].length = length;
  keys[key_count].by_peer = by_peer;
  keys[key_count].key = ++last_key;
  key_count++;
  return last_key;
}

void device_forget_keys(void) {
  key_count = 0;
}

static bool is_registered(struct memory_piece piece, bool by_peer) {
  for (unsigned i = 0; i < key_count; i++) {
    if (keys[i].key == piece.key) {
      return keys[i].by_peer == by_peer && piece.address >= keys[i].address && piece.length <= keys[i].length &&
             piece.address - keys[i].address <= keys[i].length - piece.length;
    }
  }
  return false;
}

/* ---- completions ---- */

static void complete(struct device_end *end, struct completion completion, uint64_t frees) {
  CHECK(end->completed - end->polled < sizeof end->completions / sizeof *end->completions);
  if (completion.status != COMPLETION_SUCCESS) {
    completion.opcode = draw(2) ? COMPLETION_WRITE : COMPLETION_RECEIVE_WITH_IMMEDIATE; /* not defined */
    completion.immediate = 0;
    completion.vendor_error = (uint32_t)draw(1000);
  }
  *SLOT(end->completions, end->completed) = (struct device_completion){completion, frees};
  end->completed++;
}

static bool is_send(const struct send_request *request) {
  return request->opcode == REQUEST_SEND_WITH_IMMEDIATE;
}

/* The oldest send is over; only errors are told of one that is not signalled. */
static void retire(struct device_end *end, uint32_t status) {
  const struct send_request *request = &SLOT(end->sends, end->acknowledged)->request;
  end->acknowledged++;
  if (status != COMPLETION_SUCCESS || (request->flags & REQUEST_SIGNALED) != 0) {
    const struct completion completion = {
        .work_request = request->number,
        .status = status,
        .opcode = is_send(request) ? COMPLETION_SEND : COMPLETION_WRITE,
    };
    complete(end, completion, end->acknowledged);
  }
}

static void tell_arrival(struct device_end *end) {
  complete(end, *SLOT(end->arrivals, end->told), 0);
  end->told++;
}

/* What has been acknowledged, or taken a receive, has succeeded, be it told of behind the errors. */
static void flush(struct device_end *end, uint32_t status) {
  end->failed = true;
  while (end->told < end->arrived && draw(2)) {
    tell_arrival(end);
  }
  for (; end->acknowledged < end->posted; status = STATUS_FLUSHED) {
    retire(end, status);
  }
  while (end->told < end->arrived) {
    tell_arrival(end);
  }
  for (; end->receives > 0; end->receives--) {
    complete(end, (struct completion){.status = STATUS_FLUSHED}, 0);
  }
}

/* ---- steps ---- */

/* The next send reaches the peer, or its first bytes do. */
static void reach(struct device_end *end) {
  struct device_send *send = SLOT(end->sends, end->reached);
  const struct send_request *request = &send->request;
  const struct device_receive *receive = SLOT(end->peer->asked, end->peer->arrived);
  const bool inlined = (request->flags & REQUEST_INLINE) != 0, sends = is_send(request);
  if (sends && end->peer->receives == 0) {
    return; // it is held back
  }
  const struct memory_piece to = {sends ? receive->piece.address : request->remote_address, send->piece.length,
                                  sends ? receive->piece.key : request->remote_key};
  CHECK(!sends || to.length <= receive->piece.length);
  if ((!inlined && !send->is_injected && !is_registered(send->piece, false)) || !is_registered(to, !sends)) {
    while (end->acknowledged < end->reached) {
      retire(end, COMPLETION_SUCCESS);
    }
    flush(end, STATUS_REMOTE_ACCESS);
    return;
  }
  const unsigned char *from = inlined             ? send->inlined
                              : send->is_injected ? send->injected
                                                  : (const unsigned char *)(uintptr_t)send->piece.address;
  const uint32_t before = send->copied;
  send->copied = before == 0 && draw(4) == 0 ? (uint32_t)draw(to.length + UINT64_C(1)) : to.length;
  memcpy((unsigned char *)(uintptr_t)to.address + before, from + before, send->copied - before);
  if (send->copied < to.length) {
    return;
  }
  end->reached++;
  const unsigned chance = end->device->answer_chance;
  if ((request->flags & FLAG_DELIVERY_COMPLETE) != 0 || (chance != 0 && draw(chance) == 0)) {
    atomic_store(&end->delivered, end->reached);
  }
  if (sends || request->opcode == REQUEST_WRITE_WITH_IMMEDIATE) {
    CHECK(end->peer->receives > 0);
    end->peer->receives--;
    *SLOT(end->peer->arrivals, end->peer->arrived) = (struct completion){
        .work_request = receive->number,
        .opcode = sends ? COMPLETION_RECEIVE : COMPLETION_RECEIVE_WITH_IMMEDIATE,
        .bytes = sends ? to.length : be32toh(request->immediate),
        .immediate = request->immediate,
    };
    end->peer->arrived++;
  }
}

/* Completes a send whose memory is read and whose answer is not waited for. */
static void inject(struct device_end *end) {
  struct device_send *send = SLOT(end->sends, end->acknowledged);
  if ((send->request.flags & FLAG_INJECT_COMPLETE) == 0 || end->posted - end->reached >= DEVICE_SLOTS / 2) {
    return;
  }
  if (!is_registered(send->piece, false)) {
    flush(end, STATUS_LOCAL_PROTECTION);
    return;
  }
  memcpy(send->injected, (const void *)(uintptr_t)send->piece.address, send->piece.length);
  send->is_injected = true;
  retire(end, COMPLETION_SUCCESS);
}

static bool passes(const struct device_end *end) {
  return !end->device->cut && !end->failed && !end->peer->failed;
}

static void step_end(struct device_end *end) {
  switch (draw(3)) {
    case 0:
      if (passes(end) && end->reached < end->posted) {
        reach(end);
      }
      break;
    case 1:
      if (passes(end) && end->acknowledged < end->reached) {
        retire(end, COMPLETION_SUCCESS);
      } else if (passes(end) && end->acknowledged < end->posted) {
        inject(end);
      }
      break;
    default:
      if (end->told < end->arrived) {
        tell_arrival(end);
      }
  }
  if (!passes(end) && !end->failed && end->acknowledged < end->posted && draw(16) == 0) {
    flush(end, STATUS_RETRIES);
  }
}

void device_step(struct device *device) {
  step_end(&device->ends[draw(2)]);
}

static void let_some_reach(struct device_end *end) {
  while (passes(end) && end->reached < end->posted && draw(4) != 0) {
    reach(end);
  }
}

void device_cut(struct device *device) {
  let_some_reach(&device->ends[0]);
  let_some_reach(&device->ends[1]);
  device->cut = true;
}

void device_fence(struct device_end *end) {
  if (!end->failed) {
    let_some_reach(end);
    flush(end, STATUS_FLUSHED);
  }
}

void device_connect(struct device *device, int send_depth, int other_send_depth, int receive_depth) {
  const struct device chances = {.refusal_chance = device->refusal_chance, .answer_chance = device->answer_chance};
  *device = chances;
  for (int i = 0; i < 2; i++) {
    struct device_end *end = &device->ends[i];
    end->device = device;
    end->peer = &device->ends[1 - i];
    end->send_depth = i == 0 ? send_depth : other_send_depth;
    end->receive_depth = receive_depth;
  }
}

int device_occupied(const struct device_end *end) {
  int occupied = 0;
  for (uint64_t number = end->freed; number < end->posted; number++) {
    occupied += SLOT(end->sends, number)->stray ? 0 : 1;
  }
  return occupied;
}

/* ---- what a lane calls ---- */

/* An errno, if the post is to be refused. */
static int refusal(struct device_end *end) {
  if (end->refusing != 0 && end->accepting-- == 0) {
    const int result = end->refusing;
    end->refusing = 0;
    return result;
  }
  const unsigned chance = end->device->refusal_chance;
  return chance != 0 && draw(chance) == 0 ? ENOMEM : 0;
}

int device_post_send(void *queue_pair, struct send_request *requests, struct send_request **refused) {
  struct device_end *end = queue_pair;
  for (; requests != NULL; requests = requests->next) {
    const int result = refusal(end);
    if (result != 0) {
      for (uint64_t number = end->freed; number < end->posted; number++) {
        struct device_send *before = SLOT(end->sends, number);
        before->stray |= before->request.number == requests->number;
      }
      *refused = requests;
      return result;
    }
    CHECK(requests->piece_count == 1 && device_occupied(end) < end->send_depth);
    CHECK(end->posted - end->freed < DEVICE_SLOTS && end->posted - end->reached < DEVICE_SLOTS);
    struct device_send *send = SLOT(end->sends, end->posted);
    *send = (struct device_send){.request = *requests, .piece = *requests->pieces};
    if ((requests->flags & REQUEST_INLINE) != 0) {
      CHECK(send->piece.length <= DEVICE_INLINE);
      memcpy(send->inlined, (const void *)(uintptr_t)send->piece.address, send->piece.length);
    }
    end->posted++;
    if (requests->opcode == REQUEST_WRITE_WITH_IMMEDIATE || is_send(requests)) {
      end->messages++;
      end->bytes += is_send(requests) ? send->piece.length : be32toh(requests->immediate);
    }
    if (end->failed) {
      retire(end, STATUS_FLUSHED);
    }
  }
  return 0;
}

int device_post_receive(void *queue_pair, struct receive_request *requests, struct receive_request **refused) {
  struct device_end *end = queue_pair;
  for (; requests != NULL; requests = requests->next) {
    const int result = refusal(end);
    if (result != 0) {
      *refused = requests;
      return result;
    }
    if (end->failed) {
      complete(end, (struct completion){.status = STATUS_FLUSHED}, 0);
      continue;
    }
    CHECK(end->receives < end->receive_depth);
    *SLOT(end->asked, end->arrived + (uint64_t)end->receives) = (struct device_receive){
        requests->number, requests->piece_count == 0 ? (struct memory_piece){0} : *requests->pieces};
    end->receives++;
  }
  return 0;
}

int device_poll(void *queue, int entries, struct completion *completions) {
  struct device_end *end = queue;
  const int most = draw(2) ? entries : (int)draw((uint64_t)entries + 1);
  int count = 0;
  for (; count < most && end->polled < end->completed; count++, end->polled++) {
    const struct device_completion *completion = SLOT(end->completions, end->polled);
    completions[count] = completion->completion;
    end->errors += completion->completion.status != COMPLETION_SUCCESS;
    end->freed = completion->frees > end->freed ? completion->frees : end->freed;
  }
  return count;
}
