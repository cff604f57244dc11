/* Devices with their ports and GIDs, and contexts. */
#include "instant-verbs.h"

Lock world;
Lock lifetime;
Device devices[MAX_DEVICES];
int num_devices = -1;
unsigned late_every;
static unsigned max_message;

static void add_gid(Device *d, uint32_t type, bool ipv4) {
  struct ibv_gid_entry *e = &d->gid[d->gids];

  memset(e, 0, sizeof *e);
  if (ipv4) {
    uint32_t ip = htonl(d->ip);
    e->gid.raw[10] = e->gid.raw[11] = 0xff;
    memcpy(e->gid.raw + 12, &ip, 4);
  } else {
    static const uint8_t ll[16] = { 0xfe, 0x80, [8] = 0x02, 0, 0, 0xff, 0xfe, 0, 0, 0 };
    memcpy(e->gid.raw, ll, 16);
    e->gid.raw[15] = (uint8_t)(d->index + 1);
  }
  e->gid_index = (uint32_t)d->gids++;
  e->port_num = 1;
  e->gid_type = type;
}

static unsigned number(const char *variable, unsigned otherwise) {
  const char *value = getenv(variable);

  return value ? (unsigned)atoi(value) : otherwise;
}

static void make_devices(void) {
  const char *spec = getenv("INSTANTVERBS_DEVICES");
  bool simple = getenv("INSTANTVERBS_SIMPLE_GIDS") != NULL;

  late_every = number("INSTANTVERBS_LATE", 0);
  max_message = number("INSTANTVERBS_MAX_MESSAGE", 1u << 30);
  queue_pair_faults = number("INSTANTVERBS_QUEUE_PAIR_FAULTS", 0);
  port_faults = number("INSTANTVERBS_PORT_FAULTS", 0);
  port_away_ms = number("INSTANTVERBS_PORT_AWAY_MS", 0);
  gid_moves = number("INSTANTVERBS_GID_MOVES", 0);
  device_fault = number("INSTANTVERBS_DEVICE_FAULT", 0);
  faults = queue_pair_faults || port_faults || gid_moves || device_fault;
  char *copy = strdup(spec && *spec ? spec : "instant0=127.0.0.1/8"), *save = NULL;
  num_devices = 0;
  for (char *t = strtok_r(copy, ",", &save); t && num_devices < MAX_DEVICES;
      t = strtok_r(NULL, ",", &save)) {
    Device *d = &devices[num_devices];
    char *eq = strchr(t, '='), *slash = eq ? strchr(eq, '/') : NULL;
    struct in_addr a;

    if (slash)
      *slash = 0;
    if (!eq || inet_pton(AF_INET, eq + 1, &a) != 1) {
      fprintf(stderr, "instantverbs: cannot read INSTANTVERBS_DEVICES entry \"%s\"\n", t);
      continue;
    }
    *eq = 0;
    d->index = num_devices;
    d->ip = ntohl(a.s_addr);
    d->prefix = slash ? atoi(slash + 1) : 24;
    d->ibv.node_type = IBV_NODE_CA;
    d->ibv.transport_type = IBV_TRANSPORT_IB;
    snprintf(d->ibv.name, sizeof d->ibv.name, "%s", t);
    snprintf(d->ibv.dev_name, sizeof d->ibv.dev_name, "uverbs%d", num_devices);
    snprintf(d->ibv.dev_path, sizeof d->ibv.dev_path, "/sys/class/infiniband_verbs/uverbs%d",
      num_devices);
    snprintf(d->ibv.ibdev_path, sizeof d->ibv.ibdev_path, "/sys/class/infiniband/%s", t);
    add_gid(d, IBV_GID_TYPE_ROCE_V2, false);
    if (!simple) {
      add_gid(d, IBV_GID_TYPE_ROCE_V1, false);
      add_gid(d, IBV_GID_TYPE_ROCE_V1, true);
    }
    add_gid(d, IBV_GID_TYPE_ROCE_V2, true);
    atomic_store(&d->up, true);
    num_devices++;
  }
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

EXPORT void ibv_free_device_list(struct ibv_device **list) { free(list); }
EXPORT const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }
EXPORT int ibv_get_device_index(struct ibv_device *d) { return ((Device *)d)->index; }

EXPORT __be64 ibv_get_device_guid(struct ibv_device *d) {
  uint64_t guid;
  uint8_t b[8] = { 2, 0x1b, 0, 0xff, 0xfe, 0, 0, (uint8_t)(((Device *)d)->index + 1) };

  memcpy(&guid, b, 8);
  return guid;
}

