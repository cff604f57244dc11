/* The data path: a send is carried out where it is posted. */
#include "instant-verbs.h"

atomic_ulong posted;

int post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  Qp *qp = (Qp *)iq;
  int rc = 0;

  lock(&qp->recv_lock);
  for (; wr; wr = wr->next) {
    if (state_of(iq) == IBV_QPS_RESET || wr->num_sge > (int)qp->init.cap.max_recv_sge)
      rc = EINVAL;
    else if (qp->rq_tail - qp->rq_head >= qp->rq_size)
      rc = ENOMEM;
    if (rc) {
      *bad = wr;
      break;
    }
    if (state_of(iq) == IBV_QPS_ERR) {
      struct ibv_wc wc = { .wr_id = wr->wr_id, .status = IBV_WC_WR_FLUSH_ERR,
        .opcode = IBV_WC_RECV, .qp_num = iq->qp_num };
      push((Cq *)iq->recv_cq, &wc, false, 0);
      continue;
    }
    RecvWqe *w = rq_entry(qp, qp->rq_tail++);
    w->wr_id = wr->wr_id;
    w->num_sge = wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
      w->sge[i] = wr->sg_list[i];
  }
  unlock(&qp->recv_lock);
  if (atomic_load_explicit(&qp->peer_waits, memory_order_acquire))
    kick(qp);
  return rc;
}

/* Copies between a scatter list of qp's and len bytes at flat. */
static bool scatter(Qp *qp, const struct ibv_sge *sge, int n, uint8_t *flat, uint64_t len, bool to_list) {
  for (int i = 0; i < n && len; i++) {
    uint64_t part = sge[i].length < len ? sge[i].length : len;
    void *p = translate(sge[i].lkey, sge[i].addr, part, to_list ? IBV_ACCESS_LOCAL_WRITE : 0, qp->ibv.pd);
    if (!p)
      return false;
    if (to_list)
      memcpy(p, flat, part);
    else
      memcpy(flat, p, part);
    flat += part;
    len -= part;
  }
  return len == 0;
}

/* Copies the first len bytes of one list into another. */
static bool list_to_list(Qp *src, const struct ibv_send_wr *wr, Qp *dst, const RecvWqe *r) {
  int j = 0;
  uint64_t off = 0;

  for (int i = 0; i < wr->num_sge; i++) {
    uint64_t left = wr->sg_list[i].length;
    uint64_t from = wr->sg_list[i].addr;
    while (left) {
      while (off == r->sge[j].length)
        j++, off = 0;
      uint64_t part = r->sge[j].length - off < left ? r->sge[j].length - off : left;
      void *s = wr->send_flags & IBV_SEND_INLINE ? (void *)(uintptr_t)from
        : translate(wr->sg_list[i].lkey, from, part, 0, src->ibv.pd);
      void *d = translate(r->sge[j].lkey, r->sge[j].addr + off, part, IBV_ACCESS_LOCAL_WRITE,
        dst->ibv.pd);
      if (!s || !d)
        return false;
      memcpy(d, s, part);
      from += part, left -= part, off += part;
    }
  }
  return true;
}

enum { STALL = -1 };  /* "not yet": the receiver has to post, or to connect, first */

