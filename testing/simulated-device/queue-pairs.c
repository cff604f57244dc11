/* Queue pairs: their creation, their states, and their fences. */
#include "simulated-verbs.h"

enum { MOST_LATE_NS = 200000 };

pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER;
Qp *_Atomic qps[SLOTS];

bool late_fence;

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

/* As devices do: queues are at least as long as was asked for. */
static bool make_queues(Qp *qp) {
  struct ibv_qp_cap *c = &qp->init.cap;

  c->max_send_wr = round_up(c->max_send_wr);
  c->max_recv_wr = round_up(c->max_recv_wr);
  c->max_inline_data = (c->max_inline_data + 31) / 32 * 32;
  qp->rq.stride = (sizeof(SendWqe) + c->max_send_sge * sizeof(struct ibv_sge) + c->max_inline_data + 15) / 16 * 16;
  qp->rs.stride = (sizeof(RecvWqe) + c->max_recv_sge * sizeof(struct ibv_sge) + 15) / 16 * 16;
  qp->rq.wqes = calloc(c->max_send_wr, qp->rq.stride);
  qp->rs.wqes = calloc(c->max_recv_wr, qp->rs.stride);
  return qp->rq.wqes && qp->rs.wqes;
}

static void release(Qp *qp) {
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

static Qp *make(struct ibv_pd *pd, const struct ibv_qp_init_attr *init) {
  Qp *qp = calloc(1, sizeof *qp);

  if (!qp)
    return NULL;
  qp->init = *init;
  qp->device = context_of(pd->context)->device;
  qp->ibv = (struct ibv_qp){ .context = pd->context, .qp_context = init->qp_context, .pd = pd,
    .send_cq = init->send_cq, .recv_cq = init->recv_cq, .qp_type = init->qp_type, .state = IBV_QPS_RESET };
  qp->ring = NO_RING;
  qp->peer_port = NO_PORT;
  qp->index = make_queues(qp) ? slot_take() : -1;
  if (qp->index < 0) {
    release(qp);
    return NULL;
  }
  qp->slot = &fabric.slots[qp->index];
  qp->slot->port = device_ports[qp->device->index];
  qp->ibv.qp_num = atomic_load(&qp->slot->number);
  qp->ibv.handle = (uint32_t)qp->index;
  pthread_mutex_init(&qp->ibv.mutex, NULL);
  pthread_cond_init(&qp->ibv.cond, NULL);
  return qp;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
  int refused = forked || atomic_load(&context_of(pd->context)->dead) ? EIO
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

void free_send_slots(uint32_t queue_pair, uint32_t upto) {
  Qp *qp = atomic_load_explicit(&qps[slot_of(queue_pair)], memory_order_acquire);

  if (qp && qp->ibv.qp_num == queue_pair)
    atomic_store_explicit(&qp->rq.free, upto, memory_order_release);
}

/* ---------------------------------------------------------------- states */

/* At once, also in ERR: an abandoned ring may be given to another queue pair. */
void leave_ring(Qp *qp) {
  if (qp->ring != NO_RING)
    ring_abandon(qp->ring);
  qp->ring = NO_RING;
}

static void reset(Qp *qp) {
  Requester *rq = &qp->rq;

  atomic_store(&qp->slot->state, IBV_QPS_RESET);
  atomic_store(&qp->slot->sending, 0);
  leave_ring(qp);
  unbind(qp);
  rq->link = 0;
  rq->head = rq->staged = rq->tail = 0;
  atomic_store(&rq->free, 0);
  rq->staged_bytes = rq->ring_tail = rq->response_head = rq->last_due = 0;
  rq->reads = 0;
  rq->refused = IBV_WC_SUCCESS;
  rq->unreachable_since = rq->rnr_since = 0;
  qp->rs.rq_head = qp->rs.rq_tail = 0;
  qp->rs.due = qp->rs.lost_until = qp->fence_at = 0;
  purge((Cq *)qp->ibv.send_cq, qp->ibv.qp_num);
  purge((Cq *)qp->ibv.recv_cq, qp->ibv.qp_num);
}

/* The address is looked for, as by a device that asks its neighbours. */
static int resolve(Qp *qp, const struct ibv_ah_attr *ah) {
  struct ibv_gid_entry local;

  lock(&world);
  local = qp->device->gid[ah->grh.sgid_index];
  unlock(&world);
  if (local.gid_type == UINT32_MAX)
    return EINVAL;
  int own = device_ports[qp->device->index], port = find_port(ah->grh.dgid.raw, local.gid_type);
  if (port == NO_PORT)
    return ETIMEDOUT;
  bool near = same_subnet(qp->device, &local.gid, &ah->grh.dgid) && ports_connected(own, port);
  if (!near && !kernel_routes(qp->device, &local.gid, &ah->grh.dgid))
    return ENETUNREACH;
  qp->peer_port = port;
  memcpy(qp->slot->gid, local.gid.raw, 16);
  memcpy(qp->slot->peer_gid, ah->grh.dgid.raw, 16);
  return 0;
}

static int become_ready_to_receive(Qp *qp, const struct ibv_qp_attr *a) {
  Slot *s = qp->slot;
  int rc = resolve(qp, &a->ah_attr);

  if (rc)
    return rc;
  uint64_t link = (uint64_t)qp->ibv.qp_num << 32 | ++s->incarnation;
  qp->ring = ring_take(link, a->dest_qp_num);
  if (qp->ring == NO_RING)
    return ENOMEM;
  qp->rq.link = link;
  s->ring = qp->ring;
  atomic_store(&s->peer, a->dest_qp_num);
  atomic_store(&s->rq_psn, a->rq_psn & 0xffffff);
  atomic_store(&s->path_mtu, a->path_mtu);
  atomic_store(&s->response_head, 0);
  atomic_store(&s->bound, 0);
  return 0;
}

static void become_ready_to_send(Qp *qp) {
  Slot *s = qp->slot;

  atomic_store(&s->sq_psn, qp->attr.sq_psn & 0xffffff);
  atomic_store(&s->sending, qp->rq.link);
}

/* The state has been checked; the engine is held. Returns 0 or an errno. */
static int change(Qp *qp, const struct ibv_qp_attr *a, int mask, enum ibv_qp_state from, enum ibv_qp_state to) {
  int rc = from != to && to == IBV_QPS_RTR ? become_ready_to_receive(qp, a) : 0;

  if (rc)
    return rc;
  take_attributes(&qp->attr, a, mask);
  if (to == IBV_QPS_RESET)
    reset(qp);
  if (to == IBV_QPS_ERR && late_fence && qp->rs.bound && from != to) {
    set_state(&qp->ibv, to);
    qp->fence_at = now_ns() + (uint64_t)rand() % MOST_LATE_NS;
    notify((uint32_t)qp->index);
    return 0;
  }
  if (to == IBV_QPS_ERR) {
    if (!qp->fence_at)
      fail(qp);
    return 0;
  }
  if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
    become_ready_to_send(qp);
  set_state(&qp->ibv, to);
  atomic_store(&qp->slot->state, to);
  if (to == IBV_QPS_RTR || to == IBV_QPS_RTS) {
    match_rules(qp);
    notify((uint32_t)qp->index);  /* the peer may have sent already */
    notify(slot_of(qp->attr.dest_qp_num));
  }
  return 0;
}

EXPORT int ibv_modify_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask) {
  Qp *qp = (Qp *)iq;

  if (forked || atomic_load(&context_of(iq->context)->dead))
    return EIO;
  pthread_mutex_lock(&engine);
  enum ibv_qp_state from = state_of(iq), to = mask & IBV_QP_STATE ? a->qp_state : from;
  int rc = valid_transition(iq, a, mask) ? change(qp, a, mask, from, to) : EINVAL;
  serve_pending();
  pthread_mutex_unlock(&engine);
  if (to == IBV_QPS_ERR)
    schedule();
  return rc;
}

EXPORT int ibv_query_qp(struct ibv_qp *iq, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init) {
  Qp *qp = (Qp *)iq;

  (void)mask;
  if (forked)
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

  if (forked)
    return EIO;
  pthread_mutex_lock(&engine);
  atomic_store(&qp->slot->state, SLOT_DESTROYED);
  leave_ring(qp);
  purge((Cq *)iq->send_cq, iq->qp_num);
  purge((Cq *)iq->recv_cq, iq->qp_num);
  atomic_store(&qps[qp->index], NULL);
  notify(slot_of(qp->attr.dest_qp_num));
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
