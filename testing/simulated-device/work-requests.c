/* The posting of work requests to simulated queue pairs. */
#include "simulated-verbs.h"

static int refuse(const Qp *qp, const struct ibv_send_wr *wr, uint64_t *length) {
  enum ibv_qp_state state = state_of(&qp->ibv);

  if ((state != IBV_QPS_RTS && state != IBV_QPS_ERR) || wr->num_sge > (int)qp->init.cap.max_send_sge
      || wr->num_sge < 0 || wr->opcode > IBV_WR_ATOMIC_FETCH_AND_ADD)
    return EINVAL;
  if ((uint32_t)qp->rq.tail - atomic_load_explicit(&qp->rq.free, memory_order_acquire) >= qp->init.cap.max_send_wr)
    return ENOMEM;
  *length = list_length(wr->sg_list, wr->num_sge);
  if (wr->send_flags & IBV_SEND_INLINE && (*length > qp->init.cap.max_inline_data || answers(wr->opcode)))
    return EINVAL;
  return *length > max_message ? EINVAL : 0;
}

static void accept_request(Qp *qp, const struct ibv_send_wr *wr, uint64_t length) {
  SendWqe *w = send_wqe(qp, qp->rq.tail++);
  uint8_t *bytes = (uint8_t *)&w->sge[qp->init.cap.max_send_sge];
  bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

  *w = (SendWqe){ .wr_id = wr->wr_id, .opcode = wr->opcode, .flags = wr->send_flags, .immediate = wr->imm_data,
    .length = length, .num_sge = wr->num_sge };
  w->rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
  w->remote = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
  w->compare_add = atomic ? wr->wr.atomic.compare_add : 0;
  w->swap = atomic ? wr->wr.atomic.swap : 0;
  for (int i = 0; i < wr->num_sge; i++) {
    const struct ibv_sge *g = &wr->sg_list[i];
    w->sge[i] = *g;
    if (wr->send_flags & IBV_SEND_INLINE) {  /* the caller may reuse its memory */
      memcpy(bytes, (const void *)(uintptr_t)g->addr, g->length);
      bytes += g->length;
    }
  }
}

int post_send(struct ibv_qp *iq, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  Qp *qp = (Qp *)iq;
  int rc = forked ? EIO : 0;

  if (rc) {
    *bad = wr;
    return rc;
  }
  pthread_mutex_lock(&engine);
  for (; wr; wr = wr->next) {
    uint64_t length = 0;
    rc = refuse(qp, wr, &length);
    if (rc) {
      *bad = wr;
      break;
    }
    accept_request(qp, wr, length);
    if (state_of(iq) == IBV_QPS_ERR && !qp->fence_at)
      fail(qp);
  }
  pump(qp);
  serve_pending();
  pthread_mutex_unlock(&engine);
  schedule();
  return rc;
}

int post_recv(struct ibv_qp *iq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  Qp *qp = (Qp *)iq;
  Responder *rs = &qp->rs;
  int rc = forked ? EIO : 0;

  if (rc) {
    *bad = wr;
    return rc;
  }
  pthread_mutex_lock(&engine);
  for (; wr; wr = wr->next) {
    if (state_of(iq) == IBV_QPS_RESET || wr->num_sge > (int)qp->init.cap.max_recv_sge || wr->num_sge < 0)
      rc = EINVAL;
    else if (rs->rq_tail - rs->rq_head >= qp->init.cap.max_recv_wr)
      rc = ENOMEM;
    if (rc) {
      *bad = wr;
      break;
    }
    RecvWqe *w = recv_wqe(qp, rs->rq_tail++);
    w->wr_id = wr->wr_id;
    w->num_sge = wr->num_sge;
    memcpy(w->sge, wr->sg_list, (size_t)wr->num_sge * sizeof *w->sge);
  }
  if (state_of(iq) == IBV_QPS_ERR && !qp->fence_at)
    fail(qp);
  else if (rs->waits && rs->rq_head != rs->rq_tail && !serve(qp))
    notify((uint32_t)qp->index);
  pthread_mutex_unlock(&engine);
  return rc;
}