/* Copies the work request's bytes to where the peer lets it write. */
static int write_remote(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, uint64_t len) {
  if (!len)
    return IBV_WC_SUCCESS;
  uint8_t *to = translate(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, len, IBV_ACCESS_REMOTE_WRITE, dst->ibv.pd);
  if (!to || !(dst->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
    return IBV_WC_REM_ACCESS_ERR;
  for (int i = 0; i < wr->num_sge; i++) {
    const struct ibv_sge *g = &wr->sg_list[i];
    void *from = wr->send_flags & IBV_SEND_INLINE ? (void *)(uintptr_t)g->addr
      : translate(g->lkey, g->addr, g->length, 0, qp->ibv.pd);
    if (!from)
      return IBV_WC_LOC_PROT_ERR;
    write_region(find_mr(wr->wr.rdma.rkey), to, from, g->length);
    to += g->length;
  }
  return IBV_WC_SUCCESS;
}

/* Copies the work request's bytes into the receive that the peer has posted. */
static int send_into(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, const RecvWqe *r, uint64_t len) {
  uint64_t room = 0;

  for (int i = 0; i < r->num_sge; i++)
    room += r->sge[i].length;
  if (len > room) {
    struct ibv_wc wc = { .wr_id = r->wr_id, .status = IBV_WC_LOC_LEN_ERR, .qp_num = dst->ibv.qp_num };
    push((Cq *)dst->ibv.recv_cq, &wc, false, 0);
    return IBV_WC_REM_INV_REQ_ERR;
  }
  return list_to_list(qp, wr, dst, r) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

static int read_remote(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, uint64_t len) {
  void *from = translate(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, len, IBV_ACCESS_REMOTE_READ, dst->ibv.pd);

  if (len && (!from || !(dst->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ)))
    return IBV_WC_REM_ACCESS_ERR;
  if (len)
    land_writes(find_mr(wr->wr.rdma.rkey));
  if (len && !scatter(qp, wr->sg_list, wr->num_sge, from, len, true))
    return IBV_WC_LOC_PROT_ERR;
  return IBV_WC_SUCCESS;
}

/* Fetch and add, or compare and swap, of 8 bytes. */
static int change_remote(Qp *qp, const struct ibv_send_wr *wr, Qp *dst) {
  _Atomic uint64_t *at =
    translate(wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 8, IBV_ACCESS_REMOTE_ATOMIC, dst->ibv.pd);
  uint64_t old;

  if (!at || (uintptr_t)at & 7 || !(dst->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC))
    return IBV_WC_REM_ACCESS_ERR;
  if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    old = atomic_fetch_add(at, wr->wr.atomic.compare_add);
  } else {
    old = wr->wr.atomic.compare_add;
    (void)atomic_compare_exchange_strong(at, &old, wr->wr.atomic.swap);
  }
  return scatter(qp, wr->sg_list, wr->num_sge, (uint8_t *)&old, 8, true) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

/* Takes the peer's oldest receive, copied; *r is not cleared, it is big. False: there is none; that is noted. */
static bool take_receive(Qp *dst, RecvWqe *r) {
  lock(&dst->recv_lock);
  if (dst->rq_head == dst->rq_tail) {
    /* Announce the wait before looking again, so that post_recv cannot miss it. */
    atomic_store(&dst->peer_waits, true);
    unlock(&dst->recv_lock);
    return false;
  }
  RecvWqe *w = rq_entry(dst, dst->rq_head);
  r->wr_id = w->wr_id;
  r->num_sge = w->num_sge;
  for (int i = 0; i < w->num_sge; i++)
    r->sge[i] = w->sge[i];
  dst->rq_head++;
  unlock(&dst->recv_lock);
  return true;
}

/* Whether its packets get to the other end: what it sends to itself does not leave the device. */
static bool is_up(const Qp *qp) {
  return qp->attr.dest_qp_num == qp->ibv.qp_num || atomic_load_explicit(&qp->device->up, memory_order_relaxed);
}

/* The peer's queue pair. If it is NULL, *status says what becomes of the work request. */
static Qp *connected_to(const Qp *qp, int *status) {
  *status = IBV_WC_RETRY_EXC_ERR;
  if (!is_up(qp) || !qp->reachable)
    return NULL;
  Qp *dst = find_qp(qp->attr.dest_qp_num);
  if (!dst || dst->attr.dest_qp_num != qp->ibv.qp_num) {
    /* Nobody there, or one that is not (yet) connected to us. */
    *status = dst && state_of(&dst->ibv) < IBV_QPS_RTR ? STALL : IBV_WC_RETRY_EXC_ERR;
    return NULL;
  }
  enum ibv_qp_state ds = state_of(&dst->ibv);
  if (ds < IBV_QPS_RTR || atomic_load_explicit(&qp->mute, memory_order_relaxed)
      || atomic_load_explicit(&dst->mute, memory_order_relaxed)) {
    *status = STALL;
    return NULL;
  }
  if (ds == IBV_QPS_ERR || dst->attr.rq_psn != qp->attr.sq_psn || !is_up(dst))
    return NULL;
  return dst;
}

static bool touches_dma_buf(const struct ibv_send_wr *wr) {
  bool any = is_dma_buf(find_mr(wr->wr.rdma.rkey));

  for (int i = 0; i < wr->num_sge && !any; i++)
    any = !(wr->send_flags & IBV_SEND_INLINE) && is_dma_buf(find_mr(wr->sg_list[i].lkey));
  return any;
}

/* Carries out one work request. Returns a completion status, or STALL. */
static int execute(Qp *qp, const struct ibv_send_wr *wr, uint32_t *moved) {
  bool imm = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr->opcode == IBV_WR_SEND_WITH_IMM;
  bool send = wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM;
  uint64_t len = 0;
  int status;
  RecvWqe r;

  *moved = 0;
  Qp *dst = connected_to(qp, &status);
  if (!dst)
    return status;
  for (int i = 0; i < wr->num_sge; i++)
    len += wr->sg_list[i].length;
  *moved = (uint32_t)len;
  r.wr_id = 0;
  r.num_sge = 0;
  if ((send || imm) && !take_receive(dst, &r))
    return qp->attr.rnr_retry == 0 ? IBV_WC_RNR_RETRY_EXC_ERR : STALL;

  bool dma_buf = atomic_load_explicit(&dma_buf_regions, memory_order_relaxed) && touches_dma_buf(wr);
  if (dma_buf)
    lock(&dma_bufs);
  switch (wr->opcode) {
  case IBV_WR_RDMA_WRITE:
  case IBV_WR_RDMA_WRITE_WITH_IMM:
    status = write_remote(qp, wr, dst, len);
    break;
  case IBV_WR_SEND:
  case IBV_WR_SEND_WITH_IMM:
    status = send_into(qp, wr, dst, &r, len);
    break;
  case IBV_WR_RDMA_READ:
    status = read_remote(qp, wr, dst, len);
    break;
  case IBV_WR_ATOMIC_FETCH_AND_ADD:
  case IBV_WR_ATOMIC_CMP_AND_SWP:
    status = change_remote(qp, wr, dst);
    *moved = 8;
    break;
  default:
    status = IBV_WC_LOC_QP_OP_ERR;
  }
  if (dma_buf)
    unlock(&dma_bufs);
  if (status == IBV_WC_SUCCESS && (send || imm)) {
    struct ibv_wc wc = { .wr_id = r.wr_id, .status = IBV_WC_SUCCESS,
      .opcode = send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = (uint32_t)len,
      .qp_num = dst->ibv.qp_num, .src_qp = qp->ibv.qp_num, .wc_flags = imm ? IBV_WC_WITH_IMM : 0 };
    if (imm)
      wc.imm_data = wr->imm_data;
    push((Cq *)dst->ibv.recv_cq, &wc, false, 0);
  }
  return status;
}

void kick(Qp *receiver) {
  lock(&lifetime);
  kick_while_alive(receiver);
  unlock(&lifetime);
}

void kick_while_alive(Qp *receiver) {
  Qp *qp = find_qp(receiver->attr.dest_qp_num);
  bool failed = false;

  if (!qp || qp == receiver || !atomic_load(&qp->n_stalled))
    return;
  lock(&qp->send_lock);
  atomic_store(&receiver->peer_waits, false);
  while (qp->st_head != qp->st_tail) {
    SendWqe *w = &qp->stalled[qp->st_head % qp->init.cap.max_send_wr];
    uint32_t moved;
    int st = execute(qp, &w->wr, &moved);
    if (st == STALL)
      break;
    qp->st_head++;
    complete_send(qp, &w->wr, w->slot, (enum ibv_wc_status)st, moved);
    if (st != IBV_WC_SUCCESS) {
      failed = true;
      fail_sends(qp);
    }
  }
  atomic_store(&qp->n_stalled, qp->st_tail - qp->st_head);
  unlock(&qp->send_lock);
  if (failed)
    flush_receives(qp);
}

static void stall(Qp *qp, const struct ibv_send_wr *wr, uint32_t slot) {
  if (!qp->stalled)
    qp->stalled = calloc(qp->init.cap.max_send_wr, sizeof *qp->stalled);
  SendWqe *w = &qp->stalled[qp->st_tail++ % qp->init.cap.max_send_wr];
  uint32_t off = 0;

  w->wr = *wr;
  w->wr.next = NULL;
  w->wr.sg_list = w->sge;
  w->slot = slot;
  for (int i = 0; i < wr->num_sge; i++) {
    w->sge[i] = wr->sg_list[i];
    if (wr->send_flags & IBV_SEND_INLINE) {  /* the caller may reuse its memory */
      memcpy(w->inline_data + off, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
      w->sge[i].addr = (uintptr_t)(w->inline_data + off);
      off += wr->sg_list[i].length;
    }
  }
  atomic_store(&qp->n_stalled, qp->st_tail - qp->st_head);
}

int post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  Qp *qp = (Qp *)iq;
  int rc = 0;
  bool failed = false, again = false;

  lock(&qp->send_lock);
  for (; wr; wr = wr->next) {
    uint32_t inline_len = 0, moved;

    if (wr->send_flags & IBV_SEND_INLINE)
      for (int i = 0; i < wr->num_sge; i++)
        inline_len += wr->sg_list[i].length;
    enum ibv_qp_state state = state_of(iq);
    if ((state != IBV_QPS_RTS && state != IBV_QPS_ERR)
        || wr->num_sge > (int)qp->init.cap.max_send_sge
        || inline_len > qp->init.cap.max_inline_data)
      rc = EINVAL;
    else if (qp->sq_tail - atomic_load_explicit(&qp->sq_free, memory_order_acquire)
        >= qp->init.cap.max_send_wr)
      rc = ENOMEM;
    if (rc) {
      *bad = wr;
      break;
    }
    uint32_t slot = qp->sq_tail++;
    bool mute = atomic_load_explicit(&qp->mute, memory_order_relaxed);
    if (!mute && (state == IBV_QPS_ERR || failed)) {
      complete_send(qp, wr, slot, IBV_WC_WR_FLUSH_ERR, 0);
      continue;
    }
    int st = !mute && qp->st_head == qp->st_tail ? execute(qp, wr, &moved) : STALL;
    if (st == STALL) {
      stall(qp, wr, slot);
      again = true;
      continue;
    }
    atomic_fetch_add_explicit(&posted, 1, memory_order_relaxed);
    complete_send(qp, wr, slot, (enum ibv_wc_status)st, moved);
    if (st != IBV_WC_SUCCESS) {
      failed = true;
      fail_sends(qp);
    }
  }
  unlock(&qp->send_lock);
  if (failed)
    flush_receives(qp);
  if (again) {  /* the receiver may have posted between our look and our note */
    lock(&lifetime);
    Qp *dst = find_qp(qp->attr.dest_qp_num);
    if (dst)
      kick_while_alive(dst);
    unlock(&lifetime);
  }
  if (faults)
    plant_faults();
  return rc;
}

const struct ibv_context_ops data_path = {
  .poll_cq = take_completions, .req_notify_cq = req_notify_cq, .post_send = post_send, .post_recv = post_recv,
};
