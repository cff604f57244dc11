/* Rules as queue pairs see them: which match, and when they strike. */
#include "simulated-verbs.h"

static bool name_matches(const char *pattern, const char *name) {
  return !strcmp(pattern, "*") || !strncmp(pattern, name, NAME_SIZE);
}

static bool end_matches(const char *node, const char *device, int port) {
  return port == NO_PORT ? !strcmp(node, "*") && !strcmp(device, "*")
    : name_matches(node, fabric.ports[port].node) && name_matches(device, fabric.ports[port].name);
}

void match_rules(Qp *qp) {
  int own = device_ports[qp->device->index];

  qp->rules_out = qp->rules_in = 0;
  for (int i = 0; i < RULES; i++) {
    const Rule *r = &fabric.rules[i];
    uint64_t serial = atomic_load_explicit(&r->serial, memory_order_acquire);
    if (!serial || (r->queue_pair && r->queue_pair != qp->ibv.qp_num && r->queue_pair != qp->attr.dest_qp_num))
      continue;
    bool out = end_matches(r->from_node, r->from_device, own) && end_matches(r->to_node, r->to_device, qp->peer_port);
    bool in = end_matches(r->from_node, r->from_device, qp->peer_port) && end_matches(r->to_node, r->to_device, own);
    if (atomic_load(&r->serial) != serial)
      continue;  /* replaced meanwhile; its generation comes */
    qp->rules_out |= (uint64_t)out << i;
    qp->rules_in |= (uint64_t)in << i;
  }
}

static Rule *active(uint64_t rules, Action action, uint64_t now) {
  for (; rules; rules &= rules - 1) {
    Rule *r = &fabric.rules[__builtin_ctzll(rules)];
    if (atomic_load_explicit(&r->serial, memory_order_acquire) && r->action == action
        && (!r->until || now < r->until))
      return r;
  }
  return NULL;
}

const Rule *find_rule(uint64_t rules, Action action) { return rules ? active(rules, action, now_ns()) : NULL; }

const Rule *find_loss_of_long(const Qp *qp, uint64_t rules, uint64_t length) {
  const Rule *r = find_rule(rules, RULE_LOSS_OVER);
  uint64_t mtu = 128ull << qp->attr.path_mtu;

  return r && (length < mtu ? length : mtu) > r->least ? r : NULL;
}

const Rule *strike(uint64_t rules, Action action) {
  Rule *r = rules ? active(rules, action, now_ns()) : NULL;

  if (!r)
    return NULL;
  uint64_t seen = atomic_fetch_add(&r->seen, 1);
  if (seen < r->after || (r->every > 1 && (seen - r->after) % r->every))
    return NULL;
  if ((action == RULE_LOSS || action == RULE_ACK_LOSS) && (uint64_t)rand() % 1000000 >= r->least)
    return NULL;
  if (atomic_fetch_add(&r->strikes, 1) >= r->times && r->times) {
    atomic_fetch_sub(&r->strikes, 1);
    return NULL;
  }
  return r;
}

static void act_on(Qp *qp, const Rule *r) {
  if (r->action == RULE_QP_ERROR) {
    fail(qp);
    return;
  }
  if (r->action == RULE_CQ_OVERRUN) {
    overrun((Cq *)qp->ibv.send_cq);
    return;
  }
  silence(qp);
  if (r->action == RULE_QP_FATAL)
    queue_pair_event(qp, IBV_EVENT_QP_FATAL);
}

void apply_rules(void) {
  for (int i = 0; i < RULES; i++) {
    Rule *r = &fabric.rules[i];
    if (!atomic_load(&r->serial) || r->action < RULE_QP_ERROR || r->action > RULE_CQ_OVERRUN)
      continue;
    for (int k = 0; k < SLOTS; k++) {
      Qp *qp = atomic_load(&qps[k]);
      if (qp && state_of(&qp->ibv) == IBV_QPS_RTS && !qp->mute && (!r->queue_pair || r->queue_pair == qp->ibv.qp_num)
          && qp->rules_out >> i & 1 && strike(1ull << i, (Action)r->action))
        act_on(qp, r);
    }
  }
}
