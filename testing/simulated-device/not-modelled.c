/* What programs may ask for and this does not have. */
#include "devices.h"

static bool forked_ok;

EXPORT int ibv_fork_init(void) { forked_ok = true; return 0; }
EXPORT enum ibv_fork_status ibv_is_fork_initialized(void) {
  return forked_ok ? IBV_FORK_ENABLED : IBV_FORK_DISABLED;
}
EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { (void)qp; return NULL; }
EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags) {
  (void)qp, (void)op, (void)flags;
  return 0;
}
EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a) {
  (void)pd, (void)a;
  errno = EOPNOTSUPP;
  return NULL;
}
EXPORT int ibv_destroy_ah(struct ibv_ah *ah) { (void)ah; return EOPNOTSUPP; }
EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a) {
  (void)pd, (void)a;
  errno = EOPNOTSUPP;
  return NULL;
}
EXPORT int ibv_destroy_srq(struct ibv_srq *s) { (void)s; return EOPNOTSUPP; }
