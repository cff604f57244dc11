/* Queue pairs of any kind: their creation, and the calls that change them. */
#include "simulated-verbs.h"

static uint32_t round_up(uint32_t asked) {
  uint32_t size = 1;

  while (size < asked)
    size *= 2;
  return size;
}

static bool acceptable(const struct ibv_qp_init_attr *init) {
  const struct ibv_qp_cap *c = &init->cap;

  return init->send_cq && init->recv_cq && !init->srq && c->max_send_wr <= MAX_WR && c->max_recv_wr <= MAX_WR
    && c->max_send_sge <= MAX_SGE && c->max_recv_sge <= MAX_SGE && c->max_inline_data <= MAX_INLINE;
}

static void release(Qp *qp) {
  free(qp->instant.stalled);
  free(qp->rq.wqes);
  free(qp->rs.wqes);
  free(qp);
}

static void count_users(const Qp *qp, uint32_t by) {
  lock(&world);
  ((Cq *)qp->init.send_cq)->queue_pairs += by;
  ((Cq *)qp->init.recv_cq)->queue_pairs += by;
  unlock(&world);
}

/* As devices do: queues are at least as long as was asked for. */
static Qp *make(struct ibv_pd *pd, const struct ibv_qp_init_attr *init) {
  Qp *qp = calloc(1, sizeof *qp);

  if (!qp)
    return NULL;
  qp->init = *init;
  struct ibv_qp_cap *c = &qp->init.cap;
  c->max_send_wr = round_up(c->max_send_wr);
  c->max_recv_wr = round_up(c->max_recv_wr);
  c->max_inline_data = (c->max_inline_data + 31) / 32 * 32;
  qp->rs.stride = (sizeof(RecvWqe) + c->max_recv_sge * sizeof(struct ibv_sge) + 15) / 16 * 16;
  qp->rs.wqes = calloc(c->max_recv_wr, qp->rs.stride);
  qp->device = context_of(pd->context)->device;
  qp->ibv = (struct ibv_qp){ .context = pd->context, .qp_context = init->qp_context, .pd = pd,
    .send_cq = init->send_cq, .recv_cq = init->recv_cq, .qp_type = init->qp_type, .state = IBV_QPS_RESET };
  pthread_mutex_init(&qp->ibv.mutex, NULL);
  pthread_cond_init(&qp->ibv.cond, NULL);
  if (!qp->rs.wqes || !kind->add(qp)) {
    release(qp);
    return NULL;
  }
  qp->ibv.handle = (uint32_t)qp->index;
  return qp;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
  int refused = await_firmware(pd->context) || atomic_load(&context_of(pd->context)->dead) ? EIO
    : init->qp_type != IBV_QPT_RC ? EOPNOTSUPP : acceptable(init) ? 0 : EINVAL;
  Qp *qp = refused ? NULL : make(pd, init);

  if (!qp) {
    errno = refused ? refused : ENOMEM;
    return NULL;
  }
  count_users(qp, 1);
  init->cap = qp->init.cap;
  atomic_store(&qps[qp->index], qp);
  return &qp->ibv;
}

EXPORT int ibv_modify_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask) {
  if (await_firmware(iq->context) || atomic_load(&context_of(iq->context)->dead))
    return EIO;
  pthread_mutex_lock(&engine);
  enum ibv_qp_state from = state_of(iq), to = mask & IBV_QP_STATE ? a->qp_state : from;
  int rc = valid_transition(iq, a, mask) ? kind->change((Qp *)iq, a, mask, from, to) : EINVAL;
  pthread_mutex_unlock(&engine);
  return rc;
}

EXPORT int ibv_query_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init) {
  Qp *qp = (Qp *)iq;

  (void)mask;
  if (await_firmware(iq->context))
    return EIO;
  pthread_mutex_lock(&engine);
  /* as providers do: callers built against an older header have no rate_limit */
  memcpy(a, &qp->attr, offsetof(struct ibv_qp_attr, rate_limit));
  a->qp_state = a->cur_qp_state = state_of(iq);
  a->cap = qp->init.cap;
  if (init)
    *init = qp->init;
  pthread_mutex_unlock(&engine);
  return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *iq) {
  Qp *qp = (Qp *)iq;

  if (await_firmware(iq->context))
    return EIO;
  pthread_mutex_lock(&engine);
  atomic_store(&qps[qp->index], NULL);
  kind->remove(qp);
  purge(qp);
  pthread_mutex_unlock(&engine);
  count_users(qp, -1u);
  release(qp);
  return 0;
}

EXPORT int ibv_query_ece(struct ibv_qp *iq, struct ibv_ece *e) {
  *e = ((Qp *)iq)->ece;
  return 0;
}

EXPORT int ibv_set_ece(struct ibv_qp *iq, struct ibv_ece *e) {
  ((Qp *)iq)->ece = *e;
  return 0;
}
