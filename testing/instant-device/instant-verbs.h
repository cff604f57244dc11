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
 * Not modelled: time (no latency, no bandwidth, no retry timers: RNR waits for ever
 * unless rnr_retry is 0), packet loss, UD, SRQ, memory windows, multicast, XRC, the
 * extended ibv_qp_ex / ibv_cq_ex calls (they fail with EOPNOTSUPP).
 */
#ifndef INSTANT_VERBS_H
#define INSTANT_VERBS_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

/* The header maps these names to inline functions; the functions themselves are
 * what a shared library has to export. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define EXPORT __attribute__((visibility("default")))

enum {
  MAX_DEVICES = 16,
  MAX_GIDS = 4,
  MAX_OBJECTS = 1 << 16,  /* queue pairs, and separately memory regions */
  MAX_WR = 16384,
  MAX_SGE = 16,
  MAX_INLINE = 256,
  MAX_CQE = 1 << 20,
  FIRST_QPN = 0x11,  /* 0 and 1 are special on a real port */
};

/* ---------------------------------------------------------------- locks */

/* A test-and-set lock: uncontended in the measurements, a few ns, like the spin
 * locks of the real providers. */
typedef struct { atomic_flag held; } Lock;

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");  /* nearer to a pause than a yield, which is over at once */
#endif
}

static inline void lock(Lock *l) {
  while (atomic_flag_test_and_set_explicit(&l->held, memory_order_acquire))
    relax();
}

static inline void unlock(Lock *l) {
  atomic_flag_clear_explicit(&l->held, memory_order_release);
}

/* ---------------------------------------------------------------- objects */

typedef struct Context Context;

typedef struct Device {
  struct ibv_device ibv;  /* first: handed out as struct ibv_device * */
  int index;
  uint32_t ip;  /* host order */
  int prefix;
  int gids;
  struct ibv_gid_entry gid[MAX_GIDS];
  atomic_bool up;
  atomic_bool absent;  /* has failed, and is not back */
  Context *contexts;  /* open ones, linked; under world */
} Device;

struct Context {
  struct verbs_context vctx;  /* vctx.context is what the user sees */
  Device *device;
  atomic_bool dead;  /* the device has failed since it was opened */
  int async_write;
  Context *next;
};

typedef struct Channel {
  struct ibv_comp_channel ibv;
  int write_end;
} Channel;

typedef struct Cqe {
  struct ibv_wc wc;
  uint32_t sq_upto;  /* send queue slots below this are free once it is polled */
  bool is_send;
} Cqe;

typedef struct Cq {
  struct ibv_cq ibv;
  Lock lock;
  uint32_t mask, head;    /* head: next to poll */
  _Atomic uint32_t tail;  /* next to fill; written under the lock, read by who polls without it */
  uint32_t queue_pairs;  /* that use it, each end counted; under world */
  atomic_bool overrun;
  atomic_int poll_fails;  /* what a poll returns, or 0 */
  bool armed;
  uint32_t late_count;
  bool hold;  /* INSTANTVERBS_LATE: show nothing at the next poll */
  Cqe *ring;
} Cq;

typedef struct Mr {
  struct ibv_mr ibv;
  uint64_t iova;
  int access;
} Mr;

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

extern Lock world;    /* guards creation, destruction, contexts */
extern Lock lifetime; /* held by who uses a queue pair of others, and by who frees one; taken before its locks */
extern Device devices[MAX_DEVICES];
extern int num_devices;
extern unsigned late_every;
extern unsigned queue_pair_faults, port_faults, port_away_ms, gid_moves;
extern _Atomic unsigned device_fault;
extern bool faults;  /* whether any of them is asked for */
extern uint32_t next_qp;
extern Qp *_Atomic qps[MAX_OBJECTS];
extern Mr *_Atomic mrs[MAX_OBJECTS];
extern atomic_ulong posted;

/* The receive queue's entry of that number, of which only max_recv_sge elements are there. */
static inline RecvWqe *rq_entry(const Qp *qp, uint32_t number) {
  return (RecvWqe *)(qp->rq + number % qp->rq_size * qp->rq_stride);
}

#define QPN_INDEX(qpn) ((qpn) - FIRST_QPN)

static inline Context *context_of(struct ibv_context *c) {
  return (Context *)((char *)c - offsetof(Context, vctx.context));
}

static inline Qp *find_qp(uint32_t qpn) {
  uint32_t i = QPN_INDEX(qpn);

  return i < MAX_OBJECTS ? atomic_load_explicit(&qps[i], memory_order_acquire) : NULL;
}

/* The state is looked at by the peer's thread, too; the field is libibverbs', so it is made atomic here. */
static inline enum ibv_qp_state state_of(const struct ibv_qp *qp) {
  return atomic_load_explicit((const _Atomic(enum ibv_qp_state) *)&qp->state, memory_order_acquire);
}

static inline void set_state(struct ibv_qp *qp, enum ibv_qp_state state) {
  atomic_store_explicit((_Atomic(enum ibv_qp_state) *)&qp->state, state, memory_order_release);
}

/* Keys are index << 8 | nonce, so that a stale key is recognised. */
static inline Mr *find_mr(uint32_t key) {
  uint32_t i = key >> 8;
  Mr *mr = i < MAX_OBJECTS ? atomic_load_explicit(&mrs[i], memory_order_acquire) : NULL;

  return mr && mr->ibv.lkey == key ? mr : NULL;
}

/* The memory behind [addr, addr+len) of a region, or NULL if it may not be used so. */
static inline void *translate(uint32_t key, uint64_t addr, uint64_t len, int access, struct ibv_pd *pd) {
  Mr *mr = find_mr(key);

  if (!mr || mr->ibv.pd != pd || (mr->access & access) != access)
    return NULL;
  if (addr < mr->iova || len > mr->ibv.length || addr - mr->iova > mr->ibv.length - len)
    return NULL;
  return (char *)mr->ibv.addr + (addr - mr->iova);
}

/* ---------------------------------------------------------------- across the files */

/* An asynchronous event for all who have the device open. */
void raise_event(Device *d, struct ibv_async_event e);

/* Adds a completion; a full queue is overrun. For a send, the slots below sq_upto are free once it is polled. */
void push(Cq *cq, const struct ibv_wc *wc, bool is_send, uint32_t sq_upto);

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

int poll_cq(struct ibv_cq *ic, int n, struct ibv_wc *wc);
int req_notify_cq(struct ibv_cq *ic, int solicited_only);
int post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
