/* The kind of devices that connect processes: the states of their queue pairs, and the fences. */
#include "simulated-verbs.h"

enum { MOST_LATE_NS = 200000 };

bool late_fence;

static bool add(Qp *qp) {
  const struct ibv_qp_cap *c = &qp->init.cap;

  qp->ring = NO_RING;
  qp->peer_port = NO_PORT;
  qp->rq.stride = (sizeof(SendWqe) + c->max_send_sge * sizeof(struct ibv_sge) + c->max_inline_data + 15) / 16 * 16;
  qp->rq.wqes = calloc(c->max_send_wr, qp->rq.stride);
  qp->index = qp->rq.wqes ? slot_take() : -1;
  if (qp->index < 0)
    return false;
  qp->slot = &fabric.slots[qp->index];
  qp->slot->port = device_ports[qp->device->index];
  qp->ibv.qp_num = atomic_load(&qp->slot->number);
  return true;
}

static void reset(Qp *qp) {
  Requester *rq = &qp->rq;

  atomic_store(&qp->slot->state, IBV_QPS_RESET);
  atomic_store(&qp->slot->sending, 0);
  leave_ring(qp);
  unbind(qp);
  purge(qp);
  rq->link = 0;
  rq->head = rq->staged = rq->tail = 0;
  atomic_store(&rq->free, 0);
  rq->staged_bytes = rq->ring_tail = rq->response_head = rq->last_due = 0;
  rq->reads = 0;
  rq->refused = IBV_WC_SUCCESS;
  rq->unreachable_since = rq->rnr_since = 0;
  qp->rs.rq_head = qp->rs.rq_tail = 0;
  qp->rs.due = qp->rs.lost_until = qp->fence_at = 0;
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
  atomic_store(&qp->slot->astray, 0);
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
  atomic_store(&s->pkey, pkeys[qp->attr.pkey_index]);
  atomic_store(&s->response_head, 0);
  atomic_store(&s->bound, 0);
  return 0;
}

static void become_ready_to_send(Qp *qp) {
  Slot *s = qp->slot;

  atomic_store(&s->sq_psn, qp->attr.sq_psn & 0xffffff);
  atomic_store(&s->sending, qp->rq.link);
}

static int enter(Qp *qp, const struct ibv_qp_attr *a, int mask, enum ibv_qp_state from, enum ibv_qp_state to) {
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

static int change(Qp *qp, const struct ibv_qp_attr *a, int mask, enum ibv_qp_state from, enum ibv_qp_state to) {
  int rc = enter(qp, a, mask, from, to);

  serve_pending();
  if (to == IBV_QPS_ERR)
    schedule();
  return rc;
}

static void remove_queue_pair(Qp *qp) {
  atomic_store(&qp->slot->state, SLOT_DESTROYED);
  leave_ring(qp);
  notify(slot_of(qp->attr.dest_qp_num));
}

static int open_device(Device *d) {
  int rc = engine_start();

  if (!rc)
    rc = open_port(d);
  return rc ? rc : opening_fails(device_ports[d->index]);
}

const Kind simulated = {
  .data_path = { .poll_cq = poll_cq, .req_notify_cq = req_notify_cq, .post_send = post_send, .post_recv = post_recv },
  .open = open_device, .add = add, .change = change, .remove = remove_queue_pair,
};