static int query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len) {
  Device *d = context_of(c)->device;
  bool up = atomic_load(&d->up);
  struct ibv_port_attr a = {
    .state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
    .max_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_4096,
    .gid_tbl_len = d->gids, .port_cap_flags = 0, .max_msg_sz = max_message,
    .pkey_tbl_len = 1, .max_vl_num = 1, .active_width = 2 /* 4x */,
    .active_speed = 32 /* EDR, 25 Gb/s a lane */, .phys_state = up ? 5 : 3,
    .link_layer = IBV_LINK_LAYER_ETHERNET,
  };

  if (port != 1)
    return EINVAL;
  memset(attr, 0, len);
  memcpy(attr, &a, len < sizeof a ? len : sizeof a);
  return 0;
}

EXPORT int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *attr) {
  /* The old entry point fills the structure as it was up to link_layer and flags. */
  return query_port(c, port, (struct ibv_port_attr *)attr,
    offsetof(struct ibv_port_attr, port_cap_flags2));
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *dev) {
  if (atomic_load(&((Device *)dev)->absent)) {
    errno = ENODEV;
    return NULL;
  }
  Context *c = calloc(1, sizeof *c);
  int fds[2];

  if (!c)
    return NULL;
  if (pipe2(fds, O_CLOEXEC)) {
    free(c);
    return NULL;
  }
  c->device = (Device *)dev;
  c->async_write = fds[1];
  c->vctx.sz = sizeof c->vctx;
  c->vctx.query_port = query_port;
  struct ibv_context *ic = &c->vctx.context;
  ic->device = dev;
  ic->cmd_fd = -1;
  ic->async_fd = fds[0];
  ic->num_comp_vectors = 1;
  pthread_mutex_init(&ic->mutex, NULL);
  ic->abi_compat = __VERBS_ABI_IS_EXTENDED;
  ic->ops.poll_cq = poll_cq;
  ic->ops.req_notify_cq = req_notify_cq;
  ic->ops.post_send = post_send;
  ic->ops.post_recv = post_recv;
  lock(&world);
  c->next = c->device->contexts;
  c->device->contexts = c;
  unlock(&world);
  return ic;
}

EXPORT int ibv_close_device(struct ibv_context *ic) {
  Context *c = context_of(ic);

  lock(&world);
  for (Context **p = &c->device->contexts; *p; p = &(*p)->next)
    if (*p == c) {
      *p = c->next;
      break;
    }
  unlock(&world);
  close(c->async_write);
  close(ic->async_fd);
  free(c);
  return 0;
}

EXPORT int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a) {
  Device *d = context_of(c)->device;

  memset(a, 0, sizeof *a);
  strcpy(a->fw_ver, "instant");
  a->node_guid = a->sys_image_guid = ibv_get_device_guid(&d->ibv);
  a->max_mr_size = ~0ull;
  a->page_size_cap = 0xfffff000;
  a->max_qp = MAX_OBJECTS;
  a->max_qp_wr = MAX_WR;
  a->device_cap_flags = 0;
  a->max_sge = a->max_sge_rd = MAX_SGE;
  a->max_cq = MAX_OBJECTS;
  a->max_cqe = MAX_CQE;
  a->max_mr = MAX_OBJECTS;
  a->max_pd = MAX_OBJECTS;
  a->max_qp_rd_atom = a->max_qp_init_rd_atom = 128;
  a->max_res_rd_atom = 128 * 1024;
  a->atomic_cap = IBV_ATOMIC_HCA;
  a->max_pkeys = 1;
  a->local_ca_ack_delay = 15;
  a->phys_port_cnt = 1;
  return 0;
}

EXPORT int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid) {
  Device *d = context_of(c)->device;

  if (port != 1 || index < 0 || index >= d->gids) {
    errno = EINVAL;
    return -1;
  }
  *gid = d->gid[index].gid;
  return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
    struct ibv_gid_entry *e, uint32_t flags, size_t size) {
  Device *d = context_of(c)->device;

  if (flags)
    return EOPNOTSUPP;
  if (port != 1 || index >= (uint32_t)d->gids)
    return index >= (uint32_t)d->gids && port == 1 ? ENODATA : EINVAL;
  memset(e, 0, size);
  memcpy(e, &d->gid[index], size < sizeof *e ? size : sizeof *e);
  return 0;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *e, size_t max,
    uint32_t flags, size_t size) {
  Device *d = context_of(c)->device;
  size_t n = max < (size_t)d->gids ? max : (size_t)d->gids;

  for (size_t i = 0; i < n; i++)
    if (_ibv_query_gid_ex(c, 1, (uint32_t)i, (void *)((char *)e + i * size), flags, size))
      return -EOPNOTSUPP;
  return (ssize_t)n;
}

EXPORT int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey) {
  (void)c;
  if (port != 1 || index != 0)
    return -1;
  *pkey = htons(0xffff);
  return 0;
}

EXPORT int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey) {
  (void)c;
  return port == 1 && pkey == htons(0xffff) ? 0 : -1;
}
