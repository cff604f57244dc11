/* Asynchronous events, and the control by which tests bring them about. */
#include "instant-verbs.h"

void raise_event(Device *d, struct ibv_async_event e) {
  lock(&world);
  for (Context *c = d->contexts; c; c = c->next)
    if (write(c->async_write, &e, sizeof e) < 0)
      perror("instantverbs: async event");
  unlock(&world);
}

EXPORT int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e) {
  ssize_t n;

  do {
    n = read(c->async_fd, e, sizeof *e);  /* blocks, unless the user made it not to */
  } while (n < 0 && errno == EINTR);
  return n == sizeof *e ? 0 : -1;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *e) { (void)e; }

EXPORT int instantverbs_port(const char *name, int up) {
  for (int i = 0; i < num_devices; i++)
    if (!strcmp(devices[i].ibv.name, name)) {
      struct ibv_async_event e = { .event_type = up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR };
      e.element.port_num = 1;
      atomic_store(&devices[i].up, up != 0);
      raise_event(&devices[i], e);
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
