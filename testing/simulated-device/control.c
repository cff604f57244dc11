/* The control by which a program brings faults about within its own process; symbol version SIMVERBS_1. */
#include "simulated-verbs.h"

static Device *find_device(const char *name) {
  for (int i = 0; i < num_devices; i++)
    if (!strcmp(devices[i].ibv.name, name))
      return &devices[i];
  return NULL;
}

/* With the engine held. */
static Qp *find_queue_pair(uint32_t number) {
  for (int i = 0; i < MAX_OBJECTS; i++) {
    Qp *qp = atomic_load(&qps[i]);
    if (qp && qp->ibv.qp_num == number)
      return qp;
  }
  return NULL;
}

/* Lists the device's queue pairs that are ready to send, in the order of their indices. Returns how many, or -1. */
EXPORT int simverbs_queue_pairs(const char *device, uint32_t *numbers, int most) {
  const Device *d = find_device(device);
  int count = 0;

  if (!d)
    return -1;
  pthread_mutex_lock(&engine);
  for (int i = 0; i < MAX_OBJECTS && count < most; i++) {
    Qp *qp = atomic_load(&qps[i]);
    if (qp && qp->device == d && state_of(&qp->ibv) == IBV_QPS_RTS)
      numbers[count++] = qp->ibv.qp_num;
  }
  pthread_mutex_unlock(&engine);
  return count;
}

/* From now on ibv_poll_cq of its receive CQ returns that, whatever is in it; no event says so. Returns 0 or -1. */
EXPORT int simverbs_fail_polls(uint32_t queue_pair, int result) {
  pthread_mutex_lock(&engine);
  Qp *qp = find_queue_pair(queue_pair);
  if (qp)
    atomic_store(&((Cq *)qp->ibv.recv_cq)->poll_fails, result);
  pthread_mutex_unlock(&engine);
  return qp ? 0 : -1;
}

/* Raises IBV_EVENT_QP_FATAL, and no completion ever comes from it again. Returns 0 or -1. */
EXPORT int simverbs_fail_queue_pair(uint32_t queue_pair) {
  pthread_mutex_lock(&engine);
  Qp *qp = find_queue_pair(queue_pair);
  if (qp) {
    silence(qp);
    queue_pair_event(qp, IBV_EVENT_QP_FATAL);
  }
  pthread_mutex_unlock(&engine);
  return qp ? 0 : -1;
}

/*
 * The same for all of the device's queue pairs, with one IBV_EVENT_DEVICE_FATAL. None can be created or modified any
 * more (EIO), and it cannot be opened. Returns 0 or -1.
 */
EXPORT int simverbs_fail_device(const char *device) {
  Device *d = find_device(device);

  if (!d)
    return -1;
  atomic_store(&d->absent, true);
  fail_device(d, false);
  return 0;
}
