/* Two queue pairs of software devices, connected by socket pairs as Java connects them. */
#ifndef TRIGON_SOFTWARE_ENDS_H
#define TRIGON_SOFTWARE_ENDS_H

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "software/functions.h"
#include "software/pair.h"

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                              \
    }                                                                       \
  } while (0)

enum { DOMAIN = 7, DEPTH = 64, INLINE_BYTES = 64, COMPLETIONS = 256, MEMORY_BYTES = 4 << 20, FIRST_PSN = 0xFFFFF0 };

/* One end: its device, queues, registered memory, and the sockets of its two connections. */
struct end {
  struct software_device *device;
  struct completion_queue *sends;
  struct completion_queue *receives;
  struct queue_pair *pair;
  struct outbound *out;
  struct inbound *in;
  struct region *region;
  unsigned char *memory;
  int bells[2];
  int out_socket;
  int in_socket;
};

struct ends {
  struct end first;
  struct end second;
};

/* Of the whole memory; keys are the same for both ways. */
void end_register(struct end *end, uint32_t key);
void end_deregister(struct end *end);

/* In the state in which they send; checks are those of connections that go through relays. */
void ends_open(struct ends *ends, struct mover *mover, int64_t checks);
void ends_close(struct ends *ends);

int end_send(struct end *end, uint64_t number, int opcode, uint64_t offset, uint32_t length, uint32_t flags);
int end_receive(struct end *end, uint64_t number, uint64_t offset, uint32_t length);
int end_poll(struct completion_queue *queue, struct completion *completion);

/* Polls both ends until that queue has a completion. */
struct completion ends_await(struct ends *ends, struct completion_queue *queue);

/* What Java has been asked to look at, all together. */
int64_t end_attention(struct end *end);

#endif
