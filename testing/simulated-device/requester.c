/* The requester's side: work requests are staged as packets, and completed when they are acknowledged. */
#include "simulated-verbs.h"

#include <signal.h>

/* ---------------------------------------------------------------- staging */

/* Room for a packet in one piece; a packet without meaning fills the rest of the ring before it. */
static Packet *room(Qp *qp, uint64_t payload) {
  Requester *rq = &qp->rq;
  const Slot *peer = peer_slot(qp);
  uint64_t bytes = request_bytes(), need = packet_bytes(payload), at = rq->ring_tail % bytes;
  uint64_t head = atomic_load(&peer->bound) == rq->link ? atomic_load_explicit(&peer->head, memory_order_acquire) : 0;
  uint64_t pad = at + need > bytes ? bytes - at : 0;
  uint8_t *lane = ring_at(qp->ring);

  if (head > rq->ring_tail || rq->ring_tail - head + pad + need > bytes)
    return NULL;
  if (pad) {
    Packet *p = (Packet *)(void *)(lane + at);
    memset(p, 0, sizeof *p);
    p->flags = PACKET_PAD;
    p->length = (uint32_t)(pad - HEADER);
    rq->ring_tail += pad;
    at = 0;
  }
  return (Packet *)(void *)(lane + at);
}

static bool inline_or_gather(const Qp *qp, const SendWqe *w, uint64_t offset, uint8_t *to, uint64_t len) {
  if (!(w->flags & IBV_SEND_INLINE))
    return gather(qp, w->sge, w->num_sge, offset, to, len);
  memcpy(to, (const uint8_t *)&w->sge[qp->init.cap.max_send_sge] + offset, len);
  return true;
}

/* When the packet has arrived whole: the port's line carries one after the other, whatever queue pair they are of. */
static uint64_t model_time(const Qp *qp, const Rule *model, uint64_t payload) {
  Port *port = &fabric.ports[device_ports[qp->device->index]];
  uint64_t carry = (payload + HEADER) * 1000000000u / model->most, now = now_ns(), idle = atomic_load(&port->free_at);
  uint64_t sent;

  do
    sent = (idle > now ? idle : now) + carry;
  while (!atomic_compare_exchange_weak(&port->free_at, &idle, sent));
  return sent + model->least;
}

/* When the packet arrives: at once, unless a rule holds it back. Packets of a queue pair never overtake another. */
static uint64_t due_time(Qp *qp, SendWqe *w, uint64_t payload, uint8_t *flags) {
  const Rule *r, *model = strike(qp->rules_out, RULE_MODEL);
  uint64_t due = model ? model_time(qp, model, payload) : 0;

  if ((r = strike(qp->rules_out, RULE_HOLD)))
    due = now_ns() + r->least, *flags |= PACKET_HELD | (r->pierce ? PACKET_PIERCE : 0);
  else if ((r = strike(qp->rules_out, RULE_DELAY)))
    due = now_ns() + r->least + (uint64_t)rand() % (r->most - r->least + 1), *flags |= PACKET_HELD;
  if (due < qp->rq.last_due)
    due = qp->rq.last_due;
  qp->rq.last_due = due;
  w->paused_until = r ? due : 0;
  w->ack_due = model ? due + model->least : 0;
  return due;
}

/* Stages the next packet of the request. False: it has to wait, or is refused. */
static bool stage(Qp *qp, SendWqe *w) {
  Requester *rq = &qp->rq;
  bool request_only = answers(w->opcode);
  uint64_t left = w->length - rq->staged_bytes, part = request_only ? 0 : left < SEGMENT ? left : SEGMENT;

  if (!rq->staged_bytes && ((request_only && rq->reads >= qp->attr.max_rd_atomic)
      || (w->flags & IBV_SEND_FENCE && rq->reads)))
    return false;
  Packet *p = room(qp, part);
  if (!p)
    return false;
  *p = (Packet){ .opcode = (uint8_t)w->opcode, .length = (uint32_t)part, .address = w->remote + rq->staged_bytes,
    .key = w->rkey, .immediate = w->immediate, .message = rq->staged, .total = left,
    .compare_add = w->compare_add, .swap = w->swap };
  if (!inline_or_gather(qp, w, rq->staged_bytes, (uint8_t *)(p + 1), part)) {
    rq->refused = IBV_WC_LOC_PROT_ERR;
    return false;
  }
  bool last = request_only || part == left;
  p->flags = (uint8_t)((rq->staged_bytes ? 0 : PACKET_FIRST) | (last ? PACKET_LAST : 0));
  if (qp->rules_out) {
    p->due = due_time(qp, w, part, &p->flags);
    if (part && strike(qp->rules_out, RULE_FLIP))
      ((uint8_t *)(p + 1))[(uint64_t)rand() % part] ^= (uint8_t)(1 << rand() % 8);
    if (last && strike(qp->rules_out, RULE_LIE))
      p->flags |= PACKET_LIE;
    if (strike(qp->rules_out, RULE_KILL_STAGE))
      raise(SIGKILL);
  }
  rq->ring_tail += packet_bytes(part);
  rq->staged_bytes = last ? 0 : rq->staged_bytes + part;
  if (last)
    rq->staged++, rq->reads += request_only;
  return true;
}

