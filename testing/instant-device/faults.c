/* Faults that come by themselves, at random moments, while data moves. */
#include "instant-verbs.h"

unsigned queue_pair_faults, port_faults;
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

/* One that is ready to send. Returns its number, or 0 if there is none. */
static uint32_t fail_queue_pair(void) {
  uint32_t number = 0;

  lock(&world);
  uint32_t start = random_number() % (next_qp + 1);
  unlock(&world);
  lock(&lifetime);
  for (uint32_t i = 0; i < MAX_OBJECTS && !number; i++) {
    Qp *qp = qps[(start + i) % MAX_OBJECTS];
    if (!qp || state_of(&qp->ibv) != IBV_QPS_RTS)
      continue;
    number = qp->ibv.qp_num;
    lock(&qp->send_lock);
    fail_sends(qp);
    unlock(&qp->send_lock);
    flush_receives(qp);
    kick_while_alive(qp);
  }
  unlock(&lifetime);
  return number;
}

/* At most one port is down at a time. */
static void move_port(void) {
  for (int i = 0; i < num_devices; i++)
    if (!atomic_load(&devices[i].up)) {
      instantverbs_port(devices[i].ibv.name, 1);
      return;
    }
  Device *d = &devices[random_number() % (uint32_t)num_devices];
  fprintf(stderr, "instantverbs: the port of %s goes down\n", d->ibv.name);
  instantverbs_port(d->ibv.name, 0);
}

void plant_faults(void) {
  static atomic_ulong next_queue_pair, next_port, next_device;

  if (due(queue_pair_faults, &next_queue_pair)) {
    uint32_t number = fail_queue_pair();
    if (number)
      fprintf(stderr, "instantverbs: queue pair 0x%x fails\n", number);
  }
  if (due(port_faults, &next_port))
    move_port();
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
