/* Devices with their ports and GIDs, and contexts. */
#include "simulated-verbs.h"

const Kind *kind = &simulated;
pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER;
Qp *_Atomic qps[MAX_OBJECTS];
_Atomic bool forked;
Lock world;
Device devices[MAX_DEVICES];
int num_devices = -1;
unsigned late_every;
unsigned max_message = 1u << 30;
uint16_t pkeys[MAX_PKEYS] = { 0xffff };
int num_pkeys = 1;

unsigned number_of(const char *variable, unsigned otherwise) {
  const char *value = getenv(variable);

  return value ? (unsigned)atoi(value) : otherwise;
}

void add_gid(Device *d, uint32_t type, const uint8_t raw[16]) {
  if (d->gids >= MAX_GIDS)
    return;
  struct ibv_gid_entry *e = &d->gid[d->gids];

  memset(e, 0, sizeof *e);
  memcpy(e->gid.raw, raw, 16);
  e->gid_index = (uint32_t)d->gids++;
  e->port_num = 1;
  e->gid_type = type;
}

Device *add_device(const char *name) {
  Device *d = &devices[num_devices];

  d->index = num_devices;
  d->mtu = IBV_MTU_4096;
  memcpy(d->guid, (uint8_t[8]){ 2, 0x1b, 0, 0xff, 0xfe, 0, 0, (uint8_t)(num_devices + 1) }, 8);
  d->ibv.node_type = IBV_NODE_CA;
  d->ibv.transport_type = IBV_TRANSPORT_IB;
  snprintf(d->ibv.name, sizeof d->ibv.name, "%s", name);
  snprintf(d->ibv.dev_name, sizeof d->ibv.dev_name, "uverbs%d", num_devices);
  snprintf(d->ibv.dev_path, sizeof d->ibv.dev_path, "/sys/class/infiniband_verbs/uverbs%d", num_devices);
  snprintf(d->ibv.ibdev_path, sizeof d->ibv.ibdev_path, "/sys/class/infiniband/%s", name);
  atomic_store(&d->up, true);
  atomic_store(&d->down_as, IBV_PORT_DOWN);
  num_devices++;
  return d;
}

EXPORT void ibv_free_device_list(struct ibv_device **list) { free(list); }
EXPORT const char *ibv_get_device_name(struct ibv_device *d) { return d->name; }
EXPORT int ibv_get_device_index(struct ibv_device *d) { return ((Device *)d)->index; }

EXPORT __be64 ibv_get_device_guid(struct ibv_device *d) {
  uint64_t guid;

  memcpy(&guid, ((Device *)d)->guid, 8);
  return guid;
}

static int query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr, size_t len) {
  Device *d = context_of(c)->device;
  bool up = atomic_load(&d->up);
  struct ibv_port_attr a = {
    .state = up ? IBV_PORT_ACTIVE : (enum ibv_port_state)atomic_load(&d->down_as),
    .max_mtu = IBV_MTU_4096, .active_mtu = d->mtu,
    .gid_tbl_len = d->gids, .port_cap_flags = 0, .max_msg_sz = max_message,
    .pkey_tbl_len = (uint16_t)num_pkeys, .max_vl_num = 1, .active_width = 2 /* 4x */,
    .active_speed = 32 /* EDR, 25 Gb/s a lane */, .phys_state = up ? 5 : 3,
    .link_layer = IBV_LINK_LAYER_ETHERNET,
  };

  if (await_firmware(c))
    return EIO;
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
  (void)fcntl(fds[1], F_SETFL, O_NONBLOCK);  /* events that nobody reads are lost, and block nobody */
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
  ic->ops = kind->data_path;
  lock(&world);
  c->next = c->device->contexts;
  c->device->contexts = c;
  unlock(&world);
  int refused = kind->open(c->device);
  if (refused) {
    ibv_close_device(ic);
    errno = refused;
    return NULL;
  }
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

  if (context_of(c)->removed)
    return EIO;
  memset(a, 0, sizeof *a);
  strcpy(a->fw_ver, "simulated");
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
  a->max_pkeys = (uint16_t)num_pkeys;
  a->local_ca_ack_delay = 15;
  a->phys_port_cnt = 1;
  return 0;
}

static bool read_gid(const Device *d, uint32_t index, struct ibv_gid_entry *e) {
  lock(&world);
  bool there = index < (uint32_t)d->gids && d->gid[index].gid_type != UINT32_MAX;
  if (there)
    *e = d->gid[index];
  unlock(&world);
  return there;
}

EXPORT int ibv_query_gid(struct ibv_context *c, uint8_t port, int index, union ibv_gid *gid) {
  Device *d = context_of(c)->device;
  struct ibv_gid_entry e = { .gid_index = 0 };

  if (port != 1 || index < 0 || index >= d->gids) {
    errno = EINVAL;
    return -1;
  }
  (void)read_gid(d, (uint32_t)index, &e);  /* zeroes where the entry is empty */
  *gid = e.gid;
  return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *c, uint32_t port, uint32_t index,
    struct ibv_gid_entry *e, uint32_t flags, size_t size) {
  struct ibv_gid_entry read;

  if (flags)
    return EOPNOTSUPP;
  if (port != 1)
    return EINVAL;
  if (!read_gid(context_of(c)->device, index, &read))
    return ENODATA;
  memset(e, 0, size);
  memcpy(e, &read, size < sizeof read ? size : sizeof read);
  return 0;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *c, struct ibv_gid_entry *e, size_t max,
    uint32_t flags, size_t size) {
  size_t n = 0;

  if (flags || context_of(c)->removed)
    return flags ? -EOPNOTSUPP : -EIO;
  for (uint32_t i = 0; i < MAX_GIDS && n < max; i++)
    if (!_ibv_query_gid_ex(c, 1, i, (void *)((char *)e + n * size), flags, size))
      n++;
  return (ssize_t)n;
}

EXPORT int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey) {
  (void)c;
  if (port != 1 || index < 0 || index >= num_pkeys)
    return -1;
  *pkey = htons(pkeys[index]);
  return 0;
}

EXPORT int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey) {
  (void)c;
  for (int i = 0; i < num_pkeys && port == 1; i++)
    if (pkey == htons(pkeys[i]))
      return i;
  return -1;
}