void pump(Qp *qp) {
  Requester *rq = &qp->rq;
  uint64_t before = rq->ring_tail;

  if (state_of(&qp->ibv) != IBV_QPS_RTS || qp->mute)
    return;
  while (rq->staged != rq->tail && rq->refused == IBV_WC_SUCCESS && stage(qp, send_wqe(qp, rq->staged)))
    ;
  if (rq->ring_tail != before) {
    atomic_store_explicit(&fabric.rings[qp->ring].tail, rq->ring_tail, memory_order_release);
    notify(slot_of(qp->attr.dest_qp_num));
  }
  if (rq->refused != IBV_WC_SUCCESS && rq->head == rq->staged)
    fail_oldest(qp, rq->refused);
}

/* ---------------------------------------------------------------- acknowledgements */

static void take_response(Qp *qp, const Packet *p, const uint8_t *payload) {
  if (p->message < qp->rq.head || p->message >= qp->rq.staged)
    return;
  SendWqe *w = send_wqe(qp, p->message);
  uint64_t most = w->opcode == IBV_WR_RDMA_READ ? w->length : 8;
  if (p->total > most || p->length > most - p->total)
    return;
  if (!scatter(qp, w->sge, w->num_sge, p->total, payload, p->length))
    w->failed = IBV_WC_LOC_PROT_ERR;
  if (p->flags & PACKET_LAST)
    w->answered = true;
}

static void take_responses(Qp *qp) {
  const Slot *peer = peer_slot(qp);
  uint64_t bytes = response_bytes();
  int ring = peer->ring;

  if (!qp->rq.reads || ring < 0 || ring >= SLOTS)
    return;
  uint64_t tail = atomic_load_explicit(&fabric.rings[ring].response_tail, memory_order_acquire);
  const uint8_t *lane = ring_at(ring) + request_bytes();
  while (qp->rq.response_head < tail) {
    uint64_t at = qp->rq.response_head % bytes;
    Packet p;
    memcpy(&p, lane + at, sizeof p);
    if (p.length > bytes - at - HEADER)
      return;  /* another's by now; timers end it */
    if (!(p.flags & PACKET_PAD))
      take_response(qp, &p, lane + at + HEADER);
    qp->rq.response_head += packet_bytes(p.length);
  }
  atomic_store_explicit(&qp->slot->response_head, qp->rq.response_head, memory_order_release);
}

void reap(Qp *qp) {
  Requester *rq = &qp->rq;
  const Slot *peer = peer_slot(qp);

  if (state_of(&qp->ibv) != IBV_QPS_RTS || qp->mute || rq->head == rq->tail || atomic_load(&peer->bound) != rq->link)
    return;
  if (find_rule(qp->rules_in, RULE_CUT) || strike(qp->rules_out, RULE_ACK_LOSS))
    return;  /* it is looked at again by the timer */
  uint64_t nak = atomic_load_explicit(&peer->nak, memory_order_acquire);
  uint64_t acked = atomic_load_explicit(&peer->acked, memory_order_acquire);
  uint64_t before = rq->response_head, oldest = rq->head;
  take_responses(qp);
  if (atomic_load(&peer->bound) != rq->link)
    return;
  while (rq->head < acked && rq->head < rq->staged) {
    SendWqe *w = send_wqe(qp, rq->head);
    if (w->failed != IBV_WC_SUCCESS) {
      fail_oldest(qp, w->failed);
      return;
    }
    if (answers(w->opcode) && !w->answered)
      break;
    if (w->ack_due && w->ack_due > now_ns()) {
      notify((uint32_t)qp->index);
      break;
    }
    request_done(qp, w, IBV_WC_SUCCESS);
  }
  if (rq->response_head != before)
    notify(slot_of(qp->attr.dest_qp_num));
  if (rq->head != oldest)
    rq->unreachable_since = rq->rnr_since = 0;
  if (nak >> 8 == rq->head + 1 && rq->head < rq->staged)
    fail_oldest(qp, (enum ibv_wc_status)(nak & 0xff));
}
