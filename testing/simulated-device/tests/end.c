#include "end.h"

#include <sched.h>

static struct ibv_qp *new_queue_pair(End *e) {
  struct ibv_qp_init_attr a = { .send_cq = e->sends, .recv_cq = e->receives, .qp_type = IBV_QPT_RC,
    .cap = { DEPTH, DEPTH, 2, 2, 64 } };
  struct ibv_qp *qp = ibv_create_qp(e->pd, &a);

  CHECK(qp, "%s", strerror(errno));
  return qp;
}

static int ipv4_gid(struct ibv_context *c) {
  struct ibv_gid_entry table[16];
  ssize_t n = ibv_query_gid_table(c, table, 16, 0);

  for (ssize_t i = 0; i < n; i++)
    if (table[i].gid_type == IBV_GID_TYPE_ROCE_V2 && table[i].gid.raw[10] == 0xff)
      return (int)table[i].gid_index;
  CHECK(false, "the device has no IPv4 address");
  return -1;
}

void end_open(End *e, const char *device) {
  int n;
  struct ibv_device **list = ibv_get_device_list(&n);

  *e = (End){ .mtu = IBV_MTU_1024, .timeout = 12, .retries = 3, .rnr_retry = 7 };
  for (int i = 0; i < n; i++)
    if (!strcmp(ibv_get_device_name(list[i]), device))
      e->context = ibv_open_device(list[i]);
  CHECK(e->context, "%s: %s", device, strerror(errno));
  ibv_free_device_list(list);
  e->pd = ibv_alloc_pd(e->context);
  e->sends = ibv_create_cq(e->context, 4 * DEPTH, NULL, NULL, 0);
  e->receives = ibv_create_cq(e->context, 4 * DEPTH, NULL, NULL, 0);
  CHECK(e->pd && e->sends && e->receives && !posix_memalign((void **)&e->memory, 4096, MEMORY), "%s", strerror(errno));
  memset(e->memory, 0, MEMORY);
  e->mr = ibv_reg_mr(e->pd, e->memory, MEMORY, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
    | IBV_ACCESS_REMOTE_ATOMIC);
  CHECK(e->mr, "%s", strerror(errno));
  e->qp = new_queue_pair(e);
  e->gid_index = ipv4_gid(e->context);
}

void end_another(End *e, const End *like) {
  *e = *like;
  e->qp = new_queue_pair(e);
}

static void transfer(int socket, void *out, void *in, size_t len) {
  CHECK(write(socket, out, len) == (ssize_t)len, "%s", strerror(errno));
  for (size_t got = 0; got < len;) {
    ssize_t n = read(socket, (char *)in + got, len - got);
    CHECK(n > 0, "the other end is gone");
    got += (size_t)n;
  }
}

void meet(int socket) {
  char out = 0, in;

  transfer(socket, &out, &in, 1);
}

void end_to_init(End *e) {
  struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1,
    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
  int rc = ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

  CHECK(!rc, "to INIT: %s", strerror(rc));
}

int end_to_rtr(End *e) {
  struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTR, .path_mtu = e->mtu, .dest_qp_num = e->peer.number,
    .rq_psn = 0xfffff0, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
    .ah_attr = { .is_global = 1, .port_num = 1,
      .grh = { .dgid = e->peer.gid, .sgid_index = (uint8_t)e->gid_index, .hop_limit = 64 } } };

  return ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
    | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

void end_to_rts(End *e) {
  struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTS, .sq_psn = 0xfffff0, .timeout = (uint8_t)e->timeout,
    .retry_cnt = (uint8_t)e->retries, .rnr_retry = (uint8_t)e->rnr_retry, .max_rd_atomic = 4 };
  int rc = ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
    | IBV_QP_MAX_QP_RD_ATOMIC);

  CHECK(!rc, "to RTS: %s", strerror(rc));
}

