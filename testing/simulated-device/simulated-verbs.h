/*
 * simulated-verbs - a stand-in for libibverbs.so.1. README.md says what it simulates, and by which variables it is set.
 *
 * All devices of a process are of one kind. Programs call a context's data path by its pointers, so the kind costs
 * nothing there. Queue pairs of the kind "simulated" connect between the processes, and the network namespaces, of one
 * machine; those of the kind "instant" within the process: see instant.h.
 *
 * A sender stages packets in a ring of shared memory; the target's process carries them out. Whoever posts or polls
 * serves all queue pairs of its process, otherwise the process's NIC thread does.
 *
 * One lock of the process, the engine's, guards its queue pairs. Who holds it writes into memory for peers, so a fence
 * is to have held it: RESET, ERR, destroying, and deregistering memory take it.
 */
#ifndef SIMULATED_VERBS_H
#define SIMULATED_VERBS_H

#include "devices.h"
#include "fabric.h"

typedef struct SendWqe {
  uint64_t wr_id;
  enum ibv_wr_opcode opcode;
  unsigned flags;
  uint32_t immediate, rkey;
  uint64_t remote, compare_add, swap, length;
  uint64_t ack_due;  /* CLOCK_MONOTONIC, ns: its acknowledgement comes no sooner */
  uint64_t paused_until;  /* the same of its last packet, by a rule that delays: the sender's timers run */
  bool answered;  /* all of a READ's or an atomic's response has come */
  enum ibv_wc_status failed;  /* while its response was written */
  int num_sge;
  struct ibv_sge sge[];  /* max_send_sge of them, and the inline bytes after them */
} SendWqe;

typedef struct RecvWqe {
  uint64_t wr_id;
  int num_sge;
  struct ibv_sge sge[];
} RecvWqe;

typedef struct Stalled Stalled;

/* What a queue pair that connects within the process has; see instant.c. */
typedef struct Instant {
  Lock send_lock, recv_lock;
  uint32_t head, tail;  /* of the sends that wait */
  _Atomic uint32_t waiting;  /* so many of them */
  atomic_bool peer_waits;  /* the connected sender has stalled on this end */
  bool reachable;  /* the peer's address, as decided in RTR */
  Stalled *stalled;  /* ring of sends that wait, in order */
} Instant;

typedef enum Unreachable {
  REACHABLE, OWN_PORT_DOWN, PEER_GONE, PEER_NOT_READY, PEER_OTHER, PSN_DIFFERS, PEER_PORT_DOWN, GID_GONE, MTU_DIFFERS,
  PARTITION_DIFFERS, CUT_BY_RULE, PAUSED_BY_RULE,
} Unreachable;

typedef struct Requester {
  _Atomic uint32_t free;  /* requests below it are free again */
  uint64_t head, staged, tail;  /* requests: the oldest outstanding one, the next to stage, the next to post */
  uint64_t link;  /* 0: not ready to send */
  uint8_t *wqes;
  size_t stride;
  uint64_t staged_bytes;  /* of the request that is being staged */
  enum ibv_wc_status refused;  /* what is wrong with that one, or success */
  uint64_t ring_tail, response_head;
  uint64_t last_due;
  uint32_t reads;  /* READs and atomics outstanding */
  uint64_t unreachable_since, rnr_since;  /* 0: not */
} Requester;

typedef struct Responder {
  uint8_t *wqes;
  size_t stride;
  uint32_t rq_head, rq_tail;
  uint64_t bound;  /* the peer's link that is served; 0: none yet */
  uint64_t served;  /* the last one: it is not served again */
  int ring;
  uint64_t head, executed;
  uint64_t response_tail, answered_bytes;  /* of the READ that is being answered */
  uint64_t received_bytes;  /* of the message that comes in */
  bool waits;  /* for a receive to be posted */
  uint64_t due;  /* of the packet at the head, if it is not due */
  bool soon;  /* within microseconds, too soon for a timer */
  uint64_t lost_until;
} Responder;

struct Qp {
  struct ibv_qp ibv;
  struct ibv_qp_init_attr init;  /* with the capacities it really has */
  struct ibv_qp_attr attr;
  Device *device;
  int index;  /* in qps, and of its slot */
  atomic_bool mute;  /* completes nothing any more */
  Instant instant;
  Requester rq;  /* of an instant one: free and tail */
  Responder rs;  /* of an instant one: the queue */
  struct ibv_ece ece;
  /* of a simulated one */
  Slot *slot;
  int ring, peer_port;
  uint64_t fence_at;  /* in ERR: until then writes may land, and nothing is flushed; 0: it is fenced */
  uint64_t rules_out, rules_in;  /* bits of those that match packets to, and from, the peer */
};

typedef struct Kind {
  struct ibv_context_ops data_path;

  /* Has the device serve this process. Returns 0 or an errno. */
  int (*open)(Device *d);

  /* Gives a new queue pair its index, its number, and what else it needs. Returns whether there is room for it. */
  bool (*add)(Qp *qp);

  /* Changes attributes and state, as was found to be valid. The engine is held. Returns 0 or an errno. */
  int (*change)(Qp *qp, const struct ibv_qp_attr *a, int mask, enum ibv_qp_state from, enum ibv_qp_state to);

  /* Has the peer find out that it is in qps no more; then nothing is written through it. The engine is held. */
  void (*remove)(Qp *qp);
} Kind;

