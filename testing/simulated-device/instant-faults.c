/* Faults of instant devices that come by themselves, at random moments, while data moves. */
#include "instant.h"

bool faults;
static unsigned queue_pair_faults, port_faults, port_away_ms, gid_moves;
static _Atomic unsigned device_fault;
static atomic_ulong posted;
static _Atomic uint32_t noise = 2463534242u;

void read_faults(void) {
  static atomic_flag read;

  if (atomic_flag_test_and_set(&read))
    return;
  queue_pair_faults = number_of("SIMVERBS_QUEUE_PAIR_FAULTS", 0);
  port_faults = number_of("SIMVERBS_PORT_FAULTS", 0);
  port_away_ms = number_of("SIMVERBS_PORT_AWAY_MS", 0);
  gid_moves = number_of("SIMVERBS_GID_MOVES", 0);
  device_fault = number_of("SIMVERBS_DEVICE_FAULT", 0);
  faults = queue_pair_faults || port_faults || gid_moves || device_fault;
}

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

/* Any one. Returns its number, or 0 if there is none. */
static uint32_t fail_queue_pair(void) {
  uint32_t number = 0, start = random_number() % (atomic_load(&instant_made) + 1);

  pthread_mutex_lock(&engine);
  for (uint32_t i = 0; i < MAX_OBJECTS && !number; i++) {
    Qp *qp = atomic_load(&qps[(start + i) % MAX_OBJECTS]);
    if (fail_if_sending(qp))
      number = qp->ibv.qp_num;
  }
  pthread_mutex_unlock(&engine);
  return number;
}

static void set_port(Device *d, bool up) {
  atomic_store(&d->up, up);
  raise_port_event(d, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

static void *bring_up(void *device) {
  usleep(port_away_ms * 1000);
  fprintf(stderr, "simverbs: the port of %s comes up\n", ((Device *)device)->ibv.name);
  set_port(device, true);
  return NULL;
}

/* At most one port is down at a time. */
static void move_port(void) {
  pthread_t thread;

  for (int i = 0; i < num_devices; i++)
    if (!atomic_load(&devices[i].up)) {
      if (!port_away_ms)
        set_port(&devices[i], true);
      return;
    }
  Device *d = &devices[random_number() % (uint32_t)num_devices];
  fprintf(stderr, "simverbs: the port of %s goes down\n", d->ibv.name);
  set_port(d, false);
  if (port_away_ms && !pthread_create(&thread, NULL, bring_up, d))
    pthread_detach(thread);
}

static void move_gid(void) {
  Device *d = &devices[random_number() % (uint32_t)num_devices];
  uint32_t last = (uint32_t)d->gids - 1;

  if (last < 2)
    return;
  fprintf(stderr, "simverbs: the GID of %s moves\n", d->ibv.name);
  lock(&world);
  struct ibv_gid_entry moved = d->gid[last];
  d->gid[last] = d->gid[1];
  d->gid[1] = moved;
  d->gid[last].gid_index = last;
  d->gid[1].gid_index = 1;
  unlock(&world);
  raise_port_event(d, IBV_EVENT_GID_CHANGE);
  pthread_mutex_lock(&engine);
  for (uint32_t i = 0; i < MAX_OBJECTS; i++) {
    Qp *qp = atomic_load(&qps[i]);
    if (qp && qp->device == d)
      fail_if_sending(qp);
  }
  pthread_mutex_unlock(&engine);
}

void plant_faults(unsigned sends) {
  static atomic_ulong next_queue_pair, next_port, next_gid, next_device;
  Device *first = &devices[0];

  atomic_fetch_add_explicit(&posted, sends, memory_order_relaxed);
  if (due(queue_pair_faults, &next_queue_pair)) {
    uint32_t number = fail_queue_pair();
    if (number)
      fprintf(stderr, "simverbs: queue pair 0x%x fails\n", number);
  }
  if (due(port_faults, &next_port))
    move_port();
  if (due(gid_moves, &next_gid))
    move_gid();
  if (due(device_fault, &next_device)) {
    bool fails = !atomic_exchange(&first->absent, !atomic_load(&first->absent));
    fprintf(stderr, "simverbs: %s %s\n", first->ibv.name, fails ? "fails" : "is back");
    if (fails)
      fail_device(first, false);
    else
      device_fault = 0;
  }
}
