/* The attributes of queue pairs, and which transition takes which. */
#include "devices.h"

typedef struct {
  enum ibv_qp_state from, to;
  int required, optional;
} Transition;

static const Transition transitions[] = {
  { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
  { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
  { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
    | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
  { IBV_QPS_RTR, IBV_QPS_RTS,
    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
    IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE },
  { IBV_QPS_RTS, IBV_QPS_RTS, 0,
    IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE },
};

static bool takes(const Transition *t, int mask) {
  return (mask & t->required) == t->required && !(mask & ~(t->required | t->optional | IBV_QP_STATE));
}

static bool in_range(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask) {
  const Device *d = context_of(qp->context)->device;

  return !(mask & IBV_QP_PORT && a->port_num != 1)
    && !(mask & IBV_QP_PKEY_INDEX && a->pkey_index >= num_pkeys)
    && !(mask & IBV_QP_PATH_MTU && (a->path_mtu < IBV_MTU_256 || a->path_mtu > d->mtu))
    && !(mask & IBV_QP_AV && (!a->ah_attr.is_global || a->ah_attr.grh.sgid_index >= d->gids))
    && !(mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > 128);
}

bool valid_transition(const struct ibv_qp *qp, const struct ibv_qp_attr *a, int mask) {
  enum ibv_qp_state from = state_of(qp), to = mask & IBV_QP_STATE ? a->qp_state : from;

  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
    return !(mask & ~IBV_QP_STATE);
  for (size_t i = 0; i < sizeof transitions / sizeof *transitions; i++)
    if (transitions[i].from == from && transitions[i].to == to)
      return takes(&transitions[i], mask) && in_range(qp, a, mask);
  return false;
}

void take_attributes(struct ibv_qp_attr *into, const struct ibv_qp_attr *a, int mask) {
#define TAKE(bit, field) if (mask & (bit)) into->field = a->field
  TAKE(IBV_QP_PKEY_INDEX, pkey_index);
  TAKE(IBV_QP_PORT, port_num);
  TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
  TAKE(IBV_QP_AV, ah_attr);
  TAKE(IBV_QP_PATH_MTU, path_mtu);
  TAKE(IBV_QP_DEST_QPN, dest_qp_num);
  TAKE(IBV_QP_RQ_PSN, rq_psn);
  TAKE(IBV_QP_SQ_PSN, sq_psn);
  TAKE(IBV_QP_TIMEOUT, timeout);
  TAKE(IBV_QP_RETRY_CNT, retry_cnt);
  TAKE(IBV_QP_RNR_RETRY, rnr_retry);
  TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
  TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
  TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
#undef TAKE
}

bool same_subnet(const Device *d, const union ibv_gid *local, const union ibv_gid *remote) {
  static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
  uint32_t ip;

  if (memcmp(local->raw, v4, 12) || memcmp(remote->raw, v4, 12))
    return !memcmp(local->raw, remote->raw, 8);
  memcpy(&ip, remote->raw + 12, 4);
  return d->prefix == 0 || (ntohl(ip) ^ d->ip) >> (32 - d->prefix) == 0;
}

enum ibv_wc_opcode completion_of(enum ibv_wr_opcode opcode) {
  static const enum ibv_wc_opcode of[] = {
    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
    [IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
    [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ, [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
  };

  return of[opcode];
}
