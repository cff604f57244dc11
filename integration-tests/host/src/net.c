#include "net.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

_Thread_local int thread_rank = -1;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* The slots up to v10 lie where v12's do, so those with one signature are called through any version's struct. */
#define COMMON(net) ((net)->v12)

bool net_open(struct net *net, const char *path, int api) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", api);
  *net = (struct net){.api = api};
  net->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (net->library == NULL) {
    return fail(thread_rank, "dlopen: %s", dlerror());
  }
  net->table = dlsym(net->library, symbol);
  return net->table != NULL || fail(thread_rank, "%s exports no %s", path, symbol);
}

void net_close(struct net *net) {
  if (net->library != NULL) {
    dlclose(net->library);
  }
  *net = (struct net){.api = net->api};
}

const char *net_name(const struct net *net) {
  return COMMON(net)->name;
}

void log_to_stderr(int level, unsigned long subsystems, const char *where, int line, const char *format, ...) {
  (void)subsystems;
  (void)where;
  (void)line;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *name = level == NCCL_LOG_WARN ? "WARN" : level == NCCL_LOG_INFO ? "INFO" : "TRACE";
  fprintf(stderr, "rank %d: NCCL %s %s\n", thread_rank, name, text);
}

static int init_once(struct net *net) {
  int result = NCCL_SUCCESS;
  if (net->communicators == 0) {
    result = net->api == 8   ? net->v8->init(log_to_stderr)
             : net->api == 9 ? net->v9->init(log_to_stderr)
                             : net->v10->init(log_to_stderr, NULL);
  }
  net->communicators += result == NCCL_SUCCESS;
  return result;
}

int net_init(struct net *net, void **ctx, uint64_t comm_id) {
  struct nccl_net_config config = {.trafficClass = -1};
  *ctx = NULL;
  pthread_mutex_lock(&init_lock);
  int result = net->api < 11    ? init_once(net)
               : net->api == 11 ? net->v11->init(ctx, comm_id, &config, log_to_stderr, NULL)
                                : net->v12->init(ctx, comm_id, &config, log_to_stderr, NULL);
  pthread_mutex_unlock(&init_lock);
  return result;
}

int net_finalize(struct net *net, void *ctx) {
  pthread_mutex_lock(&init_lock);
  int result = NCCL_SUCCESS;
  if (net->api < 11) {
    net->communicators--;
  } else {
    result = net->api == 11 ? net->v11->finalize(ctx) : net->v12->finalize(ctx);
  }
  pthread_mutex_unlock(&init_lock);
  return result;
}

int net_devices(const struct net *net, int *count) {
  return COMMON(net)->devices(count);
}

int net_raw_properties(const struct net *net, int dev, unsigned char poison, unsigned char raw[128], size_t *bytes) {
  memset(raw, poison, 128);
  switch (net->api) {
  case 8:
    *bytes = sizeof(struct nccl_net_properties_v8);
    return net->v8->getProperties(dev, (struct nccl_net_properties_v8 *)raw);
  case 9:
  case 10:
    *bytes = sizeof(struct nccl_net_properties_v9);
    return net->v9->getProperties(dev, (struct nccl_net_properties_v9 *)raw);
  case 11: /* without the padding behind the last field */
    *bytes = offsetof(struct nccl_net_properties_v11, maxMultiRequestSize) + sizeof(int);
    return net->v11->getProperties(dev, (struct nccl_net_properties_v11 *)raw);
  default:
    *bytes = sizeof(struct nccl_net_properties_v12);
    return net->v12->getProperties(dev, (struct nccl_net_properties_v12 *)raw);
  }
}

#define COPY_ALL(from)                                                                                               \
  (struct net_properties) {                                                                                          \
    .name = (from)->name, .pci_path = (from)->pciPath, .guid = (from)->guid, .pointer_support = (from)->ptrSupport,  \
    .speed = (from)->speed, .port = (from)->port, .latency = (from)->latency, .max_comms = (from)->maxComms,         \
    .max_receives = (from)->maxRecvs, .device_type = (from)->netDeviceType, .virtual_devices = 1,                    \
    .first_virtual_device = dev, .max_p2p_bytes = 1UL << 30, .max_collective_bytes = 1UL << 29,                      \
    .max_multi_request = 1, .rail = -1, .plane = -1                                                                  \
  }
