/*
 * A plugin between NCCL and another plugin: hands every call on and writes it down, as nccl-host --trace does. So
 * NCCL's own calls can be compared with those that are expected of it. API version 11 only, that of the NCCL at hand
 * (2.28).
 *
 * TRACED_PLUGIN names the other plugin, TRACED_FILE where the calls go, rewritten whenever a communicator ends; RANK
 * and WORLD_SIZE say which rank this is of how many. NCCL names its threads if NCCL_SET_THREAD_NAME is 1.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "nccl_net_abi.h"
#include "trace.h"

enum { API = 11 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct nccl_net_v11 *plugin;
static int communicators;
static int connecting; /* the communicator whose connections and messages are sorted */
static nccl_logger logger;

/* Every call comes through here: one thread at a time may note something. */
static void enter(void) {
  char name[16] = "";
  pthread_mutex_lock(&lock);
  pthread_getname_np(pthread_self(), name, sizeof name);
  trace_thread(strstr(name, "Service") != NULL ? "service" : strstr(name, "Progress") != NULL ? "progress" : "init");
}

static int leave(int result) {
  pthread_mutex_unlock(&lock);
  return result;
}

static int number_in(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text == NULL ? otherwise : atoi(text);
}

static int complain(const char *what, const char *why) {
  logger(NCCL_LOG_WARN, NCCL_LOG_INIT | NCCL_LOG_NET, __func__, __LINE__, "NET/Traced : %s: %s", what, why);
  return NCCL_SYSTEM_ERROR;
}

static int open_plugin(void) {
  const char *path = getenv("TRACED_PLUGIN");
  const char *file = getenv("TRACED_FILE");
  if (path == NULL || file == NULL) {
    return complain("TRACED_PLUGIN and TRACED_FILE", "one of them is not set");
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const struct nccl_net_v11 *found = library == NULL ? NULL : dlsym(library, "ncclNetPlugin_v11");
  if (found == NULL) {
    return complain(path, dlerror());
  }
  if (found->makeVDevice != NULL || found->setNetAttr != NULL || found->getDeviceMr != NULL ||
      found->irecvConsumed != NULL) {
    return complain(path, "has optional slots, which this plugin has not");
  }
  if (!trace_open(file, number_in("RANK", 0), number_in("WORLD_SIZE", 1))) {
    return complain(file, "no memory");
  }
  trace_line("open ncclNetPlugin_v%d, optional slots: none", API);
  plugin = found;
  return NCCL_SUCCESS;
}

static int init(void **ctx, uint64_t comm_id, struct nccl_net_config *config, nccl_logger log,
                nccl_profiler_callback profiler) {
  enter();
  logger = log;
  int result = plugin == NULL ? open_plugin() : NCCL_SUCCESS;
  if (result == NCCL_SUCCESS) {
    trace_communicator(++communicators);
    result = plugin->init(ctx, comm_id, config, log, profiler);
    trace_init(API, *ctx, comm_id, config, log, profiler, result);
  }
  return leave(result);
}

static int devices(int *count) {
  if (plugin == NULL) {
    return NCCL_INTERNAL_ERROR;
  }
  enter();
  int result = plugin->devices(count);
  trace_line("devices -> %d", *count);
  return leave(result);
}

static int get_properties(int dev, struct nccl_net_properties_v11 *properties) {
  enter();
  int result = plugin->getProperties(dev, properties);
  trace_line("getProperties dev=%d%s", dev, result == NCCL_SUCCESS ? "" : ": error");
  return leave(result);
}

static int listen_on(void *ctx, int dev, void *handle, void **comm) {
  static const char zeros[NCCL_NET_HANDLE_BYTES];
  enter();
  bool zeroed = memcmp(handle, zeros, sizeof zeros) == 0;
  int result = plugin->listen(ctx, dev, handle, comm);
  trace_listen(API, ctx, dev, zeroed, *comm, result);
  return leave(result);
}

/* The first connect or accept of a communicator: from here on the order depends on time. */
static void connections_begin(void) {
  if (connecting != communicators) {
    connecting = communicators;
    trace_ordered(false);
  }
}

static int connect_to(void *ctx, int dev, void *handle, void **comm, struct nccl_net_device_handle **offload) {
  enter();
  connections_begin();
  int result = plugin->connect(ctx, dev, handle, comm, offload);
  trace_connect(API, ctx, dev, handle, *comm, result);
  return leave(result);
}

static int accept_from(void *listen_comm, void **comm, struct nccl_net_device_handle **offload) {
  enter();
  connections_begin();
  int result = plugin->accept(listen_comm, comm, offload);
  trace_accept(listen_comm, *comm, result);
  return leave(result);
}

static int reg_mr(void *comm, void *data, size_t size, int type, void **mhandle) {
  enter();
  int result = plugin->regMr(comm, data, size, type, mhandle);
  trace_reg_mr(comm, data, size, type, *mhandle, result);
  return leave(result);
}

static int dereg_mr(void *comm, void *mhandle) {
  enter();
  trace_ordered(true);
  int result = plugin->deregMr(comm, mhandle);
  trace_dereg_mr(comm, mhandle, result);
  return leave(result);
}

static int isend(void *comm, void *data, size_t size, int tag, void *mhandle, void *parent, void **request) {
  enter();
  const void *entry = *request;
  int result = plugin->isend(comm, data, size, tag, mhandle, parent, request);
  trace_post("isend", comm, API, data, size, tag, mhandle, parent, entry, *request, result);
  return leave(result);
}

static int irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **parents,
                 void **request) {
  char call[16];
  enter();
  const void *entry = *request;
  int result = plugin->irecv(comm, n, data, sizes, tags, mhandles, parents, request);
  snprintf(call, sizeof call, "irecv n=%d", n);
  trace_post(call, comm, API, data[0], sizes[0], tags[0], mhandles[0], parents == NULL ? NULL : parents[0], entry,
             *request, result);
  return leave(result);
}

