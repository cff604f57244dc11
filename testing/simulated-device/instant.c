/* Queue pairs that connect within the process: a send is carried out where it is posted. */
#include "instant.h"

_Atomic uint32_t instant_made;

enum { STALL = -1 };  /* "not yet": the receiver has to post, or to connect, first */

struct Stalled {  /* a send that has to wait */
  struct ibv_send_wr wr;
  struct ibv_sge sge[MAX_SGE];
  uint8_t inline_data[MAX_INLINE];
  uint32_t slot;
};

static inline Qp *find_qp(uint32_t number) {
  uint32_t i = number - FIRST_QPN;

  return i < MAX_OBJECTS ? atomic_load_explicit(&qps[i], memory_order_acquire) : NULL;
}

static inline Stalled *stalled(const Qp *qp, uint32_t n) {
  return &qp->instant.stalled[n % qp->init.cap.max_send_wr];
}

static inline bool is_mute(const Qp *qp) { return atomic_load_explicit(&qp->mute, memory_order_relaxed); }

/* ---------------------------------------------------------------- completion */

/* The completion of a send; none for an unsignalled success. The send lock is held. */
static void complete(Qp *qp, const struct ibv_send_wr *wr, uint32_t slot, enum ibv_wc_status status, uint32_t len) {
  if (status == IBV_WC_SUCCESS && !(wr->send_flags & IBV_SEND_SIGNALED) && !qp->init.sq_sig_all)
    return;  /* its slot comes free with the next signalled one */
  struct ibv_wc wc = { .wr_id = wr->wr_id, .status = status, .opcode = completion_of(wr->opcode),
    .byte_len = len, .qp_num = qp->ibv.qp_num };
  push((Cq *)qp->ibv.send_cq, &wc, qp, slot + 1);
}

/* To the error state: what has not been carried out is flushed. The send lock is held. */
static void fail_sends(Qp *qp) {
  Instant *in = &qp->instant;

  set_state(&qp->ibv, IBV_QPS_ERR);
  if (is_mute(qp))
    return;
  while (in->head != in->tail) {
    const Stalled *w = stalled(qp, in->head++);
    complete(qp, &w->wr, w->slot, IBV_WC_WR_FLUSH_ERR, 0);
  }
  atomic_store(&in->waiting, 0);
}

static void flush_receive(Qp *qp, uint64_t wr_id) {
  struct ibv_wc wc = { .wr_id = wr_id, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV,
    .qp_num = qp->ibv.qp_num };

  push((Cq *)qp->ibv.recv_cq, &wc, NULL, 0);
}

/* The other half of it, without a lock. */
static void flush_receives(Qp *qp) {
  Responder *rs = &qp->rs;

  if (is_mute(qp))
    return;
  lock(&qp->instant.recv_lock);
  while (rs->rq_head != rs->rq_tail)
    flush_receive(qp, recv_wqe(qp, rs->rq_head++)->wr_id);
  unlock(&qp->instant.recv_lock);
}

/* ---------------------------------------------------------------- operations */

/* Where an element's bytes are, or NULL if its key does not allow it. */
static const uint8_t *source(const Qp *qp, const struct ibv_send_wr *wr, const struct ibv_sge *g) {
  return wr->send_flags & IBV_SEND_INLINE ? (const uint8_t *)(uintptr_t)g->addr
    : translate(g->lkey, g->addr, g->length, 0, qp->ibv.pd);
}

