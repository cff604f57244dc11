#include "net.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "profiler.h"
#include "trace.h"

_Thread_local int thread_rank = -1;
_Thread_local void *net_event_parent;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* The slots up to v10 lie where v12's do, so those with one signature are called through any version's struct. */
#define COMMON(net) ((net)->v12)

bool net_open(struct net *net, const char *path, int api) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library != NULL ? net_find(net, library, path, api) : fail(thread_rank, "dlopen: %s", dlerror());
}

bool net_find(struct net *net, void *library, const char *path, int api) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "ncclNetPlugin_v%d", api);
  *net = (struct net){.api = api, .library = library};
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

void (*log_listener)(const char *text);

nccl_logger host_logger = log_to_stderr;

void log_to_stderr(int level, unsigned long subsystems, const char *where, int line, const char *format, ...) {
  (void)subsystems;
  (void)where;
  (void)line;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  show_line(level, text);
}

void show_line(int level, const char *text) {
  const char *name = level == NCCL_LOG_WARN ? "WARN" : level == NCCL_LOG_INFO ? "INFO" : "TRACE";
  fprintf(stderr, "rank %d: NCCL %s %s\n", thread_rank, name, text);
  if (log_listener != NULL) {
    log_listener(text);
  }
}

static int init_once(struct net *net) {
  if (net->initialised) {
    return NCCL_SUCCESS;
  }
  int result = net->api == 8   ? net->v8->init(host_logger)
               : net->api == 9 ? net->v9->init(host_logger)
                               : net->v10->init(host_logger, profile_net_event);
  net->initialised = result == NCCL_SUCCESS;
  trace_init(net->api, NULL, 0, NULL, host_logger, net->api == 10 ? profile_net_event : NULL, result);
  return result;
}

int net_init(struct net *net, void **ctx, uint64_t comm_id) {
  struct nccl_net_config config = {.trafficClass = -1};
  *ctx = NULL;
  if (net->api < 11) {
    return init_once(net);
  }
  int result = net->api == 11 ? net->v11->init(ctx, comm_id, &config, host_logger, profile_net_event)
                              : net->v12->init(ctx, comm_id, &config, host_logger, profile_net_event);
  trace_init(net->api, *ctx, comm_id, &config, host_logger, profile_net_event, result);
  return result;
}

int net_finalize(struct net *net, void *ctx) {
  if (net->api < 11) { /* has none: the plugin is never told */
    return NCCL_SUCCESS;
  }
  pthread_mutex_lock(&init_lock);
  int result = net->api == 11 ? net->v11->finalize(ctx) : net->v12->finalize(ctx);
  trace_finalize(ctx, result);
  pthread_mutex_unlock(&init_lock);
  return result;
}

int net_devices(const struct net *net, int *count) {
  int result = COMMON(net)->devices(count);
  if (count != NULL) {
    trace_line("devices -> %d", *count);
  }
  return result;
}

static int properties_of_all(const struct net *net, int devices) {
  int result = NCCL_SUCCESS;
  for (int dev = 0; result == NCCL_SUCCESS && dev < devices; dev++) {
    struct net_properties properties;
    result = net_get_properties(net, dev, &properties);
  }
  return result;
}

/* Where one device says that it reaches it, RCCL takes all for such devices. */
static int look_for_gpu_memory(struct net *net) {
  struct net_properties properties = {.pointer_support = 0};
  int count = 0;
  int result = net_devices(net, &count);
  for (int dev = 0; result == NCCL_SUCCESS && dev < count && (properties.pointer_support & NCCL_PTR_CUDA) == 0; dev++) {
    result = net_get_properties(net, dev, &properties);
  }
  net->asks_for_gpu_memory = false;
  return result;
}

static int begin(struct net *net, void **ctx, uint64_t comm_id) {
  struct net_properties properties;
  int result = net_init(net, ctx, comm_id);
  if (result == NCCL_SUCCESS && !net->devices_known) {
    result = net_devices(net, &net->device_count);
    net->devices_known = result == NCCL_SUCCESS;
  }
  if (result == NCCL_SUCCESS) { /* whether it is of a kind that NCCL can use */
    result = net_get_properties(net, 0, &properties);
  }
  if (result == NCCL_SUCCESS && net->asks_for_gpu_memory) {
    result = look_for_gpu_memory(net);
  }
  /* the topology: NCCL 2.23 counts again for each communicator, 2.24 to 2.27 for the first, later ones remember */
  if (result == NCCL_SUCCESS && (net->api == 8 || (net->api < 11 && !net->topology_known))) {
    result = net_devices(net, &net->device_count);
  }
  net->topology_known = true;
  if (result == NCCL_SUCCESS) {
    result = properties_of_all(net, net->device_count);
  }
  if (result == NCCL_SUCCESS && net->api == 12) { /* 2.30 compares the ranks' numbers of devices */
    result = net_devices(net, &net->device_count);
  }
  return result;
}

int net_begin(struct net *net, void **ctx, uint64_t comm_id, int *devices) {
  pthread_mutex_lock(&init_lock); /* as in NCCL, one communicator of a process at a time */
  int result = begin(net, ctx, comm_id);
  *devices = net->device_count;
  pthread_mutex_unlock(&init_lock);
  return result;
}

