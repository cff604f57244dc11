/* Queue pairs: their creation, their states, and what their errors flush. */
#include "instant-verbs.h"

Qp *_Atomic qps[MAX_OBJECTS];
uint32_t next_qp;

void free_send_slots(uint32_t queue_pair, uint32_t upto) {
  Qp *qp = find_qp(queue_pair);

  if (qp)
    atomic_store_explicit(&qp->sq_free, upto, memory_order_release);
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
  if (atomic_load(&context_of(pd->context)->dead)) {
    errno = EIO;
    return NULL;
  }
  if (init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UC) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  if (!init->send_cq || !init->recv_cq || init->srq || init->cap.max_send_wr > MAX_WR
      || init->cap.max_recv_wr > MAX_WR || init->cap.max_send_sge > MAX_SGE
      || init->cap.max_recv_sge > MAX_SGE || init->cap.max_inline_data > MAX_INLINE) {
    errno = EINVAL;
    return NULL;
  }
  Qp *qp = calloc(1, sizeof *qp);
  if (!qp)
    return NULL;
  qp->init = *init;
  qp->rq_size = init->cap.max_recv_wr;
  qp->rq_stride = offsetof(RecvWqe, sge) + init->cap.max_recv_sge * sizeof(struct ibv_sge);
  qp->rq = calloc(qp->rq_size ? qp->rq_size : 1, qp->rq_stride);
  qp->device = context_of(pd->context)->device;
  qp->ibv.context = pd->context;
  qp->ibv.qp_context = init->qp_context;
  qp->ibv.pd = pd;
  qp->ibv.send_cq = init->send_cq;
  qp->ibv.recv_cq = init->recv_cq;
  qp->ibv.qp_type = init->qp_type;
  qp->ibv.state = IBV_QPS_RESET;
  pthread_mutex_init(&qp->ibv.mutex, NULL);
  pthread_cond_init(&qp->ibv.cond, NULL);
  lock(&world);
  for (uint32_t n = 0; n < MAX_OBJECTS && qp->rq; n++) {
    uint32_t i = next_qp++ % MAX_OBJECTS;
    if (qps[i])
      continue;
    qp->ibv.qp_num = i + FIRST_QPN;
    qp->ibv.handle = i;
    atomic_store_explicit(&qps[i], qp, memory_order_release);
    ((Cq *)init->send_cq)->queue_pairs++;
    ((Cq *)init->recv_cq)->queue_pairs++;
    unlock(&world);
    return &qp->ibv;
  }
  unlock(&world);
  free(qp->rq);
  free(qp);
  errno = ENOMEM;
  return NULL;
}

/* Whether packets sent from gid index i of d to the given address arrive anywhere:
 * some device must own the address, and be on the same subnet. */
static bool can_reach(const Device *d, const struct ibv_ah_attr *ah) {
  if (!ah->is_global || ah->grh.sgid_index >= d->gids)
    return false;
  for (int i = 0; i < num_devices; i++)
    for (int g = 0; g < devices[i].gids; g++)
      if (!memcmp(&devices[i].gid[g].gid, &ah->grh.dgid, 16)
          && devices[i].gid[g].gid_type == d->gid[ah->grh.sgid_index].gid_type)
        return same_subnet(d, &d->gid[ah->grh.sgid_index].gid, &ah->grh.dgid);
  return false;
}

void complete_send(Qp *qp, const struct ibv_send_wr *wr, uint32_t slot, enum ibv_wc_status status,
    uint32_t len) {
  if (status == IBV_WC_SUCCESS && !(wr->send_flags & IBV_SEND_SIGNALED) && !qp->init.sq_sig_all)
    return;  /* its slot comes free with the next signalled one */
  struct ibv_wc wc = { .wr_id = wr->wr_id, .status = status, .opcode = completion_of(wr->opcode),
    .byte_len = len, .qp_num = qp->ibv.qp_num };
  push((Cq *)qp->ibv.send_cq, &wc, true, slot + 1);
}

