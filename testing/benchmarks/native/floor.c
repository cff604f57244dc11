/*
 * A plugin with no transport at all: Trigon's messages as work requests, in as little C as can be, both ends in one
 * process and on one thread. What is measured with it is the device and net-bench, beside plugins that have to do more.
 * It is told the truth, so it checks nothing: no sizes, no tags, no handles that are stale.
 *
 * A message: the receiver posts a receive and writes a clear-to-send entry into the sender's ring, the sender writes
 * the payload with an immediate, both poll.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_net_abi.h"
#include "verbs-ends.h"

enum { SLOTS = 32, SIGNAL_INTERVAL = 16, SENDS = 160, RECEIVER_SENDS = 64, COMPLETIONS = 16 };

/* What the receiver writes. */
struct entry {
  uint64_t address;
  uint32_t key;
  uint32_t unused[3];
  _Atomic uint64_t sequence; /* of the message, plus 1; last, as it says that the rest is there */
};

struct request {
  struct comm *comm;
  uint32_t size;
  bool done;
};

struct comm {
  struct end end;
  struct ibv_mr *ring; /* where entries are written to, or made */
  struct entry *entries;
  uint64_t remote_ring;
  uint32_t remote_ring_key;
  uint64_t begun;
  uint64_t finished;
  enum ibv_wc_opcode finishes; /* what a completion of a request is about */
  struct request requests[SLOTS];
};

/* The sender that has connected to it, whose address the handle has. */
struct listener {
  struct comm *sender;
};

static struct ibv_context *context;
static struct ibv_pd *domain;
static int gid_index;

static int floor_init(void **ctx, uint64_t comm_id, struct nccl_net_config *config, nccl_logger log,
                      nccl_profiler_callback profiler) {
  (void)comm_id, (void)config, (void)log, (void)profiler;
  struct ibv_device **list = ibv_get_device_list(NULL);
  struct ibv_port_attr port;
  if (list == NULL || list[0] == NULL || (context = ibv_open_device(list[0])) == NULL ||
      ibv_query_port(context, 1, &port) != 0 || (domain = ibv_alloc_pd(context)) == NULL) {
    return NCCL_SYSTEM_ERROR;
  }
  gid_index = port.gid_tbl_len - 1;
  *ctx = domain;
  return NCCL_SUCCESS;
}

