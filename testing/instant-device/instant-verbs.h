/*
 * instant-verbs - a stand-in for libibverbs.so.1 in which the NIC costs one memcpy.
 *
 * It serves ONE process that talks to itself (net-bench). A work request is
 * carried out inside ibv_post_send, on the caller's thread, as a copy into the
 * memory of the destination queue pair; its completions are in the CQs before
 * ibv_post_send returns. What remains when a transport runs over it is the
 * software overhead of that transport.
 *
 * It is meant to be honest rather than lenient: what a real HCA refuses is refused
 * here (state transitions and their mandatory attributes, keys, bounds, access
 * flags, full queues, CQ overruns), because a transport that is fast only on a
 * sloppy device has not been measured.
 *
 * Environment:
 *   INSTANTVERBS_DEVICES  name=ipv4[/prefix][,...]   default  instant0=127.0.0.1/8
 *                         One RoCE device with one port for each entry. GID 0 is a
 *                         link-local IPv6 address (RoCE v2), GID 1 the same as RoCE
 *                         v1, GID 2 ::ffff:ipv4 as RoCE v1, GID 3 the same as v2.
 *                         INSTANTVERBS_SIMPLE_GIDS=1: only GID 0 (link-local, v2)
 *                         and GID 1 (IPv4, v2), as rxe has them.
 *   INSTANTVERBS_LATE=n   hold back every n-th send completion until the next poll
 *                         after the one that would have shown it (default 0: never),
 *                         to exercise the "not yet" paths of a transport.
 *   INSTANTVERBS_QUEUE_PAIR_FAULTS=n
 *                         about every n-th send a queue pair of any device, whoever's it is, goes to the error
 *                         state without an event (default 0: never)
 *   INSTANTVERBS_PORT_FAULTS=n
 *                         about every n-th send a port goes down, or the one that is down comes up (default 0)
 *   INSTANTVERBS_PORT_AWAY_MS=n
 *                         a port that went down so is up again after that time (default 0: by sends, see above)
 *   INSTANTVERBS_GID_MOVES=n
 *                         about every n-th send the IPv4 GID of a device is at another index, as that of an address
 *                         that was removed and is back: its queue pairs fail, and IBV_EVENT_GID_CHANGE says so
 *   INSTANTVERBS_DEVICE_FAULT=n
 *                         after about n sends the first device fails, as by instantverbs_fail_device, and after
 *                         about n more it is back (default 0: never)
 *                         stderr has a line for each of these faults
 *   INSTANTVERBS_MAX_MESSAGE=n
 *                         the ports' longest message in bytes (default 1 GiB)
 *
 * Control, for tests (symbol version INSTANTVERBS_1):
 *   int instantverbs_port(const char *device, int up)
 *       Sets the port state and raises IBV_EVENT_PORT_ERR / PORT_ACTIVE. While it is
 *       down every send on the device completes with IBV_WC_RETRY_EXC_ERR.
 *   uint64_t instantverbs_posted(void)
 *       The number of send work requests carried out since the start.
 *   int instantverbs_queue_pairs(const char *device, uint32_t *numbers, int most)
 *       The device's queue pairs that are ready to send, in the order of their creation.
 *   int instantverbs_fail_polls(uint32_t queue_pair, int result)
 *       From now on ibv_poll_cq of its receive CQ returns that, whatever is in it; no
 *       event says so.
 *   int instantverbs_fail_queue_pair(uint32_t queue_pair)
 *       It raises IBV_EVENT_QP_FATAL, and no completion ever comes from it again: what
 *       is posted on either end of the connection stays outstanding.
 *   int instantverbs_fail_device(const char *device)
 *       The same for all of the device's queue pairs, with one IBV_EVENT_DEVICE_FATAL,
 *       and none can be created or modified any more (EIO). It cannot be opened.
 *   int instantverbs_restore_device(const char *device)
 *       It can be opened again, as one that was plugged in. What was opened before stays as it is.
 * These return -1 where there is no such object.
 *
 * A queue pair that ibv_modify_qp has put into the error or reset state, or that is destroyed, is a fence: when the
 * call has returned no write of the peer's is under way through it.
 *
 * DMA-BUF memory is a memfd or udmabuf, which the device maps. What is written there is withheld until a READ of such
 * memory on the same device, as a NIC's write to a GPU may still be on its way when its completion has been seen.
 * A queue pair that is connected to itself goes on with the port down, and no fault of its own comes to it.
 *
 * Not modelled: time (no latency, no bandwidth, no retry timers: RNR waits for ever
 * unless rnr_retry is 0), packet loss, UD, SRQ, memory windows, multicast, XRC, the
 * extended ibv_qp_ex / ibv_cq_ex calls (they fail with EOPNOTSUPP).
 */
