/*
 * The fabric: one sparse file that all processes of the simulated devices map, whatever their network namespace.
 *
 * Each shared word has one writer, who publishes by a release store, so that a process that is killed at any
 * instruction leaves nothing half visible. Exceptions are counters and wake-up bits, which are atomic, and what the
 * registry's lock guards: creation and removal. That lock is one of the kernel's on a file, and goes with its holder.
 *
 * A process is alive while it holds the lock of its byte in a second file. The kernel releases it after the process's
 * memory is gone, and no child inherits it.
 */
#ifndef FABRIC_H
#define FABRIC_H

#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  PROCESSES = 256,
  PORTS = 256,
  RULES = 64,
  SLOTS = 4096,  /* queue pairs, and separately rings */
  NAME_SIZE = 32,
  PORT_GIDS = 16,
  SEGMENT = 32 * 1024,  /* the longest payload of a packet */
  NO_RING = -1,
  NO_PORT = -1,
};

typedef struct FabricHeader {
  _Atomic uint64_t magic;  /* written last */
  uint64_t ring_bytes;
  uint64_t seed;
  _Atomic uint64_t generation;  /* of rules and what else simverbs-ctl sets */
  _Atomic uint64_t next_serial;  /* of rules */
} FabricHeader;

typedef struct Process {
  _Atomic uint64_t nonce;  /* 0: free */
  int32_t pid;  /* in its own namespace; for people, and for those who kill */
  char node[NAME_SIZE];
  _Atomic uint64_t generation;  /* of the rules and ports that it goes by */
  _Atomic uint32_t bell;  /* a futex */
  _Atomic uint32_t asleep;  /* its NIC thread wants the bell to be rung */
  _Atomic uint64_t summary;  /* of pending: which words have bits */
  _Atomic uint64_t pending[SLOTS / 64];  /* queue pairs that somebody has news for */
} Process;

typedef struct PortTable {
  uint8_t gid[PORT_GIDS][16];
  uint32_t type[PORT_GIDS];  /* UINT32_MAX: empty */
  uint32_t gids;
  uint32_t ip, prefix;  /* of its IPv4 address, host order; prefix 0 without one */
  uint32_t mtu;  /* enum ibv_mtu */
} PortTable;

enum DeviceFailure { PORT_WORKS, PORT_FAILED, PORT_REMOVED };

typedef struct Port {
  _Atomic uint32_t used;
  char node[NAME_SIZE], name[NAME_SIZE];
  _Atomic uint32_t link_up;  /* as the interface; every process of the node finds the same */
  _Atomic uint32_t forced_down, failed;  /* by simverbs-ctl: a port's state below ACTIVE, a DeviceFailure; or 0 */
  _Atomic uint64_t version;  /* table[version % 2] is current; the other one is free to be written */
  PortTable table[2];  /* by who holds the registry */
  _Atomic uint64_t packets, bytes;  /* that were executed here */
  _Atomic uint64_t free_at;  /* CLOCK_MONOTONIC, ns: from then on its line is idle, as far as a model of time says */
} Port;

/* One by whose ring packets go. Its number is slot | reuse << 12, so that a stale one is recognised. */
typedef struct Slot {
  _Atomic uint32_t number;  /* 0: free */
  uint32_t reuse;
  _Atomic uint32_t owner;  /* process */
  _Atomic uint64_t owner_nonce;
  _Atomic uint32_t state;  /* enum ibv_qp_state, or one of SlotState */
  _Atomic uint64_t sending;  /* the link by which it sends, since RTS; 0: none */
  /* set before sending is */
  int32_t ring, port;
  _Atomic uint32_t peer, sq_psn, rq_psn, path_mtu, pkey;
  uint32_t incarnation;
  uint8_t gid[16], peer_gid[16];
  _Atomic uint32_t astray;  /* the entry of the GID table that it was connected by has become another */

  /* as responder, about its peer's ring; for who sends by the link in bound only */
  _Alignas(64) _Atomic uint64_t bound;
  _Atomic uint64_t head;  /* bytes of the ring it is through with */
  _Atomic uint64_t executed, acked;  /* messages */
  _Atomic uint64_t nak;  /* (message + 1) << 8 | completion status */
  _Atomic uint64_t rnr;  /* the message + 1 that waits for a receive */
  _Atomic uint32_t rnr_timer;
  _Atomic uint64_t response_head;  /* as requester: bytes of the responses it is through with */
} Slot;

enum SlotState { SLOT_MUTE = 16, SLOT_DESTROYED };

/* A ring outlives its queue pair while its packets are on the wire. A link is number << 32 | incarnation. */
typedef struct Ring {
  _Atomic uint64_t link;  /* 0: free, or about to be */
  _Atomic uint32_t taken;  /* under the registry's lock */
  _Atomic uint32_t owner;
  _Atomic uint64_t owner_nonce;
  _Atomic uint32_t reader;  /* its peer's number */
  _Atomic uint32_t abandoned;  /* nothing in it is sent again */
  _Alignas(64) _Atomic uint64_t tail;
  _Atomic uint64_t response_tail;
} Ring;

