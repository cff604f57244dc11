/* The lists of memory of work requests. */
#include "simulated-verbs.h"

/* The rest of the element where offset is; NULL if its key does not allow it. */
static uint8_t *part_of(const Qp *qp, const struct ibv_sge *sge, int n, uint64_t offset, uint64_t *len, int access) {
  int i = 0;

  while (i < n && offset >= sge[i].length)
    offset -= sge[i++].length;
  if (i == n)
    return NULL;
  if (*len > sge[i].length - offset)
    *len = sge[i].length - offset;
  return translate(sge[i].lkey, sge[i].addr + offset, *len, access, qp->ibv.pd);
}

bool scatter(const Qp *qp, const struct ibv_sge *sge, int n, uint64_t offset, const uint8_t *from, uint64_t len) {
  while (len) {
    uint64_t part = len;
    uint8_t *to = part_of(qp, sge, n, offset, &part, IBV_ACCESS_LOCAL_WRITE);
    if (!to)
      return false;
    ordered_copy(to, from, part);
    from += part, offset += part, len -= part;
  }
  return true;
}

bool gather(const Qp *qp, const struct ibv_sge *sge, int n, uint64_t offset, uint8_t *to, uint64_t len) {
  while (len) {
    uint64_t part = len;
    const uint8_t *from = part_of(qp, sge, n, offset, &part, 0);
    if (!from)
      return false;
    memcpy(to, from, part);
    to += part, offset += part, len -= part;
  }
  return true;
}
