/* The NIC: who serves queue pairs, and the timers. */
#include "simulated-verbs.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

enum { TICK_NS = 2000000, ROUNDS = 4, POLLS_OF_A_SPINNING_PROGRAM = 64, POLLS_BEFORE_YIELDING = 128 };

static _Atomic unsigned polls;  /* since the NIC thread looked last; some may be lost */
static _Atomic bool timers_wanted;
static bool running;

/* ---------------------------------------------------------------- serving */

static void look_at(Qp *qp) {
  reap(qp);
  pump(qp);
  if (!serve(qp))
    notify((uint32_t)qp->index);
}

void serve_pending(void) {
  Process *me = &fabric.processes[self];

  for (int round = 0; round < ROUNDS && atomic_load(&me->summary); round++)
    for (uint64_t words = atomic_exchange(&me->summary, 0); words; words &= words - 1) {
      int word = __builtin_ctzll(words);
      for (uint64_t bits = atomic_exchange(&me->pending[word], 0); bits; bits &= bits - 1) {
        Qp *qp = atomic_load(&qps[word * 64 + __builtin_ctzll(bits)]);
        if (qp)
          look_at(qp);
      }
    }
}

int poll_cq(struct ibv_cq *ic, int n, struct ibv_wc *wc) {
  if (forked)
    return -EIO;
  if (atomic_load_explicit(&fabric.processes[self].summary, memory_order_relaxed) && !pthread_mutex_trylock(&engine)) {
    serve_pending();
    pthread_mutex_unlock(&engine);
  }
  unsigned before = atomic_load_explicit(&polls, memory_order_relaxed);
  atomic_store_explicit(&polls, before + 1, memory_order_relaxed);
  int taken = take_completions(ic, n, wc);
  if (!taken && before % POLLS_BEFORE_YIELDING == POLLS_BEFORE_YIELDING - 1)
    sched_yield();  /* the peer may need this CPU to answer: a NIC would not */
  return taken;
}

/* Its store comes before the look whether the NIC thread sleeps, which looks the other way round. */
void schedule(void) {
  if (!atomic_load_explicit(&timers_wanted, memory_order_relaxed)) {
    atomic_store(&timers_wanted, true);
    ring_bell((uint32_t)self);
  }
}

/* ---------------------------------------------------------------- timers */

/* What the peer's process is, looked at once a tick. */
static bool peer_alive(const Slot *peer) {
  static struct { uint64_t nonce, at; bool alive; } seen[PROCESSES];
  uint32_t owner = atomic_load(&peer->owner);
  uint64_t nonce = atomic_load(&peer->owner_nonce), now = now_ns();

  if (owner >= PROCESSES)
    return false;
  if (seen[owner].nonce != nonce || now - seen[owner].at >= TICK_NS) {
    seen[owner].nonce = nonce;
    seen[owner].at = now;
    seen[owner].alive = process_alive(owner, nonce);
  }
  return seen[owner].alive;
}

/* Why no acknowledgement can come. A peer that is slow, or stopped, is none of the reasons. */
static Unreachable why_unreachable(const Qp *qp) {
  const Slot *peer = peer_slot(qp);
  uint32_t state = atomic_load(&peer->state);
  uint64_t bound = atomic_load(&peer->bound);

  if (!port_is_up(device_ports[qp->device->index]))
    return OWN_PORT_DOWN;
  if (atomic_load(&peer->number) != qp->attr.dest_qp_num || !peer_alive(peer))
    return PEER_GONE;
  if (state != IBV_QPS_RTR && state != IBV_QPS_RTS)
    return PEER_NOT_READY;
  if (atomic_load(&peer->peer) != qp->ibv.qp_num || memcmp(peer->peer_gid, qp->slot->gid, 16)
      || memcmp(peer->gid, qp->slot->peer_gid, 16) || (bound && bound != qp->rq.link))
    return PEER_OTHER;
  if (atomic_load(&peer->rq_psn) != (qp->attr.sq_psn & 0xffffff))
    return PSN_DIFFERS;
  if (!port_is_up(qp->peer_port))
    return PEER_PORT_DOWN;
  if (atomic_load(&peer->astray) || atomic_load(&qp->slot->astray))
    return GID_GONE;
  uint64_t length = send_wqe(qp, qp->rq.head)->length;
  if (exceeds_mtu(qp->peer_port, qp->attr.path_mtu, length)
      || exceeds_mtu(device_ports[qp->device->index], qp->attr.path_mtu, length))
    return MTU_DIFFERS;
  if (!same_partition(peer, qp->slot))
    return PARTITION_DIFFERS;
  if (find_rule(qp->rules_out | qp->rules_in, RULE_CUT) || find_rule(qp->rules_out, RULE_HOLD)
      || find_rule(qp->rules_out, RULE_BREAK)
      || find_loss_of_long(qp, qp->rules_out, length))
    return CUT_BY_RULE;
  if (send_wqe(qp, qp->rq.head)->paused_until > now_ns())
    return PAUSED_BY_RULE;
  return REACHABLE;
}

static uint64_t ack_time(const Qp *qp) {
  if (!qp->attr.timeout)
    return UINT64_MAX;
  return (4096ull << qp->attr.timeout) * (qp->attr.retry_cnt + 1u);
}

/* The wait that a responder asks for, by its code; table 45 of the InfiniBand specification, in units of 10 us. */
static uint64_t rnr_time(const Qp *qp, uint32_t code) {
  static const uint16_t units[] = { 65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
    1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152 };

  return qp->attr.rnr_retry == 7 ? UINT64_MAX : units[code % 32] * 10000ull * qp->attr.rnr_retry;
}

