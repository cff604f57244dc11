/* Ports: the interfaces of the process's network namespace, and what simverbs-ctl has set. */
#include "simulated-verbs.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int device_ports[MAX_DEVICES];

/* What a device was made of, and what its program was told last. */
static struct Source {
  char interface[IF_NAMESIZE];  /* empty: it has a fixed address */
  bool claimed;  /* its address is another's */
} sources[MAX_DEVICES];
static pthread_mutex_t refreshing = PTHREAD_MUTEX_INITIALIZER;
static bool simple_gids;

/* ---------------------------------------------------------------- devices */

static void want_gid(PortTable *t, const uint8_t raw[16]) {
  for (uint32_t type = simple_gids ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1; t->gids < PORT_GIDS; type++) {
    memcpy(t->gid[t->gids], raw, 16);
    t->type[t->gids++] = type;
    if (type == IBV_GID_TYPE_ROCE_V2)
      return;
  }
}

static void want_ipv4(PortTable *t, uint32_t ip, uint32_t prefix) {
  uint8_t raw[16] = { [10] = 0xff, [11] = 0xff };
  uint32_t on_wire = htonl(ip);

  memcpy(raw + 12, &on_wire, 4);
  if (!t->prefix)
    t->ip = ip, t->prefix = prefix;
  want_gid(t, raw);
}

static void want_link_local(PortTable *t, uint32_t ip) {
  uint8_t raw[16] = { 0xfe, 0x80, [8] = 0x02, 0, 0, 0xff, 0xfe, 0, 0, 0 };
  uint32_t on_wire = htonl(ip);

  memcpy(raw + 12, &on_wire, 4);
  want_gid(t, raw);
}

static enum ibv_mtu mtu_for(const char *interface) {
  struct ifreq r = { .ifr_ifru = { .ifru_mtu = 0 } };
  int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  enum ibv_mtu mtu = IBV_MTU_4096;

  snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
  if (s >= 0 && !ioctl(s, SIOCGIFMTU, &r))
    while (mtu > IBV_MTU_256 && (128 << mtu) + 64 > r.ifr_mtu)  /* and what RoCE adds to the payload */
      mtu--;
  if (s >= 0)
    close(s);
  return mtu;
}

/* The addresses of an interface, link-local ones first, as the tables of NICs have them. Returns whether it is up. */
static bool read_interface(const char *interface, PortTable *t) {
  struct ifaddrs *all;
  bool up = false;

  t->mtu = mtu_for(interface);
  if (getifaddrs(&all))
    return false;
  for (int family = 1; family >= 0; family--)
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
      if (strcmp(a->ifa_name, interface) || !a->ifa_addr)
        continue;
      up = (a->ifa_flags & IFF_UP) && (a->ifa_flags & IFF_RUNNING);
      const struct sockaddr_in6 *six = (const void *)a->ifa_addr;
      const struct sockaddr_in *four = (const void *)a->ifa_addr, *mask = (const void *)a->ifa_netmask;
      if (a->ifa_addr->sa_family == AF_INET6 && family == !!IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
        want_gid(t, six->sin6_addr.s6_addr);
      if (!family && a->ifa_addr->sa_family == AF_INET)
        want_ipv4(t, ntohl(four->sin_addr.s_addr), (uint32_t)__builtin_popcount(mask->sin_addr.s_addr));
    }
  freeifaddrs(all);
  return up;
}

static bool read_source(int device, PortTable *t) {
  const Device *d = &devices[device];

  memset(t, 0, sizeof *t);
  if (*sources[device].interface)
    return read_interface(sources[device].interface, t);
  t->mtu = IBV_MTU_4096;
  want_link_local(t, d->ip);
  want_ipv4(t, d->ip, (uint32_t)d->prefix);
  return true;
}