void fail_sends(Qp *qp) {
  qp->attr.qp_state = IBV_QPS_ERR;
  set_state(&qp->ibv, IBV_QPS_ERR);
  if (atomic_load(&qp->mute))
    return;
  while (qp->st_head != qp->st_tail) {
    SendWqe *w = &qp->stalled[qp->st_head++ % qp->init.cap.max_send_wr];
    complete_send(qp, &w->wr, w->slot, IBV_WC_WR_FLUSH_ERR, 0);
  }
  atomic_store(&qp->n_stalled, 0);
}

void flush_receives(Qp *qp) {
  if (atomic_load(&qp->mute))
    return;
  lock(&qp->recv_lock);
  while (qp->rq_head != qp->rq_tail) {
    struct ibv_wc wc = { .wr_id = rq_entry(qp, qp->rq_head++)->wr_id,
      .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->ibv.qp_num };
    push((Cq *)qp->ibv.recv_cq, &wc, false, 0);
  }
  unlock(&qp->recv_lock);
}

/*
 * Waits for the peer's copy that is under way. It looks for us under its send lock, and finds that we take nothing any
 * more; so once this has returned nothing is written through us.
 */
static void wait_for_writer(const Qp *qp) {
  lock(&lifetime);
  Qp *peer = find_qp(qp->attr.dest_qp_num);
  if (peer && peer != qp) {
    lock(&peer->send_lock);
    unlock(&peer->send_lock);
  }
  unlock(&lifetime);
}

EXPORT int ibv_modify_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask) {
  Qp *qp = (Qp *)iq;
  enum ibv_qp_state from = state_of(iq), to = mask & IBV_QP_STATE ? a->qp_state : from;

  if (atomic_load(&context_of(iq->context)->dead))
    return EIO;
  if (!valid_transition(iq, a, mask))
    return EINVAL;

  lock(&qp->send_lock);
  lock(&qp->recv_lock);
  take_attributes(&qp->attr, a, mask);
  if (mask & IBV_QP_AV)
    qp->reachable = can_reach(qp->device, &a->ah_attr);
  qp->attr.qp_state = to;
  set_state(iq, to);
  if (to == IBV_QPS_RESET) {
    qp->st_head = qp->st_tail = qp->rq_head = qp->rq_tail = qp->sq_tail = 0;
    atomic_store(&qp->sq_free, 0);
    atomic_store(&qp->n_stalled, 0);
  }
  unlock(&qp->recv_lock);
  if (to == IBV_QPS_ERR)
    fail_sends(qp);
  unlock(&qp->send_lock);
  if (to == IBV_QPS_ERR)
    flush_receives(qp);
  if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
    wait_for_writer(qp);
  if (to != from)
    kick(qp);  /* a sender may wait for us to be ready, or has to learn that we are gone */
  return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init) {
  Qp *qp = (Qp *)iq;

  (void)mask;
  /* as providers do: callers built against an older header have no rate_limit */
  memcpy(a, &qp->attr, offsetof(struct ibv_qp_attr, rate_limit));
  a->qp_state = a->cur_qp_state = state_of(iq);
  a->cap = qp->init.cap;
  if (init)
    *init = qp->init;
  return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *iq) {
  Qp *qp = (Qp *)iq;

  lock(&world);
  atomic_store_explicit(&qps[iq->handle], NULL, memory_order_release);
  ((Cq *)iq->send_cq)->queue_pairs--;
  ((Cq *)iq->recv_cq)->queue_pairs--;
  unlock(&world);
  kick(qp);  /* so that a sender that waits for us fails rather than hangs */
  wait_for_writer(qp);
  lock(&lifetime);
  free(qp->stalled);
  free(qp->rq);
  free(qp);
  unlock(&lifetime);
  return 0;
}

EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *e) { (void)qp, (void)e; return EOPNOTSUPP; }
EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *e) { (void)qp, (void)e; return EOPNOTSUPP; }