/* Whether what has begun at since, or begins now, has lasted too long. */
static bool elapsed(uint64_t *since, uint64_t now, uint64_t limit) {
  if (!*since)
    *since = now;
  return now - *since >= limit;
}

/* Whether requests are outstanding, after the queue pair's timers were looked at. */
static bool run_timer(Qp *qp, uint64_t now) {
  Requester *rq = &qp->rq;
  const Slot *peer = peer_slot(qp);

  bool later = qp->fence_at || qp->rs.due || qp->rs.lost_until || (qp->rs.waits && qp->rules_in);

  if (later && !serve(qp))
    notify((uint32_t)qp->index);
  if (state_of(&qp->ibv) != IBV_QPS_RTS || qp->mute || rq->head == rq->tail)
    return later;
  reap(qp);
  pump(qp);
  if (state_of(&qp->ibv) != IBV_QPS_RTS || rq->head == rq->tail)
    return true;
  bool rnr = atomic_load(&peer->bound) == rq->link && atomic_load(&peer->rnr) == rq->head + 1;
  if (why_unreachable(qp) == REACHABLE) {
    if (rq->unreachable_since)
      notify(slot_of(qp->attr.dest_qp_num));  /* packets that were lost come again */
    rq->unreachable_since = 0;
  } else if (elapsed(&rq->unreachable_since, now, ack_time(qp))) {
    fail_oldest(qp, IBV_WC_RETRY_EXC_ERR);
  }
  if (!rnr || state_of(&qp->ibv) != IBV_QPS_RTS)
    rq->rnr_since = 0;
  else if (elapsed(&rq->rnr_since, now, rnr_time(qp, atomic_load(&peer->rnr_timer))))
    fail_oldest(qp, IBV_WC_RNR_RETRY_EXC_ERR);
  return true;
}

static bool run_timers(uint64_t now) {
  bool any = false;

  for (int i = 0; i < SLOTS; i++) {
    Qp *qp = atomic_load_explicit(&qps[i], memory_order_relaxed);
    if (qp && state_of(&qp->ibv) != IBV_QPS_RESET)
      any |= run_timer(qp, now);
  }
  return any;
}

/* ---------------------------------------------------------------- the thread */

static void take_changes(uint64_t *seen) {
  uint64_t generation = atomic_load(&fabric.header->generation);

  if (generation == *seen)
    return;
  *seen = generation;
  refresh_ports();
  pthread_mutex_lock(&engine);
  for (int i = 0; i < SLOTS; i++)
    if (atomic_load(&qps[i])) {
      match_rules(qps[i]);
      notify((uint32_t)i);
    }
  apply_rules();
  stop_program();
  pthread_mutex_unlock(&engine);
  atomic_store(&fabric.processes[self].generation, generation);
}

/* Sleeps until the bell rings, or for a second, in case that somebody was killed before ringing it. */
static void sleep_until_bell(uint32_t heard, bool soon) {
  Process *me = &fabric.processes[self];
  struct timespec most = soon ? (struct timespec){ .tv_nsec = TICK_NS } : (struct timespec){ .tv_sec = 1 };

  if (atomic_load(&me->bell) == heard)
    syscall(SYS_futex, &me->bell, FUTEX_WAIT, heard, &most, NULL, 0);
  atomic_store(&me->asleep, 0);
}

static void *nic(void *unused) {
  Process *me = &fabric.processes[self];
  uint64_t generation = UINT64_MAX;

  (void)unused;
  pthread_setname_np(pthread_self(), "simverbs-nic");
  for (;;) {
    uint32_t heard = atomic_load(&me->bell);
    take_changes(&generation);
    atomic_store(&timers_wanted, false);
    /* while the program serves, nobody has to wake this thread, which looks now and then whether it still does */
    bool by_program = atomic_exchange(&polls, 0) >= POLLS_OF_A_SPINNING_PROGRAM;
    pthread_mutex_lock(&engine);
    if (!by_program)
      serve_pending();
    bool timers = run_timers(now_ns());
    pthread_mutex_unlock(&engine);
    if (timers)
      atomic_store(&timers_wanted, true);
    if (!by_program) {
      atomic_store(&me->asleep, 1);
      if (atomic_load(&me->summary) || atomic_load(&fabric.header->generation) != generation) {
        atomic_store(&me->asleep, 0);
        continue;
      }
    }
    sleep_until_bell(heard, timers || by_program || atomic_load(&timers_wanted));
  }
  return NULL;
}

static void in_child(void) { atomic_store(&forked, true); }

static int start_thread(void) {
  pthread_t thread;
  sigset_t all, before;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  /* signals are the program's */
  int rc = pthread_create(&thread, NULL, nic, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!rc)
    pthread_detach(thread);
  return rc;
}

int engine_start(void) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  int rc = forked ? EIO : 0;

  pthread_mutex_lock(&once);
  if (!rc && !running) {
    rc = fabric_open(NULL);
    if (!rc && self < 0)
      rc = fabric_join();
    if (!rc) {
      registry_lock();
      collect();
      registry_unlock();
      if (fabric_made && getenv("SIMVERBS_RULES"))
        add_rules(getenv("SIMVERBS_RULES"));
      srand((unsigned)fabric.header->seed ^ (unsigned)self);
      refresh_ports();
      pthread_atfork(NULL, NULL, in_child);
      rc = start_thread();
    }
    running = !rc;
  }
  pthread_mutex_unlock(&once);
  return rc;
}