/* Puts what is wanted into the device's table: entries keep their places, as in the kernel's. With world held. */
static bool update_gids(Device *d, const PortTable *wanted) {
  bool changed = false;

  for (int i = 0; i < d->gids; i++) {
    bool still = false;
    for (uint32_t k = 0; k < wanted->gids; k++)
      still |= d->gid[i].gid_type == wanted->type[k] && !memcmp(d->gid[i].gid.raw, wanted->gid[k], 16);
    if (!still && d->gid[i].gid_type != UINT32_MAX)
      d->gid[i].gid_type = UINT32_MAX, changed = true;
  }
  for (uint32_t k = 0; k < wanted->gids; k++) {
    int at = 0, empty = -1;
    for (; at < d->gids; at++)
      if (d->gid[at].gid_type == UINT32_MAX)
        empty = empty < 0 ? at : empty;
      else if (d->gid[at].gid_type == wanted->type[k] && !memcmp(d->gid[at].gid.raw, wanted->gid[k], 16))
        break;
    if (at < d->gids)
      continue;
    changed = true;
    if (empty < 0) {
      add_gid(d, wanted->type[k], wanted->gid[k]);
    } else {
      memcpy(d->gid[empty].gid.raw, wanted->gid[k], 16);
      d->gid[empty].gid_type = wanted->type[k];
    }
  }
  unsigned netdev = *sources[d->index].interface ? if_nametoindex(sources[d->index].interface) : 0;
  for (int i = 0; i < d->gids; i++)
    d->gid[i].ndev_ifindex = netdev;
  d->ip = wanted->ip;
  d->prefix = (int)wanted->prefix;
  d->mtu = (enum ibv_mtu)wanted->mtu;
  return changed;
}

static void make_device(char *entry) {
  char *eq = strchr(entry, '='), *slash = eq ? strchr(eq, '/') : NULL;
  struct in_addr a;
  PortTable table;

  if (!eq || num_devices == MAX_DEVICES) {
    fprintf(stderr, "simverbs: cannot read SIMVERBS_DEVICES entry \"%s\": NAME=INTERFACE, or NAME=IPV4/PREFIX\n",
      entry);
    return;
  }
  *eq = 0;
  if (slash)
    *slash = 0;
  Device *d = add_device(entry);
  if (inet_pton(AF_INET, eq + 1, &a) == 1)
    d->ip = ntohl(a.s_addr), d->prefix = slash ? atoi(slash + 1) : 24;
  else
    snprintf(sources[d->index].interface, IF_NAMESIZE, "%s", eq + 1);
  device_ports[d->index] = NO_PORT;
  atomic_store(&d->up, read_source(d->index, &table));
  update_gids(d, &table);
  uint32_t unique = htonl(d->ip);
  memcpy(d->guid + 4, &unique, 4);
}

static void read_pkeys(const char *text) {
  char *end = NULL;

  for (num_pkeys = 0; text && num_pkeys < MAX_PKEYS && *text; text = *end ? end + 1 : end)
    pkeys[num_pkeys++] = (uint16_t)strtoul(text, &end, 0);
  if (!num_pkeys)
    pkeys[num_pkeys++] = 0xffff;
}

/* With world held. */
static void make_devices(void) {
  const char *spec = getenv("SIMVERBS_DEVICES");
  char *copy = strdup(spec && *spec ? spec : "sim0=127.0.0.1/8"), *save = NULL;

  simple_gids = getenv("SIMVERBS_SIMPLE_GIDS") != NULL;
  const char *fence = getenv("SIMVERBS_FENCE");
  late_fence = fence && !strcmp(fence, "flush");
  late_every = number_of("SIMVERBS_LATE", 0);
  max_message = number_of("SIMVERBS_MAX_MESSAGE", max_message);
  if (getenv("SIMVERBS_INSTANT"))
    kind = &instant;
  read_pkeys(getenv("SIMVERBS_PKEYS"));
  num_devices = 0;
  for (char *t = strtok_r(copy, ",", &save); t; t = strtok_r(NULL, ",", &save))
    make_device(t);
  free(copy);
}

EXPORT struct ibv_device **ibv_get_device_list(int *num) {
  lock(&world);
  if (num_devices < 0)
    make_devices();
  unlock(&world);
  struct ibv_device **list = calloc((size_t)num_devices + 1, sizeof *list);
  if (!list)
    return NULL;
  for (int i = 0; i < num_devices; i++)
    list[i] = &devices[i].ibv;
  if (num)
    *num = num_devices;
  return list;
}