#define COPY_SINCE_9(from, to)                                                                                       \
  (to)->virtual_devices = (from)->vProps.ndevs;                                                                      \
  (to)->first_virtual_device = (from)->vProps.devs[0];                                                               \
  (to)->max_p2p_bytes = (from)->maxP2pBytes;                                                                         \
  (to)->max_collective_bytes = (from)->maxCollBytes

int net_get_properties(const struct net *net, int dev, struct net_properties *properties) {
  _Alignas(8) unsigned char raw[128];
  size_t bytes;
  int result = net_raw_properties(net, dev, 0xa5, raw, &bytes);
  if (result != NCCL_SUCCESS) {
    return result;
  }
  const struct nccl_net_properties_v8 *v8 = (const void *)raw;
  const struct nccl_net_properties_v9 *v9 = (const void *)raw;
  const struct nccl_net_properties_v11 *v11 = (const void *)raw;
  const struct nccl_net_properties_v12 *v12 = (const void *)raw;
  if (net->api == 8) {
    *properties = COPY_ALL(v8);
  } else if (net->api < 12) {
    *properties = COPY_ALL(v9);
    COPY_SINCE_9(v9, properties);
    properties->max_multi_request = net->api == 11 ? v11->maxMultiRequestSize : 1;
  } else {
    *properties = COPY_ALL(v12);
    COPY_SINCE_9(v12, properties);
    properties->max_multi_request = v12->maxMultiRequestSize;
    properties->rail = v12->railId;
    properties->plane = v12->planeId;
  }
  return NCCL_SUCCESS;
}

int net_listen(const struct net *net, void *ctx, int dev, void *handle, void **comm) {
  return net->api < 11 ? net->v8->listen(dev, handle, comm) : net->v12->listen(ctx, dev, handle, comm);
}

int net_connect(const struct net *net, void *ctx, int dev, void *handle, void **comm) {
  struct nccl_net_device_handle *offload = NULL;
  struct nccl_net_config config = {.trafficClass = -1};
  return net->api >= 11    ? net->v12->connect(ctx, dev, handle, comm, &offload)
         : net->api == 10 ? net->v10->connect(dev, &config, handle, comm, &offload)
                          : net->v9->connect(dev, handle, comm, &offload);
}

int net_accept(const struct net *net, void *listen_comm, void **comm) {
  struct nccl_net_device_handle *offload = NULL;
  return COMMON(net)->accept(listen_comm, comm, &offload);
}

int net_close_send(const struct net *net, void *comm) {
  return COMMON(net)->closeSend(comm);
}

int net_close_recv(const struct net *net, void *comm) {
  return COMMON(net)->closeRecv(comm);
}

int net_close_listen(const struct net *net, void *comm) {
  return COMMON(net)->closeListen(comm);
}

int net_reg_mr(const struct net *net, void *comm, void *data, size_t size, int type, void **mhandle) {
  return COMMON(net)->regMr(comm, data, size, type, mhandle);
}

int net_dereg_mr(const struct net *net, void *comm, void *mhandle) {
  return COMMON(net)->deregMr(comm, mhandle);
}

int net_isend(const struct net *net, void *comm, void *data, size_t size, int tag, void *mhandle, void **request) {
  return net->api >= 10   ? net->v12->isend(comm, data, size, tag, mhandle, NULL, request)
         : net->api == 9 ? net->v9->isend(comm, data, size, tag, mhandle, request)
                         : net->v8->isend(comm, data, (int)size, tag, mhandle, request);
}

int net_irecv(const struct net *net, void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles,
              void **request) {
  if (net->api >= 10) {
    return net->v12->irecv(comm, n, data, sizes, tags, mhandles, NULL, request);
  }
  if (net->api == 9) {
    return net->v9->irecv(comm, n, data, sizes, tags, mhandles, request);
  }
  int narrow[8];
  for (int i = 0; i < n && i < 8; i++) {
    narrow[i] = (int)sizes[i];
  }
  return net->v8->irecv(comm, n, data, sizes == NULL ? NULL : narrow, tags, mhandles, request);
}

int net_iflush(const struct net *net, void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  return COMMON(net)->iflush(comm, n, data, sizes, mhandles, request);
}

int net_test(const struct net *net, void *request, int *done, int *sizes) {
  return COMMON(net)->test(request, done, sizes);
}