static int floor_finalize(void *ctx) {
  (void)ctx;
  return ibv_dealloc_pd(domain) == 0 && ibv_close_device(context) == 0 ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

static int floor_devices(int *count) {
  *count = 1;
  return NCCL_SUCCESS;
}

static int floor_listen(void *ctx, int dev, void *handle, void **comm) {
  (void)ctx, (void)dev;
  *comm = calloc(1, sizeof(struct listener));
  memcpy(handle, comm, sizeof *comm);
  return *comm == NULL ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

static int floor_close_listen(void *comm) {
  free(comm);
  return NCCL_SUCCESS;
}

static struct comm *new_comm(uint32_t sends, uint32_t receives, uint32_t inline_bytes, enum ibv_wc_opcode finishes) {
  const size_t bytes = SLOTS * sizeof(struct entry);
  struct comm *comm = calloc(1, sizeof *comm);
  if (comm == NULL || open_end(&comm->end, domain, sends, receives, inline_bytes) != NULL ||
      (comm->entries = aligned_alloc(sizeof(struct entry), bytes)) == NULL) {
    return NULL;
  }
  memset(comm->entries, 0, bytes);
  comm->finishes = finishes;
  comm->ring = ibv_reg_mr(domain, comm->entries, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  return comm->ring == NULL ? NULL : comm;
}

static bool connect_to(struct comm *comm, const struct comm *peer) {
  struct route route = {.number = peer->end.qp->qp_num, .own_gid_index = gid_index, .mtu = IBV_MTU_1024};
  comm->remote_ring = (uintptr_t)peer->entries;
  comm->remote_ring_key = peer->ring->rkey;
  return ibv_query_gid(context, 1, gid_index, &route.gid) == 0 && connect_end(comm->end, &route) == NULL;
}

static int floor_connect(void *ctx, int dev, void *handle, void **comm, struct nccl_net_device_handle **offload) {
  (void)ctx, (void)dev, (void)offload;
  struct listener *listener;
  memcpy(&listener, handle, sizeof listener);
  *comm = listener->sender = new_comm(SENDS, 1, 0, IBV_WC_RDMA_WRITE);
  return *comm == NULL ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

static int floor_accept(void *listen_comm, void **comm, struct nccl_net_device_handle **offload) {
  (void)offload;
  struct listener *listener = listen_comm;
  *comm = NULL;
  if (listener->sender == NULL) {
    return NCCL_SUCCESS;
  }
  struct comm *receiver = new_comm(RECEIVER_SENDS, SLOTS, sizeof(struct entry), IBV_WC_RECV_RDMA_WITH_IMM);
  *comm = receiver;
  return receiver != NULL && connect_to(receiver, listener->sender) && connect_to(listener->sender, receiver)
             ? NCCL_SUCCESS
             : NCCL_SYSTEM_ERROR;
}

static int floor_close(void *closed) {
  struct comm *comm = closed;
  bool ok = ibv_destroy_qp(comm->end.qp) == 0 && ibv_destroy_cq(comm->end.cq) == 0 && ibv_dereg_mr(comm->ring) == 0;
  free(comm->entries);
  free(comm);
  return ok ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

static int floor_reg(void *comm, void *data, size_t size, int type, void **mhandle) {
  (void)comm, (void)type;
  *mhandle = ibv_reg_mr(domain, data, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  return *mhandle == NULL ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

static int floor_dereg(void *comm, void *mhandle) {
  (void)comm;
  return mhandle == NULL || ibv_dereg_mr(mhandle) == 0 ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

static struct request *begin(struct comm *comm, uint32_t size) {
  struct request *request = &comm->requests[comm->begun++ % SLOTS];
  *request = (struct request){.comm = comm, .size = size};
  return request;
}

static int floor_isend(void *to, void *data, size_t size, int tag, void *mhandle, void *event, void **request) {
  (void)tag, (void)event;
  struct comm *comm = to;
  const struct ibv_mr *memory = mhandle;
  const struct entry *entry = &comm->entries[comm->begun % SLOTS];
  *request = NULL;
  if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != comm->begun + 1) {
    return NCCL_SUCCESS;
  }
  const struct ibv_sge from = {(uintptr_t)data, (uint32_t)size, memory->lkey};
  *request = begin(comm, (uint32_t)size);
  return post_bytes(comm->end, IBV_WR_RDMA_WRITE_WITH_IMM, &from, entry->address, entry->key, IBV_SEND_SIGNALED) == 0
             ? NCCL_SUCCESS
             : NCCL_SYSTEM_ERROR;
}

static int floor_irecv(void *from, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **events,
                       void **request) {
  (void)n, (void)sizes, (void)tags, (void)events;
  struct comm *comm = from;
  const struct ibv_mr *memory = mhandles[0];
  uint64_t slot = comm->begun % SLOTS;
  unsigned signal = slot % SIGNAL_INTERVAL == 0 ? IBV_SEND_SIGNALED : 0;
  struct ibv_recv_wr receive = {.num_sge = 0};
  struct ibv_recv_wr *bad;
  comm->entries[slot] = (struct entry){(uintptr_t)data[0], memory->rkey, {0}, comm->begun + 1};
  const struct ibv_sge entry = {(uintptr_t)&comm->entries[slot], sizeof(struct entry), comm->ring->lkey};
  *request = begin(comm, 0);
  return ibv_post_recv(comm->end.qp, &receive, &bad) == 0 &&
                 post_bytes(comm->end, IBV_WR_RDMA_WRITE, &entry, comm->remote_ring + slot * sizeof(struct entry),
                            comm->remote_ring_key, IBV_SEND_INLINE | signal) == 0
             ? NCCL_SUCCESS
             : NCCL_SYSTEM_ERROR;
}

static int floor_test(void *asked, int *done, int *sizes) {
  struct request *request = asked;
  struct comm *comm = request->comm;
  if (!request->done) {
    struct ibv_wc completions[COMPLETIONS];
    int count = ibv_poll_cq(comm->end.cq, COMPLETIONS, completions);
    for (int i = 0; i < count; i++) {
      if (completions[i].status != IBV_WC_SUCCESS) {
        return NCCL_REMOTE_ERROR;
      }
      if (completions[i].opcode == comm->finishes) {
        struct request *oldest = &comm->requests[comm->finished++ % SLOTS];
        oldest->size = comm->finishes == IBV_WC_RDMA_WRITE ? oldest->size : completions[i].imm_data;
        oldest->done = true;
      }
    }
  }
  *done = request->done;
  if (*done && sizes != NULL) {
    sizes[0] = (int)request->size;
  }
  return NCCL_SUCCESS;
}

static int floor_iflush(void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  (void)comm, (void)n, (void)data, (void)sizes, (void)mhandles;
  *request = NULL;
  return NCCL_SUCCESS;
}

__attribute__((visibility("default"))) extern const struct nccl_net_v12 ncclNetPlugin_v12;
const struct nccl_net_v12 ncclNetPlugin_v12 = {
    .name = "device alone",
    .init = floor_init,
    .devices = floor_devices,
    .listen = floor_listen,
    .connect = floor_connect,
    .accept = floor_accept,
    .regMr = floor_reg,
    .deregMr = floor_dereg,
    .isend = floor_isend,
    .irecv = floor_irecv,
    .iflush = floor_iflush,
    .test = floor_test,
    .closeSend = floor_close,
    .closeRecv = floor_close,
    .closeListen = floor_close_listen,
    .finalize = floor_finalize,
};