/* ---------------------------------------------------------------- ports of the fabric */

bool port_is_up(int port) {
  const Port *p = &fabric.ports[port];

  return port != NO_PORT && atomic_load(&p->link_up) && !atomic_load(&p->forced_down) && !atomic_load(&p->failed);
}

bool exceeds_mtu(int port, enum ibv_mtu of_path, uint64_t length) {
  const Port *p = &fabric.ports[port];
  uint64_t packet = 128ull << of_path, most = 128ull << p->table[atomic_load(&p->version) % 2].mtu;

  return (length < packet ? length : packet) > most;
}

/* A copy of what is current; the second look notices that it was replaced. */
static void read_table(const Port *p, PortTable *t) {
  uint64_t version;

  do {
    version = atomic_load_explicit(&p->version, memory_order_acquire);
    *t = p->table[version % 2];
    atomic_thread_fence(memory_order_acquire);
  } while (atomic_load(&p->version) != version);
}

static bool has(int port, const uint8_t gid[16], uint32_t type) {
  PortTable t;

  read_table(&fabric.ports[port], &t);
  for (uint32_t i = 0; i < t.gids; i++)
    if (!memcmp(t.gid[i], gid, 16) && t.type[i] == type)
      return true;
  return false;
}

static bool node_alive(const char *node) {
  for (uint32_t i = 0; i < PROCESSES; i++) {
    uint64_t nonce = atomic_load(&fabric.processes[i].nonce);
    if (nonce && !strncmp(fabric.processes[i].node, node, NAME_SIZE) && process_alive(i, nonce))
      return true;
  }
  return false;
}

int find_port(const uint8_t gid[16], uint32_t type) {
  int found = NO_PORT;

  for (int i = 0; i < PORTS; i++)
    if (atomic_load(&fabric.ports[i].used) && has(i, gid, type)) {
      if (node_alive(fabric.ports[i].node))
        return i;
      found = i;  /* an interface answers even if nobody uses its device */
    }
  return found;
}

bool ports_connected(int a, int b) {
  PortTable s, t;

  read_table(&fabric.ports[a], &s);
  read_table(&fabric.ports[b], &t);
  return !s.prefix || !t.prefix || (s.ip ^ t.ip) >> (32 - s.prefix) == 0;
}

bool kernel_routes(const Device *d, const union ibv_gid *local, const union ibv_gid *remote) {
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(4791) }, from = { 0 };
  socklen_t length = sizeof from;

  if (!*sources[d->index].interface || !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)local->raw)
      || !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)remote->raw))
    return false;
  memcpy(&to.sin_addr, remote->raw + 12, 4);
  int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool routes = s >= 0 && !connect(s, (struct sockaddr *)&to, sizeof to)
    && !getsockname(s, (struct sockaddr *)&from, &length) && !memcmp(&from.sin_addr, local->raw + 12, 4);
  if (s >= 0)
    close(s);
  return routes;
}

static int register_port(const char *name) {
  const char *node = fabric.processes[self].node;

  for (int i = 0; i < PORTS; i++) {
    Port *p = &fabric.ports[i];
    if (!atomic_load(&p->used)) {
      snprintf(p->node, NAME_SIZE, "%s", node);
      snprintf(p->name, NAME_SIZE, "%.*s", NAME_SIZE - 1, name);
      atomic_store(&p->used, 1);
    }
    if (!strncmp(p->node, node, NAME_SIZE) && !strncmp(p->name, name, NAME_SIZE - 1))
      return i;
  }
  return NO_PORT;
}

static bool claimed_by_another(int port, const PortTable *t) {
  for (int i = 0; i < PORTS; i++) {
    PortTable other;
    if (i == port || !atomic_load(&fabric.ports[i].used))
      continue;
    read_table(&fabric.ports[i], &other);
    if (other.prefix && t->prefix && other.ip == t->ip && node_alive(fabric.ports[i].node)) {
      fprintf(stderr, "simverbs: %s/%s and %s/%s have the same address; give each device its own\n",
        fabric.ports[port].node, fabric.ports[port].name, fabric.ports[i].node, fabric.ports[i].name);
      return true;
    }
  }
  return false;
}

