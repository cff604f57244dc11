/* Memory regions: what peers write into them is written with the engine held. */
#include "simulated-verbs.h"

EXPORT int ibv_dereg_mr(struct ibv_mr *m) {
  if (forked)
    return EIO;
  pthread_mutex_lock(&engine);
  remove_region(m);
  pthread_mutex_unlock(&engine);
  return 0;
}

/* For a stand-in of the CUDA driver. */
EXPORT void verbs_settle_writes(void) {
  pthread_mutex_lock(&engine);
  land_all_writes();
  pthread_mutex_unlock(&engine);
}
