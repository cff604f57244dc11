/*
 * The parts of libibverbs' binary interface that a lane uses: <infiniband/verbs.h> need not be there to build, and
 * these layouts have not changed since libibverbs 1.1. Java compares them at the start with what it was generated from
 * (net/facts.c).
 */
#ifndef TRIGON_LANE_VERBS_ABI_H
#define TRIGON_LANE_VERBS_ABI_H

#include <stdint.h>

/* struct ibv_wc. */
struct completion {
  uint64_t work_request;
  uint32_t status;
  uint32_t opcode;
  uint32_t vendor_error;
  uint32_t bytes;
  uint32_t immediate; /* in network order */
  uint32_t queue_pair;
  uint32_t source;
  uint32_t flags;
  uint32_t rest[2];
};

/* enum ibv_wc_status. */
enum {
  COMPLETION_SUCCESS = 0,
  COMPLETION_LOCAL_LENGTH = 1,
  COMPLETION_LOCAL_PROTECTION = 4,
  COMPLETION_FLUSHED = 5,
  COMPLETION_BAD_RESPONSE = 7,
  COMPLETION_INVALID_REQUEST = 9,
  COMPLETION_REMOTE_ACCESS = 10,
  COMPLETION_REMOTE_OPERATION = 11,
  COMPLETION_RETRY_EXCEEDED = 12,
  COMPLETION_RECEIVER_NOT_READY = 13
};

/* enum ibv_wc_opcode and enum ibv_wc_flags. */
enum {
  COMPLETION_SEND = 0,
  COMPLETION_WRITE = 1,
  COMPLETION_RECEIVE = 128,
  COMPLETION_RECEIVE_WITH_IMMEDIATE = 129,
  COMPLETION_HAS_IMMEDIATE = 1 << 1
};

/* struct ibv_sge. */
struct memory_piece {
  uint64_t address;
  uint32_t length;
  uint32_t key;
};

/* struct ibv_send_wr, for RDMA WRITE, RDMA READ and SEND. */
struct send_request {
  uint64_t number;
  struct send_request *next;
  struct memory_piece *pieces;
  int piece_count;
  int opcode;
  unsigned flags;
  uint32_t immediate; /* in network order */
  uint64_t remote_address;
  uint32_t remote_key;
  uint32_t of_other_opcodes[19];
};

/* enum ibv_wr_opcode and enum ibv_send_flags. */
enum {
  REQUEST_WRITE = 0,
  REQUEST_WRITE_WITH_IMMEDIATE = 1,
  REQUEST_SEND = 2,
  REQUEST_SEND_WITH_IMMEDIATE = 3,
  REQUEST_READ = 4
};
enum { REQUEST_SIGNALED = 1 << 1, REQUEST_INLINE = 1 << 3 };

/* Beside them, Trigon's own, which a device of libibverbs does not get: trigon.verbs.SendFlag. */
enum { FLAG_INJECT_COMPLETE = 1 << 16, FLAG_DELIVERY_COMPLETE = 1 << 17 };

/* struct ibv_recv_wr. */
struct receive_request {
  uint64_t number;
  struct receive_request *next;
  struct memory_piece *pieces;
  int piece_count;
};

/* struct ibv_context_ops has them, for a queue pair and a completion queue of its device. */
typedef int (*post_send_function)(void *queue_pair, struct send_request *requests, struct send_request **refused);
typedef int (*post_receive_function)(void *queue_pair, struct receive_request *requests,
                                     struct receive_request **refused);
typedef int (*poll_function)(void *queue, int entries, struct completion *completions);

#endif
