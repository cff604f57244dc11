/*
 * Queue pairs with a completion queue of their own, made and connected as Trigon does.
 */
#ifndef VERBS_ENDS_H
#define VERBS_ENDS_H

#include <infiniband/verbs.h>
#include <stdint.h>

struct end {
  struct ibv_cq *cq;
  struct ibv_qp *qp;
};

/* Where a queue pair's peer is. */
struct route {
  uint32_t number;
  union ibv_gid gid;
  int own_gid_index;
  enum ibv_mtu mtu;
};

/* The name of the verb that failed, or NULL. */
static inline const char *open_end(struct end *end, struct ibv_pd *pd, uint32_t sends, uint32_t receives,
                                   uint32_t inline_bytes) {
  end->cq = ibv_create_cq(pd->context, (int)(sends + receives), NULL, NULL, 0);
  if (end->cq == NULL) {
    return "ibv_create_cq";
  }
  struct ibv_qp_init_attr attributes = {.send_cq = end->cq,
                                        .recv_cq = end->cq,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {.max_send_wr = sends,
                                                .max_recv_wr = receives,
                                                .max_send_sge = 1,
                                                .max_recv_sge = 1,
                                                .max_inline_data = inline_bytes}};
  end->qp = ibv_create_qp(pd, &attributes);
  return end->qp == NULL ? "ibv_create_qp" : NULL;
}

/* From RESET to RTS. The name of the state that it did not come to, or NULL. */
static inline const char *connect_end(struct end end, const struct route *peer) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  if (ibv_modify_qp(end.qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0) {
    return "INIT";
  }
  a = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = peer->mtu,
      .dest_qp_num = peer->number,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12,
      .ah_attr = {.is_global = 1,
                  .port_num = 1,
                  .grh = {.dgid = peer->gid, .sgid_index = (uint8_t)peer->own_gid_index, .hop_limit = 255}}};
  if (ibv_modify_qp(end.qp, &a,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0) {
    return "RTR";
  }
  a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 6, .rnr_retry = 7, .max_rd_atomic = 1};
  return ibv_modify_qp(end.qp, &a,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                           IBV_QP_MAX_QP_RD_ATOMIC) == 0
             ? NULL
             : "RTS";
}

/* An RDMA WRITE, with its length as the immediate if it has one, or a SEND. 0 or an errno. */
static inline int post_bytes(struct end end, enum ibv_wr_opcode opcode, const struct ibv_sge *from, uint64_t to,
                             uint32_t remote_key, unsigned flags) {
  struct ibv_sge sge = *from;
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = flags,
                           .wr.rdma = {to, remote_key}};
  struct ibv_send_wr *bad;
  wr.imm_data = from->length;
  return ibv_post_send(end.qp, &wr, &bad);
}

#endif