void end_connect(End *e, int socket) {
  struct ibv_gid_entry gid;

  CHECK(!ibv_query_gid_ex(e->context, 1, (uint32_t)e->gid_index, &gid, 0), "no GID");
  Peer own = { .number = e->qp->qp_num, .rkey = e->mr->rkey, .address = (uintptr_t)e->memory, .gid = gid.gid };
  transfer(socket, &own, &e->peer, sizeof own);
  end_to_init(e);
  int rc = end_to_rtr(e);
  CHECK(!rc, "to RTR: %s", strerror(rc));
  end_to_rts(e);
  meet(socket);
}

void end_move(End *e, enum ibv_qp_state state) {
  struct ibv_qp_attr a = { .qp_state = state };
  int rc = ibv_modify_qp(e->qp, &a, IBV_QP_STATE);

  CHECK(!rc, "to state %d: %s", state, strerror(rc));
}

static void post(End *e, struct ibv_send_wr *wr, size_t own, size_t len) {
  struct ibv_sge g[2] = { { (uintptr_t)e->memory + own, (uint32_t)(len / 2), e->mr->lkey },
    { (uintptr_t)e->memory + own + len / 2, (uint32_t)(len - len / 2), e->mr->lkey } };
  struct ibv_send_wr *bad;

  if (len % 3)
    g[0].length = (uint32_t)len;
  wr->sg_list = g;
  wr->num_sge = len == 0 ? 0 : len % 3 ? 1 : 2;
  int rc = ibv_post_send(e->qp, wr, &bad);
  CHECK(!rc, "post: %s", strerror(rc));
}

static void at_peer(const End *e, struct ibv_send_wr *wr, size_t at) {
  wr->wr.rdma.remote_addr = e->peer.address + at;
  wr->wr.rdma.rkey = e->peer.rkey;
}

void end_write(End *e, uint64_t id, size_t from, size_t to, size_t len, int flags) {
  struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_RDMA_WRITE, .send_flags = (unsigned)flags };

  at_peer(e, &wr, to);
  post(e, &wr, from, len);
}

void end_write_immediate(End *e, uint64_t id, size_t from, size_t to, size_t len, uint32_t immediate) {
  struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
    .imm_data = immediate };

  at_peer(e, &wr, to);
  post(e, &wr, from, len);
}

void end_send(End *e, uint64_t id, size_t from, size_t len) {
  struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };

  post(e, &wr, from, len);
}

void end_read(End *e, uint64_t id, size_t into, size_t from, size_t len) {
  struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED };

  at_peer(e, &wr, from);
  post(e, &wr, into, len);
}

void end_add(End *e, uint64_t id, size_t into, size_t at, uint64_t by) {
  struct ibv_send_wr wr = { .wr_id = id, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_SIGNALED };

  wr.wr.atomic.remote_addr = e->peer.address + at;
  wr.wr.atomic.rkey = e->peer.rkey;
  wr.wr.atomic.compare_add = by;
  post(e, &wr, into, 8);
}

void end_receive(End *e, uint64_t id, size_t into, size_t len) {
  struct ibv_sge g = { (uintptr_t)e->memory + into, (uint32_t)len, e->mr->lkey };
  struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &g, .num_sge = len ? 1 : 0 }, *bad;
  int rc = ibv_post_recv(e->qp, &wr, &bad);

  CHECK(!rc, "post: %s", strerror(rc));
}

struct ibv_wc next_completion(struct ibv_cq *cq) {
  struct ibv_wc wc;
  int n;

  while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
    sched_yield();
  CHECK(n == 1, "a poll returned %d", n);
  return wc;
}

void expect_success(struct ibv_cq *cq, uint64_t id) {
  struct ibv_wc wc = next_completion(cq);

  CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == id, "%s of request %llu instead of success of %llu",
    ibv_wc_status_str(wc.status), (unsigned long long)wc.wr_id, (unsigned long long)id);
}