#ifndef INSTANT_VERBS_H
#define INSTANT_VERBS_H

#include "verbs-common.h"

enum { FIRST_QPN = 0x11 };  /* 0 and 1 are special on a real port */

typedef struct RecvWqe {
  uint64_t wr_id;
  int num_sge;
  struct ibv_sge sge[MAX_SGE];
} RecvWqe;

typedef struct SendWqe {  /* a send that has to wait (receiver not ready) */
  struct ibv_send_wr wr;
  struct ibv_sge sge[MAX_SGE];
  uint8_t inline_data[MAX_INLINE];
  uint32_t slot;
} SendWqe;

typedef struct Qp Qp;
struct Qp {
  struct ibv_qp ibv;
  struct ibv_qp_init_attr init;
  struct ibv_qp_attr attr;
  Device *device;
  /* send side */
  Lock send_lock;
  uint32_t sq_tail;  /* work requests accepted so far */
  _Atomic uint32_t sq_free;  /* and those whose slots are free again */
  SendWqe *stalled;  /* ring of sends that wait, in order */
  uint32_t st_head, st_tail;
  _Atomic uint32_t n_stalled;
  /* receive side */
  Lock recv_lock;
  char *rq;  /* entries of rq_stride bytes: no larger than the QP's lists, for the cache */
  size_t rq_stride;
  uint32_t rq_size, rq_head, rq_tail;
  atomic_bool peer_waits;  /* the connected sender has stalled on us */
  bool reachable;  /* decided when the address is set (RTR) */
  atomic_bool mute;  /* has failed: completes nothing any more */
};

/* ---------------------------------------------------------------- what all share; under world where not atomic */

extern Lock lifetime; /* held by who uses a queue pair of others, and by who frees one; taken before its locks */
extern unsigned queue_pair_faults, port_faults, port_away_ms, gid_moves;
extern _Atomic unsigned device_fault;
extern bool faults;  /* whether any of them is asked for */
extern uint32_t next_qp;
extern Qp *_Atomic qps[MAX_OBJECTS];
extern atomic_ulong posted;

/* The receive queue's entry of that number, of which only max_recv_sge elements are there. */
static inline RecvWqe *rq_entry(const Qp *qp, uint32_t number) {
  return (RecvWqe *)(qp->rq + number % qp->rq_size * qp->rq_stride);
}

#define QPN_INDEX(qpn) ((qpn) - FIRST_QPN)

static inline Qp *find_qp(uint32_t qpn) {
  uint32_t i = QPN_INDEX(qpn);

  return i < MAX_OBJECTS ? atomic_load_explicit(&qps[i], memory_order_acquire) : NULL;
}

/* ---------------------------------------------------------------- across the files */

/* The completion of a send; none for an unsignalled success. The send lock is held. */
void complete_send(Qp *qp, const struct ibv_send_wr *wr, uint32_t slot, enum ibv_wc_status status, uint32_t len);

/* To the error state: what has not been carried out is flushed. The send lock is held. */
void fail_sends(Qp *qp);

/* The other half of it, without a lock. */
void flush_receives(Qp *qp);

/* Retries the sends that wait for receiver. */
void kick(Qp *receiver);

/* The same for who holds the lock of lifetimes. */
void kick_while_alive(Qp *receiver);

/* Brings about the faults that are due; no lock is held. */
void plant_faults(void);

int instantverbs_port(const char *device, int up);
int instantverbs_fail_device(const char *device);
int instantverbs_restore_device(const char *device);

int post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
