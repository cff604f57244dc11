/* Faults that come by themselves, at random moments, while data moves. */
#include "instant-verbs.h"

unsigned queue_pair_faults, port_faults, port_away_ms, gid_moves;
_Atomic unsigned device_fault;
bool faults;
static _Atomic uint32_t noise = 2463534242u;

static uint32_t random_number(void) {
  uint32_t x = atomic_load(&noise);

  x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  atomic_store(&noise, x);
  return x;
}

/* Whether one of these is due, for one of the threads that ask. The first that asks finds out when. */
static bool due(unsigned every, atomic_ulong *next) {
  uint64_t at = atomic_load_explicit(next, memory_order_relaxed);
  uint64_t now = atomic_load_explicit(&posted, memory_order_relaxed);

  return every && now >= at
    && atomic_compare_exchange_strong(next, &at, now + every / 2 + random_number() % every) && at != 0;
}

/* One that is ready to send, and not to itself, with lifetime held. Returns whether it is. */
static bool fail_if_sending(Qp *qp) {
  if (!qp || state_of(&qp->ibv) != IBV_QPS_RTS || qp->attr.dest_qp_num == qp->ibv.qp_num)
    return false;
  lock(&qp->send_lock);
  fail_sends(qp);
  unlock(&qp->send_lock);
  flush_receives(qp);
  kick_while_alive(qp);
  return true;
}

/* Any one. Returns its number, or 0 if there is none. */
static uint32_t fail_queue_pair(void) {
  uint32_t number = 0;

  lock(&world);
  uint32_t start = random_number() % (next_qp + 1);
  unlock(&world);
  lock(&lifetime);
  for (uint32_t i = 0; i < MAX_OBJECTS && !number; i++) {
    Qp *qp = qps[(start + i) % MAX_OBJECTS];
    uint32_t of_qp = qp ? qp->ibv.qp_num : 0;
    if (fail_if_sending(qp))
      number = of_qp;
  }
  unlock(&lifetime);
  return number;
}

static void *bring_up(void *device) {
  const char *name = ((Device *)device)->ibv.name;

  usleep(port_away_ms * 1000);
  fprintf(stderr, "instantverbs: the port of %s comes up\n", name);
  instantverbs_port(name, 1);
  return NULL;
}

/* At most one port is down at a time. */
static void move_port(void) {
  pthread_t thread;

  for (int i = 0; i < num_devices; i++)
    if (!atomic_load(&devices[i].up)) {
      if (!port_away_ms)
        instantverbs_port(devices[i].ibv.name, 1);
      return;
    }
  Device *d = &devices[random_number() % (uint32_t)num_devices];
  fprintf(stderr, "instantverbs: the port of %s goes down\n", d->ibv.name);
  instantverbs_port(d->ibv.name, 0);
  if (port_away_ms && !pthread_create(&thread, NULL, bring_up, d))
    pthread_detach(thread);
}

static void move_gid(void) {
  Device *d = &devices[random_number() % (uint32_t)num_devices];
  uint32_t last = (uint32_t)d->gids - 1;

  if (last < 2)
    return;
  fprintf(stderr, "instantverbs: the GID of %s moves\n", d->ibv.name);
  lock(&world);
  struct ibv_gid_entry moved = d->gid[last];
  d->gid[last] = d->gid[1];
  d->gid[1] = moved;
  d->gid[last].gid_index = last;
  d->gid[1].gid_index = 1;
  unlock(&world);
  raise_port_event(d, IBV_EVENT_GID_CHANGE);
  lock(&lifetime);
  for (uint32_t i = 0; i < MAX_OBJECTS; i++)
    if (qps[i] && qps[i]->device == d)
      fail_if_sending(qps[i]);
  unlock(&lifetime);
}

void plant_faults(void) {
  static atomic_ulong next_queue_pair, next_port, next_gid, next_device;

  if (due(queue_pair_faults, &next_queue_pair)) {
    uint32_t number = fail_queue_pair();
    if (number)
      fprintf(stderr, "instantverbs: queue pair 0x%x fails\n", number);
  }
  if (due(port_faults, &next_port))
    move_port();
  if (due(gid_moves, &next_gid))
    move_gid();
  if (due(device_fault, &next_device)) {
    if (!atomic_load(&devices[0].absent)) {
      fprintf(stderr, "instantverbs: %s fails\n", devices[0].ibv.name);
      instantverbs_fail_device(devices[0].ibv.name);
    } else {
      device_fault = 0;
      fprintf(stderr, "instantverbs: %s is back\n", devices[0].ibv.name);
      instantverbs_restore_device(devices[0].ibv.name);
    }
  }
}
