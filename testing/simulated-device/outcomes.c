/* How requests and receives of simulated queue pairs end. */
#include "simulated-verbs.h"

/* Nothing else of a failed completion is valid, and devices leave rubbish there. */
static void spoil(struct ibv_wc *wc) {
  wc->opcode = (enum ibv_wc_opcode)0x5a;
  wc->byte_len = 0x5a5a5a5a;
  wc->vendor_err = wc->status == IBV_WC_WR_FLUSH_ERR ? 249 : 129;
}

void receive_done(Qp *qp, enum ibv_wc_status status, uint32_t len, const Packet *p) {
  struct ibv_wc wc = { .wr_id = recv_wqe(qp, qp->rs.rq_head)->wr_id, .status = status, .opcode = IBV_WC_RECV,
    .byte_len = len, .qp_num = qp->ibv.qp_num, .src_qp = qp->attr.dest_qp_num };

  if (p && (p->opcode == IBV_WR_SEND_WITH_IMM || p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
    wc.wc_flags = IBV_WC_WITH_IMM, wc.imm_data = p->immediate;
  if (p && p->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
    wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  if (status != IBV_WC_SUCCESS)
    spoil(&wc);
  qp->rs.rq_head++;
  push((Cq *)qp->ibv.recv_cq, &wc, NULL, 0);
}

void request_done(Qp *qp, const SendWqe *w, enum ibv_wc_status status) {
  struct ibv_wc wc = { .wr_id = w->wr_id, .status = status, .opcode = completion_of(w->opcode),
    .byte_len = w->opcode == IBV_WR_RDMA_READ ? (uint32_t)w->length : 8, .qp_num = qp->ibv.qp_num };

  qp->rq.head++;
  if (answers(w->opcode))
    qp->rq.reads--;
  if (status == IBV_WC_SUCCESS && !(w->flags & IBV_SEND_SIGNALED) && !qp->init.sq_sig_all)
    return;  /* its slot comes free with the next signalled one */
  if (status != IBV_WC_SUCCESS)
    spoil(&wc);
  push((Cq *)qp->ibv.send_cq, &wc, qp, (uint32_t)qp->rq.head);
}

/* At once, also in ERR: an abandoned ring may be given to another queue pair. */
void leave_ring(Qp *qp) {
  if (qp->ring != NO_RING)
    ring_abandon(qp->ring);
  qp->ring = NO_RING;
}

void fail(Qp *qp) {
  Requester *rq = &qp->rq;

  qp->fence_at = 0;
  set_state(&qp->ibv, IBV_QPS_ERR);
  atomic_store(&qp->slot->state, qp->mute ? (uint32_t)SLOT_MUTE : (uint32_t)IBV_QPS_ERR);
  leave_ring(qp);
  if (qp->mute)
    return;
  while (rq->head != rq->tail) {
    SendWqe *w = send_wqe(qp, rq->head);
    if (answers(w->opcode) && rq->head >= rq->staged)
      rq->reads++;  /* request_done() takes it off */
    request_done(qp, w, IBV_WC_WR_FLUSH_ERR);
  }
  while (qp->rs.rq_head != qp->rs.rq_tail)
    receive_done(qp, IBV_WC_WR_FLUSH_ERR, 0, NULL);
}

void fail_oldest(Qp *qp, enum ibv_wc_status status) {
  SendWqe *w = send_wqe(qp, qp->rq.head);

  if (answers(w->opcode) && qp->rq.head >= qp->rq.staged)
    qp->rq.reads++;
  request_done(qp, w, status);
  fail(qp);
}
