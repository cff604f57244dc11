/* The control by which tests bring faults about. */
#include "instant-verbs.h"

EXPORT int instantverbs_port(const char *name, int up) {
  for (int i = 0; i < num_devices; i++)
    if (!strcmp(devices[i].ibv.name, name)) {
      atomic_store(&devices[i].up, up != 0);
      raise_port_event(&devices[i], up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
      return 0;
    }
  return -1;
}

EXPORT uint64_t instantverbs_posted(void) { return atomic_load(&posted); }

static Device *find_device(const char *name) {
  for (int i = 0; i < num_devices; i++)
    if (!strcmp(devices[i].ibv.name, name))
      return &devices[i];
  return NULL;
}

EXPORT int instantverbs_queue_pairs(const char *name, uint32_t *numbers, int most) {
  Device *d = find_device(name);
  int count = 0;

  if (!d)
    return -1;
  lock(&world);
  for (uint32_t i = 0; i < MAX_OBJECTS && count < most; i++)
    if (qps[i] && qps[i]->device == d && state_of(&qps[i]->ibv) == IBV_QPS_RTS)
      numbers[count++] = qps[i]->ibv.qp_num;
  unlock(&world);
  return count;
}

EXPORT int instantverbs_fail_polls(uint32_t number, int result) {
  Qp *qp = find_qp(number);

  if (!qp)
    return -1;
  atomic_store(&((Cq *)qp->ibv.recv_cq)->poll_fails, result);
  return 0;
}

EXPORT int instantverbs_fail_queue_pair(uint32_t number) {
  struct ibv_async_event e = { .event_type = IBV_EVENT_QP_FATAL };
  Qp *qp = find_qp(number);

  if (!qp)
    return -1;
  atomic_store(&qp->mute, true);
  e.element.qp = &qp->ibv;
  raise_event(qp->device, e);
  return 0;
}

EXPORT int instantverbs_fail_device(const char *name) {
  struct ibv_async_event e = { .event_type = IBV_EVENT_DEVICE_FATAL };
  Device *d = find_device(name);

  if (!d)
    return -1;
  lock(&world);
  atomic_store(&d->absent, true);
  for (Context *c = d->contexts; c; c = c->next)
    atomic_store(&c->dead, true);
  for (uint32_t i = 0; i < MAX_OBJECTS; i++)
    if (qps[i] && qps[i]->device == d)
      atomic_store(&qps[i]->mute, true);
  unlock(&world);
  raise_event(d, e);
  return 0;
}

EXPORT int instantverbs_restore_device(const char *name) {
  Device *d = find_device(name);

  if (!d)
    return -1;
  atomic_store(&d->absent, false);
  return 0;
}

/* For a stand-in of the CUDA driver. */
EXPORT void verbs_settle_writes(void) {
  lock(&dma_bufs);
  land_all_writes();
  unlock(&dma_bufs);
}