extern const Kind *kind;
extern const Kind simulated, instant;
extern pthread_mutex_t engine;
extern Qp *_Atomic qps[MAX_OBJECTS];  /* a simulated one's is the number of its slot */
extern int device_ports[MAX_DEVICES];  /* the devices' entries in the fabric */

/* Returns once the device's firmware has time for a call: 0, or EIO if it is gone. No lock is held. */
int await_firmware(struct ibv_context *c);

/* The errno by which a rule has a device not be opened now, or 0. */
int opening_fails(int port);
extern bool late_fence;  /* ERR is a fence once a flushed request was seen, and not before */
extern _Atomic bool forked;  /* in a child, where nothing works */

static inline Slot *peer_slot(const Qp *qp) { return &fabric.slots[slot_of(qp->attr.dest_qp_num)]; }
static inline SendWqe *send_wqe(const Qp *qp, uint64_t n) {
  return (SendWqe *)(qp->rq.wqes + n % qp->init.cap.max_send_wr * qp->rq.stride);
}
static inline RecvWqe *recv_wqe(const Qp *qp, uint32_t n) {
  return (RecvWqe *)(qp->rs.wqes + n % qp->init.cap.max_recv_wr * qp->rs.stride);
}
static inline uint64_t list_length(const struct ibv_sge *sge, int n) {
  uint64_t len = 0;

  for (int i = 0; i < n; i++)
    len += sge[i].length;
  return len;
}

/* Completes nothing any more. The engine is held. */
static inline void silence(Qp *qp) {
  atomic_store(&qp->mute, true);
  if (qp->slot)
    atomic_store(&qp->slot->state, SLOT_MUTE);
}

static inline bool answers(enum ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* ---------------------------------------------------------------- with the engine held */

/* Stages what fits into the ring. */
void pump(Qp *qp);

/* Takes the peer's acknowledgements and responses. */
void reap(Qp *qp);

/* Carries out what the peer has staged. False: it stopped early, with more to do. */
bool serve(Qp *qp);

/* To the error state: everything outstanding is flushed. */
void fail(Qp *qp);

/* The oldest request has that status; all others are flushed. */
void fail_oldest(Qp *qp, enum ibv_wc_status status);

/* Its ring is not its any more; the packets that are staged stay on the wire. */
void leave_ring(Qp *qp);

/* Completes the oldest request, or the oldest receive by that packet, which is NULL if it is none's. */
void request_done(Qp *qp, const SendWqe *w, enum ibv_wc_status status);
void receive_done(Qp *qp, enum ibv_wc_status status, uint32_t len, const Packet *p);

/* The responder is bound to nothing any more. */
void unbind(Qp *qp);

/* Does what queue pairs of the process have news for. */
void serve_pending(void);

/* Copies into, or out of, the bytes of a list from offset on. False: the list's keys do not allow it. */
bool scatter(const Qp *qp, const struct ibv_sge *sge, int n, uint64_t offset, const uint8_t *from, uint64_t len);
bool gather(const Qp *qp, const struct ibv_sge *sge, int n, uint64_t offset, uint8_t *to, uint64_t len);

void queue_pair_event(Qp *qp, enum ibv_event_type type);

/* All queue pairs of a device are mute, and its contexts of no use. No lock is held. */
void fail_device(Device *d, bool removed);

/* ---------------------------------------------------------------- the engine */

/* Has this process on the fabric, and its NIC thread running. Returns 0 or an errno. */
int engine_start(void);

/* Something has to be looked at later. */
void schedule(void);

/* ---------------------------------------------------------------- ports and rules */

/* Looks at the interfaces and at what simverbs-ctl has set, and raises events. No lock is held. */
void refresh_ports(void);
bool port_is_up(int port);

/* Whether a port passes no packets of a message part of that length, as long as they are on the path. */
bool exceeds_mtu(int port, enum ibv_mtu of_path, uint64_t length);

/* The port with that GID, or NO_PORT. */
int find_port(const uint8_t gid[16], uint32_t type);

/* Whether a device may be used, now that the engine runs; from then on changes of its interface are seen. */
int open_port(const Device *d);

/* Whether both are on one subnet. */
bool ports_connected(int a, int b);

/* Whether the kernel sends from an address of the device's interface to the other one: as ib_core resolves them. */
bool kernel_routes(const Device *d, const union ibv_gid *local, const union ibv_gid *remote);

/* Which rules match the queue pair's packets. */
void match_rules(Qp *qp);

/* One of those rules of that kind that is active, or NULL. It does not count a strike. */
const Rule *find_rule(uint64_t rules, Action action);

/* One by which packets of a message part of that length are lost, or NULL: there are some as long as the path's MTU. */
const Rule *find_loss_of_long(const Qp *qp, uint64_t rules, uint64_t length);

/* The same for a rule that strikes now: its moments are counted. */
const Rule *strike(uint64_t rules, Action action);

/* Rules that act on queue pairs of this process by themselves. */
void apply_rules(void);

/* Has all threads but the caller's stand still, where a rule says so. The engine is held. */
void stop_program(void);

int poll_cq(struct ibv_cq *ic, int n, struct ibv_wc *wc);
int post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
