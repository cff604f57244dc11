/* What memory regions are here: a copy is over before the call that posted it is, so nobody has to wait for one. */
#include "instant-verbs.h"

EXPORT int ibv_dereg_mr(struct ibv_mr *m) {
  remove_region(m);
  return 0;
}