static int iflush(void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  enter();
  int result = plugin->iflush(comm, n, data, sizes, mhandles, request);
  trace_line("iflush n=%d", n);
  return leave(result);
}

static int test(void *request, int *done, int *sizes) {
  enter();
  int result = plugin->test(request, done, sizes);
  trace_test(request, *done, sizes == NULL ? 0 : (size_t)sizes[0], result);
  return leave(result);
}

static int close_send(void *comm) {
  enter();
  int result = plugin->closeSend(comm);
  trace_close_comm("closeSend", comm, result);
  return leave(result);
}

static int close_recv(void *comm) {
  enter();
  int result = plugin->closeRecv(comm);
  trace_close_comm("closeRecv", comm, result);
  return leave(result);
}

static int close_listen(void *comm) {
  enter();
  int result = plugin->closeListen(comm);
  trace_close_comm("closeListen", comm, result);
  return leave(result);
}

static int finalize(void *ctx) {
  enter();
  int result = plugin->finalize(ctx);
  trace_finalize(ctx, result);
  if (!trace_write()) {
    complain("TRACED_FILE", "cannot be written");
  }
  return leave(result);
}

__attribute__((visibility("default"))) extern const struct nccl_net_v11 ncclNetPlugin_v11;
const struct nccl_net_v11 ncclNetPlugin_v11 = {
    .name = "Trigon", /* what is looked for in NCCL's log */
    .init = init,
    .devices = devices,
    .getProperties = get_properties,
    .listen = listen_on,
    .connect = connect_to,
    .accept = accept_from,
    .regMr = reg_mr,
    .deregMr = dereg_mr,
    .isend = isend,
    .irecv = irecv,
    .iflush = iflush,
    .test = test,
    .closeSend = close_send,
    .closeRecv = close_recv,
    .closeListen = close_listen,
    .finalize = finalize,
};