/* Copies the work request's bytes to where the peer lets it write. */
static int write_remote(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, uint64_t len) {
  if (!(dst->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
    return IBV_WC_REM_ACCESS_ERR;
  if (!len)
    return IBV_WC_SUCCESS;  /* without a look at the key */
  uint8_t *to = translate(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, len, IBV_ACCESS_REMOTE_WRITE, dst->ibv.pd);
  if (!to)
    return IBV_WC_REM_ACCESS_ERR;
  for (int i = 0; i < wr->num_sge; i++) {
    const uint8_t *from = source(qp, wr, &wr->sg_list[i]);
    if (!from)
      return IBV_WC_LOC_PROT_ERR;
    write_region(find_mr(wr->wr.rdma.rkey), to, from, wr->sg_list[i].length);
    to += wr->sg_list[i].length;
  }
  return IBV_WC_SUCCESS;
}

/* Copies the work request's bytes into the receive that the peer has posted. */
static int send_into(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, const RecvWqe *r, uint64_t len) {
  uint64_t at = 0;

  if (len > list_length(r->sge, r->num_sge)) {
    struct ibv_wc wc = { .wr_id = r->wr_id, .status = IBV_WC_LOC_LEN_ERR, .qp_num = dst->ibv.qp_num };
    push((Cq *)dst->ibv.recv_cq, &wc, NULL, 0);
    return IBV_WC_REM_INV_REQ_ERR;
  }
  for (int i = 0; i < wr->num_sge; at += wr->sg_list[i++].length) {
    const uint8_t *from = source(qp, wr, &wr->sg_list[i]);
    if (!from || !scatter(dst, r->sge, r->num_sge, at, from, wr->sg_list[i].length))
      return IBV_WC_LOC_PROT_ERR;
  }
  return IBV_WC_SUCCESS;
}

static int read_remote(Qp *qp, const struct ibv_send_wr *wr, Qp *dst, uint64_t len) {
  void *from = translate(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, len, IBV_ACCESS_REMOTE_READ, dst->ibv.pd);

  if ((len && !from) || !(dst->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ))
    return IBV_WC_REM_ACCESS_ERR;
  if (len)
    land_writes(find_mr(wr->wr.rdma.rkey));
  return scatter(qp, wr->sg_list, wr->num_sge, 0, from, len) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
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
  return scatter(qp, wr->sg_list, wr->num_sge, 0, (uint8_t *)&old, 8) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

/* Takes the peer's oldest receive, copied; *r is not cleared, it is big. False: there is none; that is noted. */
static bool take_receive(Qp *dst, RecvWqe *r) {
  Responder *rs = &dst->rs;

  lock(&dst->instant.recv_lock);
  if (rs->rq_head == rs->rq_tail) {
    /* Announce the wait before looking again, so that post_recv cannot miss it. */
    atomic_store(&dst->instant.peer_waits, true);
    unlock(&dst->instant.recv_lock);
    return false;
  }
  const RecvWqe *w = recv_wqe(dst, rs->rq_head++);
  r->wr_id = w->wr_id;
  r->num_sge = w->num_sge;
  for (int i = 0; i < w->num_sge; i++)
    r->sge[i] = w->sge[i];
  unlock(&dst->instant.recv_lock);
  return true;
}

/* Whether its packets get to the other end: what it sends to itself does not leave the device. */
static bool is_up(const Qp *qp) {
  return qp->attr.dest_qp_num == qp->ibv.qp_num || atomic_load_explicit(&qp->device->up, memory_order_relaxed);
}

/* The peer's queue pair. If it is NULL, *status says what becomes of the work request. */
static Qp *connected_to(const Qp *qp, int *status) {
  *status = IBV_WC_RETRY_EXC_ERR;
  if (!is_up(qp) || !qp->instant.reachable)
    return NULL;
  Qp *dst = find_qp(qp->attr.dest_qp_num);
  if (!dst || dst->attr.dest_qp_num != qp->ibv.qp_num) {
    /* Nobody there, or one that is not (yet) connected to us. */
    *status = dst && state_of(&dst->ibv) < IBV_QPS_RTR ? STALL : IBV_WC_RETRY_EXC_ERR;
    return NULL;
  }
  enum ibv_qp_state ds = state_of(&dst->ibv);
  if (ds < IBV_QPS_RTR || is_mute(qp) || is_mute(dst)) {
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
  union { RecvWqe wqe; uint8_t bytes[sizeof(RecvWqe) + MAX_SGE * sizeof(struct ibv_sge)]; } receive;
  RecvWqe *r = &receive.wqe;
  int status;

  *moved = 0;
  Qp *dst = connected_to(qp, &status);
  if (!dst)
    return status;
  uint64_t len = list_length(wr->sg_list, wr->num_sge);
  *moved = (uint32_t)len;
  r->wr_id = 0;
  r->num_sge = 0;
  if ((send || imm) && !take_receive(dst, r))
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
    status = send_into(qp, wr, dst, r, len);
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
    struct ibv_wc wc = { .wr_id = r->wr_id, .status = IBV_WC_SUCCESS,
      .opcode = send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = (uint32_t)len,
      .qp_num = dst->ibv.qp_num, .src_qp = qp->ibv.qp_num, .wc_flags = imm ? IBV_WC_WITH_IMM : 0 };
    if (imm)
      wc.imm_data = wr->imm_data;
    push((Cq *)dst->ibv.recv_cq, &wc, NULL, 0);
  }
  return status;
}

/* Retries the sends that wait for the receiver. The engine is held. */
static void kick(Qp *receiver) {
  Qp *qp = find_qp(receiver->attr.dest_qp_num);
  bool failed = false;

  if (!qp || qp == receiver || !atomic_load(&qp->instant.waiting))
    return;
  Instant *in = &qp->instant;
  lock(&in->send_lock);
  atomic_store(&receiver->instant.peer_waits, false);
  while (in->head != in->tail) {
    const Stalled *w = stalled(qp, in->head);
    uint32_t moved;
    int status = execute(qp, &w->wr, &moved);
    if (status == STALL)
      break;
    in->head++;
    complete(qp, &w->wr, w->slot, (enum ibv_wc_status)status, moved);
    if (status != IBV_WC_SUCCESS) {
      failed = true;
      fail_sends(qp);
    }
  }
  atomic_store(&in->waiting, in->tail - in->head);
  unlock(&in->send_lock);
  if (failed)
    flush_receives(qp);
}

/* ---------------------------------------------------------------- posting */

/* The send lock is held. */
static void stall(Qp *qp, const struct ibv_send_wr *wr, uint32_t slot) {
  Instant *in = &qp->instant;
  uint32_t off = 0;

  if (!in->stalled)
    in->stalled = calloc(qp->init.cap.max_send_wr, sizeof *in->stalled);
  Stalled *w = stalled(qp, in->tail++);
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
  atomic_store(&in->waiting, in->tail - in->head);
}

/* Whether a send is refused; 0 or an errno. */
static int refuse(const Qp *qp, const struct ibv_send_wr *wr, enum ibv_qp_state state) {
  if ((state != IBV_QPS_RTS && state != IBV_QPS_ERR) || wr->num_sge > (int)qp->init.cap.max_send_sge
      || (wr->send_flags & IBV_SEND_INLINE && list_length(wr->sg_list, wr->num_sge) > qp->init.cap.max_inline_data))
    return EINVAL;
  return (uint32_t)qp->rq.tail - atomic_load_explicit(&qp->rq.free, memory_order_acquire) >= qp->init.cap.max_send_wr
    ? ENOMEM : 0;
}

static int instant_post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  Qp *qp = (Qp *)iq;
  Instant *in = &qp->instant;
  int rc = 0;
  unsigned carried_out = 0;
  bool failed = false, again = false;

  lock(&in->send_lock);
  for (; wr; wr = wr->next) {
    enum ibv_qp_state state = state_of(iq);
    uint32_t moved;
    rc = refuse(qp, wr, state);
    if (rc) {
      *bad = wr;
      break;
    }
    uint32_t slot = (uint32_t)qp->rq.tail++;
    bool mute = is_mute(qp);
    if (!mute && (state == IBV_QPS_ERR || failed)) {
      complete(qp, wr, slot, IBV_WC_WR_FLUSH_ERR, 0);
      continue;
    }
    int status = !mute && in->head == in->tail ? execute(qp, wr, &moved) : STALL;
    if (status == STALL) {
      stall(qp, wr, slot);
      again = true;
      continue;
    }
    carried_out++;
    complete(qp, wr, slot, (enum ibv_wc_status)status, moved);
    if (status != IBV_WC_SUCCESS) {
      failed = true;
      fail_sends(qp);
    }
  }
  unlock(&in->send_lock);
  if (failed)
    flush_receives(qp);
  if (again) {  /* the receiver may have posted between our look and our note */
    pthread_mutex_lock(&engine);
    Qp *dst = find_qp(qp->attr.dest_qp_num);
    if (dst)
      kick(dst);
    pthread_mutex_unlock(&engine);
  }
  if (faults)
    plant_faults(carried_out);
  return rc;
}

static int instant_post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  Qp *qp = (Qp *)iq;
  Responder *rs = &qp->rs;
  int rc = 0;

  lock(&qp->instant.recv_lock);
  for (; wr; wr = wr->next) {
    if (state_of(iq) == IBV_QPS_RESET || wr->num_sge > (int)qp->init.cap.max_recv_sge)
      rc = EINVAL;
    else if (rs->rq_tail - rs->rq_head >= qp->init.cap.max_recv_wr)
      rc = ENOMEM;
    if (rc) {
      *bad = wr;
      break;
    }
    if (state_of(iq) == IBV_QPS_ERR) {
      flush_receive(qp, wr->wr_id);
      continue;
    }
    RecvWqe *w = recv_wqe(qp, rs->rq_tail++);
    w->wr_id = wr->wr_id;
    w->num_sge = wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
      w->sge[i] = wr->sg_list[i];
  }
  unlock(&qp->instant.recv_lock);
  if (atomic_load_explicit(&qp->instant.peer_waits, memory_order_acquire)) {
    pthread_mutex_lock(&engine);
    kick(qp);
    pthread_mutex_unlock(&engine);
  }
  return rc;
}

/* ---------------------------------------------------------------- states */

static int open_device(Device *d) {
  (void)d;
  read_faults();
  return 0;
}

static bool add(Qp *qp) {
  for (uint32_t n = 0; n < MAX_OBJECTS; n++) {
    qp->index = (int)(atomic_fetch_add(&instant_made, 1) % MAX_OBJECTS);
    qp->ibv.qp_num = (uint32_t)qp->index + FIRST_QPN;
    if (!atomic_load(&qps[qp->index]))
      return true;
  }
  return false;
}

/* Whether packets to that address arrive: some device has it, and is on the same subnet. */
static bool can_reach(const Device *d, const struct ibv_ah_attr *ah) {
  const struct ibv_gid_entry *local = &d->gid[ah->grh.sgid_index];

  for (int i = 0; i < num_devices; i++)
    for (int g = 0; g < devices[i].gids; g++)
      if (!memcmp(&devices[i].gid[g].gid, &ah->grh.dgid, 16) && devices[i].gid[g].gid_type == local->gid_type)
        return same_subnet(d, &local->gid, &ah->grh.dgid);
  return false;
}

/*
 * Waits for the peer's copy that is under way. It looks for us under its send lock, and finds that we take nothing any
 * more; so once this has returned nothing is written through us.
 */
static void wait_for_writer(const Qp *qp) {
  Qp *peer = find_qp(qp->attr.dest_qp_num);

  if (peer && peer != qp) {
    lock(&peer->instant.send_lock);
    unlock(&peer->instant.send_lock);
  }
}

bool fail_if_sending(Qp *qp) {
  if (!qp || state_of(&qp->ibv) != IBV_QPS_RTS || qp->attr.dest_qp_num == qp->ibv.qp_num)
    return false;
  lock(&qp->instant.send_lock);
  fail_sends(qp);
  unlock(&qp->instant.send_lock);
  flush_receives(qp);
  kick(qp);
  return true;
}

static int change(Qp *qp, const struct ibv_qp_attr *a, int mask, enum ibv_qp_state from, enum ibv_qp_state to) {
  Instant *in = &qp->instant;

  lock(&in->send_lock);
  lock(&in->recv_lock);
  take_attributes(&qp->attr, a, mask);
  if (mask & IBV_QP_AV)
    in->reachable = can_reach(qp->device, &a->ah_attr);
  set_state(&qp->ibv, to);
  if (to == IBV_QPS_RESET) {
    in->head = in->tail = qp->rs.rq_head = qp->rs.rq_tail = 0;
    qp->rq.tail = 0;
    atomic_store(&in->waiting, 0);
  }
  unlock(&in->recv_lock);
  if (to == IBV_QPS_ERR)
    fail_sends(qp);
  unlock(&in->send_lock);
  if (to == IBV_QPS_ERR)
    flush_receives(qp);
  if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
    wait_for_writer(qp);
  if (to == IBV_QPS_RESET) {
    purge(qp);
    atomic_store(&qp->rq.free, 0);
  }
  if (to != from)
    kick(qp);  /* a sender may wait for us to be ready, or has to learn that we are gone */
  return 0;
}

static void remove_queue_pair(Qp *qp) {
  kick(qp);  /* so that a sender that waits for us fails rather than hangs */
  wait_for_writer(qp);
}

const Kind instant = {
  .data_path = { .poll_cq = take_completions, .req_notify_cq = req_notify_cq, .post_send = instant_post_send,
    .post_recv = instant_post_recv },
  .open = open_device, .add = add, .change = change, .remove = remove_queue_pair,
};