const char *net_optional_slots(const struct net *net) {
  bool any = COMMON(net)->getDeviceMr != NULL || COMMON(net)->irecvConsumed != NULL ||
             (net->api >= 9 && COMMON(net)->makeVDevice != NULL) || (net->api >= 11 && COMMON(net)->setNetAttr != NULL);
  return any ? "some" : "none";
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
  trace_line("getProperties dev=%d%s", dev, result == NCCL_SUCCESS ? "" : ": error");
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
  static const char zeros[NCCL_NET_HANDLE_BYTES];
  bool zeroed = handle != NULL && memcmp(handle, zeros, sizeof zeros) == 0;
  int result = net->api < 11 ? net->v8->listen(dev, handle, comm) : net->v12->listen(ctx, dev, handle, comm);
  trace_listen(net->api, ctx, dev, zeroed, comm == NULL ? NULL : *comm, result);
  return result;
}

int net_connect(const struct net *net, void *ctx, int dev, void *handle, void **comm) {
  struct nccl_net_device_handle *offload = NULL;
  struct nccl_net_device_handle **last = net->context == NULL ? &offload : net->context;
  struct nccl_net_config config = {.trafficClass = -1};
  int result = net->api >= 11    ? net->v12->connect(ctx, dev, handle, comm, last)
               : net->api == 10 ? net->v10->connect(dev, &config, handle, comm, last)
                                : net->v9->connect(dev, handle, comm, last);
  trace_connect(net->api, ctx, dev, handle, comm == NULL ? NULL : *comm, result);
  return result;
}

int net_accept(const struct net *net, void *listen_comm, void **comm) {
  struct nccl_net_device_handle *offload = NULL;
  int result = COMMON(net)->accept(listen_comm, comm, net->context == NULL ? &offload : net->context);
  trace_accept(listen_comm, comm == NULL ? NULL : *comm, result);
  return result;
}

int net_close_send(const struct net *net, void *comm) {
  int result = COMMON(net)->closeSend(comm);
  trace_close_comm("closeSend", comm, result);
  return result;
}

int net_close_recv(const struct net *net, void *comm) {
  int result = COMMON(net)->closeRecv(comm);
  trace_close_comm("closeRecv", comm, result);
  return result;
}

int net_close_listen(const struct net *net, void *comm) {
  int result = COMMON(net)->closeListen(comm);
  trace_close_comm("closeListen", comm, result);
  return result;
}

int net_reg_mr(const struct net *net, void *comm, void *data, size_t size, int type, void **mhandle) {
  int result = COMMON(net)->regMr(comm, data, size, type, mhandle);
  trace_reg_mr(comm, data, size, type, mhandle == NULL ? NULL : *mhandle, result);
  return result;
}

int net_reg_mr_dma_buf(const struct net *net, void *comm, void *data, size_t size, int type, uint64_t offset, int fd,
                       void **mhandle) {
  *mhandle = NULL;
  if (COMMON(net)->regMrDmaBuf == NULL) {
    return NCCL_INVALID_USAGE;
  }
  int result = COMMON(net)->regMrDmaBuf(comm, data, size, type, offset, fd, mhandle);
  trace_reg_mr(comm, data, size, type, *mhandle, result);
  return result;
}

int net_dereg_mr(const struct net *net, void *comm, void *mhandle) {
  int result = COMMON(net)->deregMr(comm, mhandle);
  trace_dereg_mr(comm, mhandle, result);
  return result;
}

/* Where NCCL keeps the profiler's event of a message, as the first of two words; here for messages that have none. */
static void *no_events[2];

static void *event_parent(void) {
  return net_event_parent == NULL ? &no_events[0] : net_event_parent;
}

int net_isend(const struct net *net, void *comm, void *data, size_t size, int tag, void *mhandle, void **request) {
  const void *entry = request == NULL ? NULL : *request;
  int result = net->api >= 10   ? net->v12->isend(comm, data, size, tag, mhandle, event_parent(), request)
               : net->api == 9 ? net->v9->isend(comm, data, size, tag, mhandle, request)
                               : net->v8->isend(comm, data, (int)size, tag, mhandle, request);
  if (request != NULL) {
    trace_post("isend", comm, net->api, data, size, tag, mhandle, event_parent(), entry, *request, result);
  }
  return result;
}

static int irecv_of_version(const struct net *net, void *comm, int n, void **data, size_t *sizes, int *tags,
                            void **mhandles, void **request) {
  if (net->api >= 10) {
    void *parents[8];
    for (int i = 0; i < 8; i++) {
      parents[i] = event_parent();
    }
    return net->v12->irecv(comm, n, data, sizes, tags, mhandles, parents, request);
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

int net_irecv(const struct net *net, void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles,
              void **request) {
  const void *entry = *request;
  int result = irecv_of_version(net, comm, n, data, sizes, tags, mhandles, request);
  if (n == 1) {
    trace_post("irecv n=1", comm, net->api, data[0], sizes[0], tags[0], mhandles[0], event_parent(), entry, *request,
               result);
  }
  return result;
}

int net_iflush(const struct net *net, void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  int result = COMMON(net)->iflush(comm, n, data, sizes, mhandles, request);
  trace_line("iflush n=%d", n);
  return result;
}

int net_test(const struct net *net, void *request, int *done, int *sizes) {
  int result = COMMON(net)->test(request, done, sizes);
  trace_test(request, done == NULL ? 0 : *done, sizes == NULL ? 0 : (size_t)sizes[0], result);
  return result;
}