enum PacketFlag { PACKET_FIRST = 1, PACKET_LAST = 2, PACKET_PAD = 4, PACKET_PIERCE = 8, PACKET_FLIP = 16,
  PACKET_LIE = 32, PACKET_HELD = 64  /* by a rule, so that no other one loses it */ };

typedef struct Packet {
  uint8_t opcode, flags;
  uint16_t unused;
  uint32_t length;  /* of its payload; of a response too */
  uint64_t address;
  uint32_t key, immediate;
  uint64_t message;
  uint64_t total;  /* what the message has from here on; of a response, where in the message it goes */
  uint64_t due;  /* CLOCK_MONOTONIC, ns; 0: at once */
  uint64_t compare_add, swap;
} Packet;

_Static_assert(sizeof(Packet) == 64, "packets are aligned as cache lines");

typedef enum Action {
  RULE_CUT, RULE_HOLD, RULE_DELAY, RULE_LOSS, RULE_ACK_LOSS, RULE_BREAK, RULE_LIE, RULE_FLIP, RULE_MODEL, RULE_RNR,
  RULE_KILL_STAGE, RULE_KILL_EXECUTE, RULE_KILL_ACK, RULE_QP_ERROR, RULE_QP_MUTE, RULE_QP_FATAL,
  RULE_CQ_OVERRUN, RULE_STALL, RULE_LOSS_OVER, RULE_OPEN, RULE_STOP,
} Action;

typedef struct Rule {
  _Atomic uint64_t serial;  /* 0: none; nothing else changes while it is set */
  uint32_t action;
  char from_node[NAME_SIZE], from_device[NAME_SIZE], to_node[NAME_SIZE], to_device[NAME_SIZE];  /* "*": any */
  uint32_t queue_pair;  /* 0: any */
  uint32_t pierce;
  uint64_t least, most;  /* ns, bytes, bytes per second, parts per million, messages: as the action says */
  uint64_t after, every, times;  /* of the moments that match */
  uint64_t until;  /* CLOCK_MONOTONIC, ns; 0: no end */
  _Atomic uint64_t seen, strikes;
} Rule;

typedef struct Fabric {
  FabricHeader *header;
  Process *processes;
  Port *ports;
  Rule *rules;
  Slot *slots;
  Ring *rings;
  uint8_t *ring_data;
  int fd, lock_fd;
} Fabric;

extern Fabric fabric;
extern bool fabric_made;  /* by this process */

/* Whether queue pairs are of the same partition, and one is a full member of it. */
static inline bool same_partition(const Slot *a, const Slot *b) {
  uint32_t one = atomic_load(&a->pkey), other = atomic_load(&b->pkey);

  return !((one ^ other) & 0x7fff) && (one | other) & 0x8000;
}

static inline uint32_t slot_of(uint32_t number) { return number % SLOTS; }

/* Three quarters of a ring hold requests, the last one the answers to its peer's. */
static inline uint64_t request_bytes(void) { return fabric.header->ring_bytes / 4 * 3; }
static inline uint64_t response_bytes(void) { return fabric.header->ring_bytes / 4; }
static inline uint8_t *ring_at(int ring) { return fabric.ring_data + (uint64_t)ring * fabric.header->ring_bytes; }

enum { HEADER = sizeof(Packet) };

/* What a packet takes of its ring. */
static inline uint64_t packet_bytes(uint64_t payload) { return HEADER + (payload + HEADER - 1) / HEADER * HEADER; }

uint64_t now_ns(void);

/* Maps the file that SIMVERBS_FABRIC names, or that path; makes it where it is absent. Returns 0 or an errno. */
int fabric_open(const char *path);

void registry_lock(void);
void registry_unlock(void);

/* Whether that process still is; by a system call. */
bool process_alive(uint32_t process, uint64_t nonce);

/* Which process this is; -1 before it has joined. */
extern int self;
extern uint64_t self_nonce;

/* Makes this process one of the fabric's. Returns 0 or an errno. */
int fabric_join(void);

/* Tells the owner of a queue pair that there is news. */
void notify(uint32_t slot);

/* Wakes the process's NIC thread, whatever for. */
void ring_bell(uint32_t process);

/* Wakes all, after a change of rules or ports. */
void announce(void);

/* Adds the rules of a text, ';' between; on stderr what cannot be read. Returns 0 or EINVAL. */
int add_rules(const char *text);

/* Takes all rules away. */
void clear_rules(void);

/* Takes a slot, with its number set last; its index, or -1. */
int slot_take(void);

/* Takes a ring whose memory is there; its index, or NO_RING. */
int ring_take(uint64_t link, uint32_t reader);

/* Its packets stay until the reader is through with them. */
void ring_abandon(int ring);

/* Frees what nobody can use any more. The registry's lock is held. */
void collect(void);

#endif