static void publish(int device, const PortTable *t, bool up) {
  registry_lock();
  int port = register_port(devices[device].ibv.name);
  if (port != NO_PORT) {
    Port *p = &fabric.ports[port];
    sources[device].claimed = claimed_by_another(port, t);
    uint64_t version = atomic_load(&p->version);
    if (!sources[device].claimed && memcmp(&p->table[version % 2], t, sizeof *t)) {
      p->table[(version + 1) % 2] = *t;
      atomic_store_explicit(&p->version, version + 1, memory_order_release);
    }
    atomic_store(&p->link_up, up);
    device_ports[device] = port;
  }
  registry_unlock();
}

/* ---------------------------------------------------------------- changes */

/* A queue pair goes by the place of its GID, as a NIC's does: packets from another one's place reach nobody. */
static void look_for_gids(const Device *d) {
  pthread_mutex_lock(&engine);
  lock(&world);
  for (int i = 0; i < SLOTS; i++) {
    Qp *qp = atomic_load(&qps[i]);
    if (!qp || qp->device != d || !qp->slot || state_of(&qp->ibv) < IBV_QPS_RTR)
      continue;
    const struct ibv_gid_entry *at = &d->gid[qp->attr.ah_attr.grh.sgid_index];
    atomic_store(&qp->slot->astray, at->gid_type == UINT32_MAX || memcmp(at->gid.raw, qp->slot->gid, 16));
  }
  unlock(&world);
  pthread_mutex_unlock(&engine);
}

static void refresh_port(Device *d) {
  PortTable t;
  bool link = read_source(d->index, &t);

  publish(d->index, &t, link);
  int port = device_ports[d->index];
  lock(&world);
  bool moved = update_gids(d, &t);
  unlock(&world);
  uint32_t failed = port == NO_PORT ? PORT_WORKS : atomic_load(&fabric.ports[port].failed);
  uint32_t forced = port == NO_PORT ? 0 : atomic_load(&fabric.ports[port].forced_down);
  bool up = port_is_up(port);
  atomic_store(&d->down_as, link && forced ? (int)forced : IBV_PORT_DOWN);
  if (moved) {
    look_for_gids(d);
    raise_port_event(d, IBV_EVENT_GID_CHANGE);
  }
  if (!atomic_exchange(&d->absent, failed != PORT_WORKS) && failed)
    fail_device(d, failed == PORT_REMOVED);
  if (up != atomic_exchange(&d->up, up) && !failed)
    raise_port_event(d, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

void refresh_ports(void) {
  pthread_mutex_lock(&refreshing);
  for (int i = 0; i < num_devices; i++)
    refresh_port(&devices[i]);
  pthread_mutex_unlock(&refreshing);
}

/* Waits for changes of links and addresses; other processes hear of them by their own sockets. */
static void *watch(void *unused) {
  struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
    .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
  int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  char message[8192];

  (void)unused;
  pthread_setname_np(pthread_self(), "simverbs-link");
  if (s < 0 || bind(s, (struct sockaddr *)&groups, sizeof groups)) {
    perror("simverbs: netlink; changes of interfaces will not be seen");
    return NULL;
  }
  do {
    refresh_ports();  /* also after it was bound, for what changed before */
    ring_bell((uint32_t)self);
  } while (recv(s, message, sizeof message, 0) >= 0 || errno == ENOBUFS || errno == EINTR);
  return NULL;
}

static void start_watching(void) {
  static atomic_flag started;
  sigset_t all, before;
  pthread_t thread;
  bool wanted = false;

  for (int i = 0; i < num_devices; i++)
    wanted |= *sources[i].interface != 0;
  if (!wanted || atomic_flag_test_and_set(&started))
    return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!pthread_create(&thread, NULL, watch, NULL))
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int open_port(const Device *d) {
  start_watching();
  if (device_ports[d->index] == NO_PORT)
    return EUSERS;
  return sources[d->index].claimed ? EADDRINUSE : 0;
}
