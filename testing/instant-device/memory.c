/* What memory regions are here: a copy is over before the call that posted it is, so nobody has to wait for one. */
#include "instant-verbs.h"

EXPORT int ibv_dereg_mr(struct ibv_mr *m) {
  remove_region(m);
  return 0;
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
    int fd, int access) {
  (void)pd, (void)offset, (void)len, (void)iova, (void)fd, (void)access;
  errno = EOPNOTSUPP;
  return NULL;
}
