/* Asynchronous events. */
#include "simulated-verbs.h"

void raise_event(Device *d, struct ibv_async_event e) {
  lock(&world);
  for (Context *c = d->contexts; c; c = c->next)
    if (write(c->async_write, &e, sizeof e) < 0)
      perror("verbs: async event");
  unlock(&world);
}

void raise_port_event(Device *d, enum ibv_event_type type) {
  struct ibv_async_event e = { .event_type = type };

  e.element.port_num = 1;
  raise_event(d, e);
}

void queue_pair_event(Qp *qp, enum ibv_event_type type) {
  struct ibv_async_event e = { .event_type = type };

  e.element.qp = &qp->ibv;
  raise_event(qp->device, e);
}

void fail_device(Device *d, bool removed) {
  struct ibv_async_event e = { .event_type = IBV_EVENT_DEVICE_FATAL };

  lock(&world);
  for (Context *c = d->contexts; c; c = c->next)
    atomic_store(&c->dead, true), atomic_store(&c->removed, removed);
  unlock(&world);
  pthread_mutex_lock(&engine);
  for (uint32_t i = 0; i < MAX_OBJECTS; i++) {
    Qp *qp = atomic_load(&qps[i]);
    if (qp && qp->device == d)
      silence(qp);
  }
  pthread_mutex_unlock(&engine);
  raise_event(d, e);
}

EXPORT int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e) {
  ssize_t n;

  do {
    n = read(c->async_fd, e, sizeof *e);  /* blocks, unless the user made it not to */
  } while (n < 0 && errno == EINTR);
  return n == sizeof *e ? 0 : -1;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *e) { (void)e; }
