/* The responder's side: the target's process carries out what the peer has staged. */
#include "simulated-verbs.h"

#include <signal.h>

enum { MOST_AT_ONCE = 512 * 1024 };

typedef enum Outcome { DONE, WAITS, REFUSED } Outcome;

/* ---------------------------------------------------------------- refusals */

/* The request has failed, and the queue pair with it. */
static Outcome refuse(Qp *qp, const Packet *p, enum ibv_wc_status status, enum ibv_event_type event) {
  atomic_store_explicit(&qp->slot->nak, (p->message + 1) << 8 | status, memory_order_release);
  fail(qp);
  queue_pair_event(qp, event);
  return REFUSED;
}

static Outcome no_access(Qp *qp, const Packet *p) {
  const Mr *mr = find_mr(p->key);

  if (getenv("SIMVERBS_LOG"))
    fprintf(stderr, "simverbs: queue pair 0x%x refuses operation %u of 0x%x: %llu bytes at 0x%llx by key 0x%x, %s\n",
      qp->ibv.qp_num, p->opcode, qp->attr.dest_qp_num, (unsigned long long)p->total, (unsigned long long)p->address,
      p->key, !mr ? "which is no region's" : mr->ibv.pd != qp->ibv.pd ? "which is another protection domain's"
        : "which does not allow it");
  return refuse(qp, p, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

/* No receive is posted: the sender has to try again later. */
static Outcome not_ready(Qp *qp, const Packet *p) {
  qp->rs.waits = true;
  atomic_store(&qp->slot->rnr_timer, qp->attr.min_rnr_timer);
  if (atomic_load(&qp->slot->rnr) != p->message + 1) {
    atomic_store(&qp->slot->rnr, p->message + 1);
    notify(slot_of(qp->attr.dest_qp_num));
  }
  return WAITS;
}

static bool has_receive(const Qp *qp) {
  return qp->rs.rq_head != qp->rs.rq_tail && !(qp->rules_in && find_rule(qp->rules_in, RULE_RNR));
}

static void ready_again(Qp *qp) {
  qp->rs.waits = false;
  atomic_store(&qp->slot->rnr, 0);
}

/* ---------------------------------------------------------------- operations */

static Outcome write_packet(Qp *qp, const Packet *p, const uint8_t *payload) {
  bool immediate = p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM && p->flags & PACKET_LAST;

  if (!qp->rs.waits) {  /* else its bytes are there since it was tried first */
    uint8_t *to = p->total ? translate(p->key, p->address, p->total, IBV_ACCESS_REMOTE_WRITE, qp->ibv.pd) : NULL;
    /* An empty one has no use for a key, but for a queue pair that takes WRITEs. The first packet's check is of all. */
    if ((p->total && !to) || !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
      return no_access(qp, p);
    if (p->length && !(p->flags & PACKET_LIE))
      write_region(find_mr(p->key), to, payload, p->length);
    qp->rs.received_bytes = (p->flags & PACKET_FIRST ? 0 : qp->rs.received_bytes) + p->length;
  }
  if (!immediate)
    return DONE;
  if (!has_receive(qp))
    return not_ready(qp, p);
  ready_again(qp);
  receive_done(qp, IBV_WC_SUCCESS, (uint32_t)qp->rs.received_bytes, p);
  return DONE;
}

static Outcome send_packet(Qp *qp, const Packet *p, const uint8_t *payload) {
  Responder *rs = &qp->rs;

  if (p->flags & PACKET_FIRST)
    rs->received_bytes = 0;
  if (!has_receive(qp))
    return not_ready(qp, p);
  ready_again(qp);
  const RecvWqe *w = recv_wqe(qp, rs->rq_head);
  uint64_t capacity = list_length(w->sge, w->num_sge);
  if (rs->received_bytes + p->total > capacity) {
    receive_done(qp, IBV_WC_LOC_LEN_ERR, 0, NULL);
    return refuse(qp, p, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  if (!scatter(qp, w->sge, w->num_sge, rs->received_bytes, payload, p->length)) {
    receive_done(qp, IBV_WC_LOC_PROT_ERR, 0, NULL);
    return refuse(qp, p, IBV_WC_REM_OP_ERR, IBV_EVENT_QP_FATAL);
  }
  rs->received_bytes += p->length;
  if (p->flags & PACKET_LAST)
    receive_done(qp, IBV_WC_SUCCESS, (uint32_t)rs->received_bytes, p);
  return DONE;
}

/* Room in the lane of responses, in one piece, or NULL. */
static Packet *response_room(Qp *qp, uint64_t payload) {
  Responder *rs = &qp->rs;
  uint64_t bytes = response_bytes(), need = packet_bytes(payload), at = rs->response_tail % bytes;
  uint64_t head = atomic_load_explicit(&peer_slot(qp)->response_head, memory_order_acquire);
  uint64_t pad = at + need > bytes ? bytes - at : 0;

  if (qp->ring == NO_RING)
    return NULL;
  uint8_t *lane = ring_at(qp->ring) + request_bytes();
  if (head > rs->response_tail || rs->response_tail - head + pad + need > bytes)
    return NULL;
  if (pad) {
    *(Packet *)(void *)(lane + at) = (Packet){ .flags = PACKET_PAD, .length = (uint32_t)(pad - HEADER) };
    rs->response_tail += pad;
    at = 0;
  }
  return (Packet *)(void *)(lane + at);
}

static Outcome respond(Qp *qp, const Packet *p, const uint8_t *from, uint64_t len) {
  Responder *rs = &qp->rs;

  do {
    uint64_t left = len - rs->answered_bytes, part = left < SEGMENT ? left : SEGMENT;
    Packet *r = response_room(qp, part);
    if (!r)
      break;
    *r = (Packet){ .opcode = p->opcode, .flags = part == left ? PACKET_LAST : 0, .length = (uint32_t)part,
      .message = p->message, .total = rs->answered_bytes };
    memcpy(r + 1, from + rs->answered_bytes, part);
    rs->response_tail += packet_bytes(part);
    rs->answered_bytes += part;
    if (part == left) {
      atomic_store_explicit(&fabric.rings[qp->ring].response_tail, rs->response_tail, memory_order_release);
      rs->answered_bytes = 0;
      return DONE;
    }
  } while (true);
  if (qp->ring != NO_RING)
    atomic_store_explicit(&fabric.rings[qp->ring].response_tail, rs->response_tail, memory_order_release);
  notify(slot_of(qp->attr.dest_qp_num));
  return WAITS;
}

static Outcome read_packet(Qp *qp, const Packet *p) {
  const uint8_t *from = p->total ? translate(p->key, p->address, p->total, IBV_ACCESS_REMOTE_READ, qp->ibv.pd)
    : (const uint8_t *)"";

  if (!from || !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ))
    return no_access(qp, p);
  land_writes(find_mr(p->key));
  return respond(qp, p, from, p->total);
}

static Outcome atomic_packet(Qp *qp, const Packet *p) {
  _Atomic uint64_t *at = translate(p->key, p->address, 8, IBV_ACCESS_REMOTE_ATOMIC, qp->ibv.pd);
  uint64_t old = p->compare_add;

  if (!at || !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC))
    return no_access(qp, p);
  if ((uintptr_t)at % sizeof *at)
    return refuse(qp, p, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  if (!response_room(qp, 8))
    return WAITS;  /* before it changes anything: it is executed once */
  if (p->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    old = atomic_fetch_add(at, p->compare_add);
  else
    (void)atomic_compare_exchange_strong(at, &old, p->swap);
  return respond(qp, p, (const uint8_t *)&old, 8);
}

static Outcome execute(Qp *qp, const Packet *p, const uint8_t *payload) {
  switch ((enum ibv_wr_opcode)p->opcode) {
  case IBV_WR_RDMA_WRITE:
  case IBV_WR_RDMA_WRITE_WITH_IMM:
    return write_packet(qp, p, payload);
  case IBV_WR_SEND:
  case IBV_WR_SEND_WITH_IMM:
    return send_packet(qp, p, payload);
  case IBV_WR_RDMA_READ:
    return read_packet(qp, p);
  case IBV_WR_ATOMIC_CMP_AND_SWP:
  case IBV_WR_ATOMIC_FETCH_AND_ADD:
    return atomic_packet(qp, p);
  default:
    return refuse(qp, p, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
}

/* ---------------------------------------------------------------- the peer's ring */

/*
 * A peer is served once it sends to this queue pair with the sequence number that is expected, and each link of it
 * once: what comes from it after this end was reset has other sequence numbers, so it is dropped.
 */
static bool bind_to_peer(Qp *qp) {
  Slot *s = qp->slot;
  const Slot *peer = peer_slot(qp);
  Responder *rs = &qp->rs;
  uint64_t link = atomic_load(&peer->sending);
  int ring = peer->ring;

  if (atomic_load(&peer->number) != qp->attr.dest_qp_num || !link || link == rs->served
      || atomic_load(&peer->peer) != qp->ibv.qp_num || atomic_load(&peer->sq_psn) != (qp->attr.rq_psn & 0xffffff)
      || ring < 0 || ring >= SLOTS || !same_partition(peer, s) || memcmp(peer->gid, qp->attr.ah_attr.grh.dgid.raw, 16))
    return false;
  rs->head = rs->executed = rs->response_tail = rs->answered_bytes = rs->received_bytes = 0;
  rs->ring = ring;
  rs->waits = false;
  atomic_store(&s->bound, 0);
  atomic_store(&s->head, 0);
  atomic_store(&s->executed, 0);
  atomic_store(&s->acked, 0);
  atomic_store(&s->nak, 0);
  atomic_store(&s->rnr, 0);
  atomic_store(&fabric.rings[qp->ring].response_tail, 0);
  atomic_store(&s->bound, link);
  if (atomic_load(&fabric.rings[ring].link) != link) {  /* freed meanwhile; see registry.c */
    atomic_store(&s->bound, 0);
    return false;
  }
  rs->bound = rs->served = link;
  return true;
}

/* What was acknowledged stays visible to the peer until this end is connected again. */
void unbind(Qp *qp) {
  if (!qp->rs.head)
    qp->rs.served = 0;  /* it has sent nothing yet, so its sequence number is still the first */
  qp->rs.bound = 0;
}

/* Publishes that the packet is carried out, and acknowledged. */
static void packet_done(Qp *qp, const Packet *p) {
  Slot *s = qp->slot;
  Port *port = &fabric.ports[device_ports[qp->device->index]];

  if (qp->rules_in && strike(qp->rules_in, RULE_KILL_EXECUTE))
    raise(SIGKILL);
  if (!p->message && p->flags & PACKET_FIRST && state_of(&qp->ibv) == IBV_QPS_RTR)
    queue_pair_event(qp, IBV_EVENT_COMM_EST);
  qp->rs.head += packet_bytes(p->length);
  atomic_fetch_add_explicit(&port->packets, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&port->bytes, p->length, memory_order_relaxed);
  if (p->flags & PACKET_LAST)
    atomic_store_explicit(&s->executed, ++qp->rs.executed, memory_order_release);
  atomic_store_explicit(&s->head, qp->rs.head, memory_order_release);
  if (!(p->flags & PACKET_LAST))
    return;
  if (qp->rules_in) {
    if (strike(qp->rules_in, RULE_KILL_ACK))
      raise(SIGKILL);
    const Rule *r = find_rule(qp->rules_in, RULE_BREAK);
    if (r && qp->rs.executed > r->most && strike(qp->rules_in, RULE_BREAK))
      return;  /* its acknowledgement is lost, and so are all after it */
  }
  atomic_store_explicit(&s->acked, qp->rs.executed, memory_order_release);
}

/* Whether packets are lost on their way. Nobody sends those of an abandoned ring again, so they are dropped. */
static bool lost(Qp *qp, const Packet *p, uint64_t tail) {
  int own = device_ports[qp->device->index];
  enum ibv_mtu mtu = (enum ibv_mtu)atomic_load(&peer_slot(qp)->path_mtu);
  bool cut = !port_is_up(own) || !port_is_up(qp->peer_port) || exceeds_mtu(own, mtu, p->length)
    || exceeds_mtu(qp->peer_port, mtu, p->length) || atomic_load(&peer_slot(qp)->astray)
    || atomic_load(&qp->slot->astray);

  if (!cut && qp->rules_in && !(p->flags & PACKET_HELD)) {
    const Rule *r = find_rule(qp->rules_in, RULE_BREAK);
    cut = find_rule(qp->rules_in, RULE_CUT) || (r && qp->rs.executed >= r->least);
    if (qp->rs.lost_until && now_ns() >= qp->rs.lost_until)
      qp->rs.lost_until = 0;  /* this time it arrives */
    else if (!cut && qp->rs.lost_until)
      cut = true;
    else if (!cut && find_loss_of_long(qp, qp->rules_in, p->length))
      cut = true, strike(qp->rules_in, RULE_LOSS_OVER);
    else if (!cut && p->flags & PACKET_FIRST && strike(qp->rules_in, RULE_LOSS))
      qp->rs.lost_until = now_ns() + (4096ull << qp->attr.timeout), cut = true;
  }
  if (cut && atomic_load(&fabric.rings[qp->rs.ring].abandoned)) {
    qp->rs.head = tail;
    atomic_store_explicit(&qp->slot->head, tail, memory_order_release);
  }
  return cut;
}

/* Carries out the packet at the head, if it is time. */
static Outcome serve_packet(Qp *qp, uint64_t tail, bool fenced) {
  Responder *rs = &qp->rs;
  const uint8_t *at = ring_at(rs->ring) + rs->head % request_bytes();
  Packet p;

  memcpy(&p, at, sizeof p);
  if (p.flags & PACKET_PAD) {
    rs->head += packet_bytes(p.length);
    return DONE;
  }
  if (fenced && !(p.flags & PACKET_PIERCE))
    return WAITS;
  if (p.due && p.due > now_ns()) {
    rs->due = p.due;
    rs->soon = !(p.flags & PACKET_HELD);
    return WAITS;
  }
  if (lost(qp, &p, tail))
    return WAITS;
  Outcome outcome = execute(qp, &p, at + HEADER);
  if (outcome == DONE)
    packet_done(qp, &p);
  return outcome;
}

/* Once a rule is gone that lost acknowledgements, the sender tries again, and hears what it missed. */
static void acknowledge_again(Qp *qp) {
  if (!qp->rs.bound || atomic_load(&qp->slot->acked) == qp->rs.executed || find_rule(qp->rules_in, RULE_BREAK))
    return;
  atomic_store_explicit(&qp->slot->acked, qp->rs.executed, memory_order_release);
  notify(slot_of(qp->attr.dest_qp_num));
}

bool serve(Qp *qp) {
  Responder *rs = &qp->rs;
  enum ibv_qp_state state = state_of(&qp->ibv);
  Outcome outcome = DONE;

  if (qp->fence_at && now_ns() >= qp->fence_at) {
    fail(qp);
    return true;
  }
  bool fenced = state != IBV_QPS_RTR && state != IBV_QPS_RTS && !qp->fence_at;
  rs->due = 0;
  rs->soon = false;
  if (qp->mute || (fenced && (state != IBV_QPS_ERR || !rs->bound)) || (!rs->bound && !bind_to_peer(qp)))
    return true;
  acknowledge_again(qp);
  const Ring *ring = &fabric.rings[rs->ring];
  uint64_t before = rs->head, tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
  if (atomic_load(&ring->link) != rs->bound)
    return true;
  while (outcome == DONE && rs->head < tail && rs->head - before < MOST_AT_ONCE)
    outcome = serve_packet(qp, tail, fenced);
  if (rs->waits && rs->head < tail && atomic_load(&ring->abandoned)) {
    rs->head = tail;  /* nobody tries it again */
    atomic_store_explicit(&qp->slot->head, tail, memory_order_release);
  }
  if (rs->head != before || outcome == REFUSED)
    notify(slot_of(qp->attr.dest_qp_num));
  return (outcome != DONE && !rs->soon) || rs->head >= tail;
}
