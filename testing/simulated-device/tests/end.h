/* One end of a connection, as the tests use it. Whatever fails ends the process with a line on stderr. */
#ifndef END_H
#define END_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

enum { MEMORY = 1 << 20, DEPTH = 64 };

typedef struct Peer { uint32_t number, rkey; uint64_t address; union ibv_gid gid; } Peer;

typedef struct End {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_cq *sends, *receives;
  struct ibv_qp *qp;
  struct ibv_mr *mr;
  uint8_t *memory;
  Peer peer;
  int gid_index;
  enum ibv_mtu mtu;
  int timeout, retries, rnr_retry;
} End;

#define CHECK(condition, ...) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__); \
      fputc('\n', stderr); \
      _exit(1); \
    } \
  } while (0)

/* Opens the device, with memory of MEMORY bytes; the queue pair is in RESET. */
void end_open(End *e, const char *device);

/* Another queue pair on the same device, memory and completion queues. */
void end_another(End *e, const End *like);

/* Exchanges what the ends need over a socket, and brings the queue pair to RTS. */
void end_connect(End *e, int socket);
void end_to_init(End *e);
int end_to_rtr(End *e);
void end_to_rts(End *e);
void end_move(End *e, enum ibv_qp_state state);

void end_write(End *e, uint64_t id, size_t from, size_t to, size_t len, int flags);
void end_write_immediate(End *e, uint64_t id, size_t from, size_t to, size_t len, uint32_t immediate);
void end_send(End *e, uint64_t id, size_t from, size_t len);
void end_read(End *e, uint64_t id, size_t into, size_t from, size_t len);
void end_add(End *e, uint64_t id, size_t into, size_t at, uint64_t by);
void end_receive(End *e, uint64_t id, size_t into, size_t len);

/* Polls until one is there; the process's alarm is the deadline. */
struct ibv_wc next_completion(struct ibv_cq *cq);

/* The same, which has to be a success with that id. */
void expect_success(struct ibv_cq *cq, uint64_t id);

/* A barrier between the two ends. */
void meet(int socket);

#endif
