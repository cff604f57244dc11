/*
 * What two software devices say to each other on a connection, once its preamble is over: requests with their payload
 * one way, responses the other way. trigon.software.wire.WireFormat says what each means, and has the same numbers.
 * Little-endian, as all hosts are that NCCL runs on.
 */
#ifndef TRIGON_SOFTWARE_WIRE_H
#define TRIGON_SOFTWARE_WIRE_H

#include <stdint.h>

enum { REQUEST_BYTES = 32, RESPONSE_BYTES = 16, TAIL_BYTES = 1, CHECKED_HEADER_BYTES = REQUEST_BYTES - 4 };
enum { PSN_BITS = 24, PSN_MASK = (1 << PSN_BITS) - 1 };

/* A test makes it shorter than its memory. */
#ifndef LONGEST_MESSAGE
#define LONGEST_MESSAGE (1 << 30)
#endif
enum { MAX_MESSAGE_BYTES = LONGEST_MESSAGE };

/* Opcodes of requests, and what may be added to them. */
enum { WIRE_WRITE = 1, WIRE_WRITE_WITH_IMMEDIATE = 2, WIRE_SEND = 3, WIRE_SEND_WITH_IMMEDIATE = 6, WIRE_OPCODE = 0xFF };
enum {
  ACKNOWLEDGE_SOON = 0x200,
  UNANSWERED = 0x400,
  WITH_TAIL = 0x800,
  PATIENT = 0x1000,
  CHECKED = 0x2000,
  CHECKED_PAYLOAD = 0x4000
};

/* Kinds of responses, and reasons of a refusal. */
enum { RESPONSE_ACK = 1, RESPONSE_NAK = 2, RESPONSE_NOT_READY = 3 };
enum { NAK_REMOTE_ACCESS = 1, NAK_INVALID_REQUEST = 2, NAK_REMOTE_OPERATION = 3 };

struct request {
  uint32_t opcode;
  uint32_t psn;
  uint64_t address;
  uint32_t key; /* of a SEND: the check of its payload, if it has one */
  uint32_t length;
  uint32_t immediate;
  uint32_t check; /* CRC32C of the bytes before, of a request that is CHECKED; else it says nothing */
};
_Static_assert(sizeof(struct request) == REQUEST_BYTES, "a request's header is as long as the peer expects");

struct response {
  int16_t kind;
  int16_t detail;
  uint32_t psn;
  uint64_t unused;
};
_Static_assert(sizeof(struct response) == RESPONSE_BYTES, "a response is as long as the peer expects");

/* The distance of a PSN from another; negative if it is behind. */
static inline int32_t psn_distance(uint32_t psn, uint32_t from) {
  return (int32_t)((psn - from) << (32 - PSN_BITS)) >> (32 - PSN_BITS);
}

/* CRC32C of more bytes, behind those whose value is that. It begins with 0. */
uint32_t crc32c(uint32_t value, const void *bytes, uint64_t count);

#endif
