/*
 * What all queue pairs build upon, whichever kind of devices the process has: devices with their ports and GIDs,
 * contexts, asynchronous events, protection domains, memory regions, completion queues, and the attributes that
 * transitions of a queue pair take.
 */
#ifndef DEVICES_H
#define DEVICES_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
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
  MAX_GIDS = 16,
  MAX_PKEYS = 8,
  MAX_OBJECTS = 1 << 16,  /* queue pairs, and separately memory regions */
  MAX_WR = 16384,
  MAX_SGE = 16,
  MAX_INLINE = 256,
  MAX_CQE = 1 << 20,
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
  for (unsigned tries = 1; atomic_flag_test_and_set_explicit(&l->held, memory_order_acquire); tries++)
    if (tries % 1024)
      relax();
    else
      sched_yield();  /* the holder may wait for this CPU */
}

static inline void unlock(Lock *l) {
  atomic_flag_clear_explicit(&l->held, memory_order_release);
}

/* ---------------------------------------------------------------- objects */

typedef struct Context Context;
typedef struct Qp Qp;

typedef struct Device {
  struct ibv_device ibv;  /* first: handed out as struct ibv_device * */
  int index;
  uint32_t ip;  /* host order */
  int prefix;
  enum ibv_mtu mtu;
  uint8_t guid[8];
  int gids;
  struct ibv_gid_entry gid[MAX_GIDS];  /* under world; type UINT32_MAX where there is none */
  atomic_bool up;
  atomic_int down_as;  /* enum ibv_port_state, while it is not up */
  atomic_bool absent;  /* has failed or was removed, and is not back */
  Context *contexts;  /* open ones, linked; under world */
} Device;

struct Context {
  struct verbs_context vctx;  /* vctx.context is what the user sees */
  Device *device;
  atomic_bool dead;  /* the device has failed since it was opened */
  atomic_bool removed;  /* and is not there any more: every call fails */
  int async_write;
  Context *next;
};

typedef struct Channel {
  struct ibv_comp_channel ibv;
  int write_end;
} Channel;

typedef struct Cqe {
  struct ibv_wc wc;
  Qp *sender;  /* NULL: of a receive */
  uint32_t sq_upto;  /* the sender's slots below this are free once it is polled */
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
  bool hold;  /* late_every: show nothing at the next poll */
  Cqe *ring;
} Cq;

typedef struct Mr {
  struct ibv_mr ibv;
  uint64_t iova;
  int access;
  void *mapped;  /* of a DMA-BUF, with the region; else NULL */
  size_t mapped_bytes;
} Mr;

/* ---------------------------------------------------------------- what all share; under world where not atomic */

extern Lock world;  /* guards creation, destruction, contexts, GID tables */
extern Device devices[MAX_DEVICES];
extern int num_devices;  /* negative until they are made */
extern unsigned late_every;  /* every n-th send completion shows one poll late; 0: none */
extern unsigned max_message;  /* the longest message, bytes */
extern uint16_t pkeys[MAX_PKEYS];  /* the partitions of all ports */
extern int num_pkeys;
extern Mr *_Atomic mrs[MAX_OBJECTS];
extern Lock dma_bufs;  /* held by who reads or writes DMA-BUF memory, unless the device has a lock for all memory */
extern atomic_uint dma_buf_regions;

static inline Context *context_of(struct ibv_context *c) {
  return (Context *)((char *)c - offsetof(Context, vctx.context));
}

/* The state is looked at by other threads, too; the field is libibverbs', so it is made atomic here. */
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

static inline bool is_dma_buf(const Mr *mr) { return mr && mr->mapped; }

/* ---------------------------------------------------------------- across the files */

/* Copies as a NIC writes: whoever sees a word sees those at lower addresses. Peers poll such words. */
void ordered_copy(uint8_t *to, const uint8_t *from, size_t len);

/*
 * Copies as a NIC may write where PCIe's relaxed ordering is allowed: the last line of 128 bytes first. Within a line
 * the order is kept, which NCCL's LL128 relies on there too.
 */
void relaxed_copy(uint8_t *to, const uint8_t *from, size_t len);

/*
 * Writes into a region, for a peer: out of order, if the region allows that. In DMA-BUF memory nothing is seen of it
 * before a READ of such memory on the same device: until then a NIC's write may be on its way over PCIe, though its
 * completion has been seen.
 */
void write_region(const Mr *mr, uint8_t *to, const uint8_t *from, size_t len);

/* Such a READ begins. */
void land_writes(const Mr *mr);
/* What the CPU brings about by the driver of GPUs: all that any device has written. */
void land_all_writes(void);

/* The region's memory is not used any more. */
void unmap_dma_buf(Mr *mr);

/* An asynchronous event for all who have the device open. */
void raise_event(Device *d, struct ibv_async_event e);

/* The same, about its only port. */
void raise_port_event(Device *d, enum ibv_event_type type);

/* Adds a completion; a full queue is overrun. The sender's slots below sq_upto are free once it is polled. */
void push(Cq *cq, const struct ibv_wc *wc, Qp *sender, uint32_t sq_upto);

/* No more is added to it, and an event says so. */
void overrun(Cq *cq);

/* Takes up to n completions, as ibv_poll_cq does. */
int take_completions(struct ibv_cq *ic, int n, struct ibv_wc *wc);

/* Removes what a queue pair has completed and nobody has polled. */
void purge(Qp *qp);

int req_notify_cq(struct ibv_cq *ic, int solicited_only);

/* Reads a variable of the environment. */
unsigned number_of(const char *variable, unsigned otherwise);

/* The completion's opcode of a work request. */
enum ibv_wc_opcode completion_of(enum ibv_wr_opcode opcode);

/* A region with keys; NULL with errno. */
struct ibv_mr *add_region(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access);

/* Whether a transition is one of the specification's, with the attributes it needs and none that it does not take. */
bool valid_transition(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask);

/* Takes over what the mask names, but not the state. */
void take_attributes(struct ibv_qp_attr *into, const struct ibv_qp_attr *a, int mask);

/* Whether an address is on the subnet of the device's own address. */
bool same_subnet(const Device *d, const union ibv_gid *local, const union ibv_gid *remote);

/* The device's name and its paths; the next free one of devices. Under world. */
Device *add_device(const char *name);

/* Appends an address to the device's table: IPv4 mapped, or as it is. Under world. */
void add_gid(Device *d, uint32_t type, const uint8_t raw[16]);

#endif
