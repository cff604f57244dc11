/* Completion queues and their channels. */
#include "simulated-verbs.h"

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c) {
  Channel *ch = calloc(1, sizeof *ch);
  int fds[2];

  if (!ch || pipe2(fds, O_CLOEXEC)) {
    free(ch);
    return NULL;
  }
  ch->ibv.context = c;
  ch->ibv.fd = fds[0];
  ch->write_end = fds[1];
  return &ch->ibv;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ic) {
  Channel *ch = (Channel *)ic;

  if (ic->refcnt)
    return EBUSY;
  close(ic->fd);
  close(ch->write_end);
  free(ch);
  return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **ctx) {
  ssize_t n;

  do {
    n = read(ch->fd, cq, sizeof *cq);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof *cq)
    return -1;
  *ctx = (*cq)->cq_context;
  return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n) { cq->comp_events_completed += n; }

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector) {
  uint32_t size = 1;

  if ((errno = await_firmware(c)))
    return NULL;
  if (cqe < 1 || cqe > MAX_CQE || vector != 0) {
    errno = EINVAL;
    return NULL;
  }
  while (size < (uint32_t)cqe)
    size *= 2;
  Cq *cq = calloc(1, sizeof *cq);
  if (!cq || !(cq->ring = calloc(size, sizeof *cq->ring))) {
    free(cq);
    return NULL;
  }
  cq->mask = size - 1;
  cq->ibv.context = c;
  cq->ibv.channel = channel;
  cq->ibv.cq_context = cq_context;
  cq->ibv.cqe = cqe;
  pthread_mutex_init(&cq->ibv.mutex, NULL);
  pthread_cond_init(&cq->ibv.cond, NULL);
  if (channel)
    channel->refcnt++;
  return &cq->ibv;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *ic) {
  Cq *cq = (Cq *)ic;

  if (await_firmware(ic->context))
    return EIO;
  lock(&world);
  bool busy = cq->queue_pairs > 0;
  unlock(&world);
  if (busy)
    return EBUSY;
  if (ic->channel)
    ic->channel->refcnt--;
  free(cq->ring);
  free(cq);
  return 0;
}

void push(Cq *cq, const struct ibv_wc *wc, Qp *sender, uint32_t sq_upto) {
  bool wake, full = false;

  lock(&cq->lock);
  uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
  if (tail - cq->head > (uint32_t)cq->ibv.cqe - 1) {
    full = true;
  } else if (!atomic_load(&cq->overrun)) {
    Cqe *e = &cq->ring[tail & cq->mask];
    e->wc = *wc;
    e->sender = sender;
    e->sq_upto = sq_upto;
    atomic_store_explicit(&cq->tail, tail + 1, memory_order_release);
    if (late_every && sender && ++cq->late_count % late_every == 0)
      cq->hold = true;
  }
  wake = cq->armed && cq->ibv.channel;
  cq->armed = false;
  unlock(&cq->lock);
  if (wake) {
    struct ibv_cq *ic = &cq->ibv;
    if (write(((Channel *)ic->channel)->write_end, &ic, sizeof ic) < 0)
      perror("verbs: completion event");
  }
  if (full)
    overrun(cq);
}

void overrun(Cq *cq) {
  struct ibv_async_event e = { .event_type = IBV_EVENT_CQ_ERR };

  e.element.cq = &cq->ibv;
  if (!atomic_exchange(&cq->overrun, true))
    raise_event(context_of(cq->ibv.context)->device, e);
}

int take_completions(struct ibv_cq *ic, int n, struct ibv_wc *wc) {
  Cq *cq = (Cq *)ic;
  int got = 0;

  /* The common case of an empty queue takes no lock, as in the real providers,
   * which look at the owner bit of the next entry. */
  int fails = atomic_load_explicit(&cq->poll_fails, memory_order_relaxed);
  if (fails)
    return fails;
  uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_acquire);
  if (tail == cq->head)
    return atomic_load_explicit(&cq->overrun, memory_order_relaxed) ? -1 : 0;
  lock(&cq->lock);
  if (cq->hold) {
    cq->hold = false;
    unlock(&cq->lock);
    return 0;
  }
  tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
  while (got < n && cq->head != tail) {
    Cqe *e = &cq->ring[cq->head++ & cq->mask];
    wc[got++] = e->wc;
    if (e->sender)
      atomic_store_explicit(&e->sender->rq.free, e->sq_upto, memory_order_release);
  }
  unlock(&cq->lock);
  return got;
}

static void purge_queue(Cq *cq, uint32_t queue_pair) {
  lock(&cq->lock);
  uint32_t tail = atomic_load_explicit(&cq->tail, memory_order_relaxed), kept = cq->head;
  for (uint32_t i = cq->head; i != tail; i++)
    if (cq->ring[i & cq->mask].wc.qp_num != queue_pair)
      cq->ring[kept++ & cq->mask] = cq->ring[i & cq->mask];
  atomic_store_explicit(&cq->tail, kept, memory_order_release);
  unlock(&cq->lock);
}

void purge(Qp *qp) {
  purge_queue((Cq *)qp->ibv.send_cq, qp->ibv.qp_num);
  purge_queue((Cq *)qp->ibv.recv_cq, qp->ibv.qp_num);
}

int req_notify_cq(struct ibv_cq *ic, int solicited_only) {
  Cq *cq = (Cq *)ic;

  (void)solicited_only;
  lock(&cq->lock);
  cq->armed = true;
  unlock(&cq->lock);
  return 0;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe) {
  (void)cq, (void)cqe;
  return EOPNOTSUPP;
}
