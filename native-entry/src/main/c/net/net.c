/*
 * The net plugin's tables for versions 8 to 12 of its API. Any thread may call; the JVM attaches it at its first call
 * and detaches it when it ends. The library stays in the process for good (-z nodelete): NCCL's dlclose and dlopen find
 * everything as it was.
 *
 * Calls go on to Java through a table of upcall stubs. C turns back what must not reach it (NULL pointers, a forked
 * child, a thread with too little stack), widens arguments, and answers itself what goes as usual:
 * net/lanes.h says which, and on which facts.
 */
#include "../host/java_state.h"
#include "../host/signals.h"
#include "events.h"
#include "lanes.h"
#include "trace.h"
#include "upcalls.h"

#define UNLIKELY(condition) __builtin_expect((condition), 0)
#define P(pointer) ((int64_t)(intptr_t)(pointer))
#define CALL(slot, ...) (UNLIKELY(!may_call()) ? refuse(#slot) : java_net.slot(__VA_ARGS__))
#define CONTROL(call, ...) (UNLIKELY(!may_call()) ? refuse(#call) : ASK_JAVA(call, __VA_ARGS__))
#define RELEASE(call, ...) (UNLIKELY(!may_release()) ? refuse(#call) : (make_room(), ASK_JAVA(call, __VA_ARGS__)))

/* ---- contexts ---- */

static int init_without_context(nccl_logger log) {
  int result = bind_net(log);
  return result != NCCL_SUCCESS ? result : CONTROL(open_default_context, 0);
}

/* NCCL has one for the process. */
static void use_profiler(nccl_profiler_callback profiler) {
  if (profiler != NULL) {
    atomic_store(&net_profiler, profiler);
  }
}

static int init_v10(nccl_logger log, nccl_profiler_callback profiler) {
  use_profiler(profiler);
  return init_without_context(log);
}

static int init_with_context(void **ctx, uint64_t comm_id, struct nccl_net_config *config, nccl_logger log,
                             nccl_profiler_callback profiler) {
  use_profiler(profiler);
  if (ctx == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *ctx = NULL;
  int result = bind_net(log);
  return result != NCCL_SUCCESS ? result : CONTROL(open_context, P(ctx), (int64_t)comm_id, P(config));
}

static int finalize(void *ctx) {
  return ctx == NULL ? NCCL_SUCCESS : RELEASE(finalize, P(ctx));
}

/* ---- devices ---- */

static int devices(int *count) {
  if (count == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *count = 0;
  return CONTROL(devices, P(count));
}

_Atomic bool net_is_taken;

static int get_properties(int version, int dev, void *properties) {
  atomic_store(&net_is_taken, true);
  return properties == NULL ? NCCL_INVALID_ARGUMENT : CONTROL(get_properties, version, dev, P(properties));
}

static int get_properties_v8(int dev, struct nccl_net_properties_v8 *properties) {
  return get_properties(8, dev, properties);
}

static int get_properties_v9(int dev, struct nccl_net_properties_v9 *properties) {
  return get_properties(9, dev, properties);
}

static int get_properties_v11(int dev, struct nccl_net_properties_v11 *properties) {
  return get_properties(11, dev, properties);
}

static int get_properties_v12(int dev, struct nccl_net_properties_v12 *properties) {
  return get_properties(12, dev, properties);
}

/* ---- connections: *comm is NULL unless the call returns one ---- */

static int listen_in_context(void *ctx, int dev, void *handle, void **comm) {
  if (comm == NULL || handle == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *comm = NULL;
  if (is_ready()) { /* not in a forked child: a thread may have held the lock when it was forked */
    guard_signals();
  }
  return CONTROL(listen, P(ctx), dev, P(handle), P(comm));
}

static int listen_without_context(int dev, void *handle, void **comm) {
  return listen_in_context((void *)(intptr_t)DEFAULT_CONTEXT, dev, handle, comm);
}

static int connect_any(void *ctx, int dev, struct nccl_net_config *config, void *handle, void **comm) {
  if (comm == NULL || handle == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *comm = NULL;
  int result = CONTROL(connect, P(ctx), dev, P(handle), P(config), P(comm));
  events_open(*comm);
  return result;
}

static int connect_in_context(void *ctx, int dev, void *handle, void **comm, struct nccl_net_device_handle **offload) {
  (void)offload; /* there is none: netDeviceType is HOST */
  return connect_any(ctx, dev, NULL, handle, comm);
}

static int connect_v10(int dev, struct nccl_net_config *config, void *handle, void **comm,
                       struct nccl_net_device_handle **offload) {
  (void)offload;
  return connect_any((void *)(intptr_t)DEFAULT_CONTEXT, dev, config, handle, comm);
}

static int connect_without_context(int dev, void *handle, void **comm, struct nccl_net_device_handle **offload) {
  (void)offload;
  return connect_any((void *)(intptr_t)DEFAULT_CONTEXT, dev, NULL, handle, comm);
}

static int accept_comm(void *listen_comm, void **comm, struct nccl_net_device_handle **offload) {
  (void)offload;
  if (comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *comm = NULL;
  int result = listen_comm == NULL ? NCCL_INVALID_ARGUMENT : CONTROL(accept, P(listen_comm), P(comm));
  events_open(*comm);
  return result;
}

static int close_send(void *comm) {
  return comm == NULL ? NCCL_SUCCESS : RELEASE(close_send, P(comm));
}

static int close_recv(void *comm) {
  return comm == NULL ? NCCL_SUCCESS : RELEASE(close_recv, P(comm));
}

static int close_listen(void *comm) {
  return comm == NULL ? NCCL_SUCCESS : RELEASE(close_listen, P(comm));
}

/* ---- memory ---- */

static int reg_mr(void *comm, void *data, size_t size, int type, void **mhandle) {
  if (mhandle == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *mhandle = NULL;
  return comm == NULL ? NCCL_INVALID_ARGUMENT : CONTROL(reg_mr, P(comm), P(data), (int64_t)size, type, P(mhandle));
}

/* The kind of memory is known by the descriptor. Java gets what its call has no room for as an array. */
static int reg_mr_dma_buf(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **mhandle) {
  (void)type;
  if (mhandle == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *mhandle = NULL;
  const int64_t lent[] = {P(data), (int64_t)size, (int64_t)offset, fd};
  return comm == NULL ? NCCL_INVALID_ARGUMENT : CONTROL(reg_mr_dma_buf, P(comm), P(lent), P(mhandle));
}

static int dereg_mr(void *comm, void *mhandle) {
  return mhandle == NULL ? NCCL_SUCCESS : RELEASE(dereg_mr, P(comm), P(mhandle));
}

/* ---- transfers: *request and *done are always written; n is 1, as the properties' maxRecvs says ---- */

static inline int send_any(void *comm, void *data, int64_t size, int tag, void *mhandle, void **request) {
  if (UNLIKELY(request == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *request = NULL;
  struct trace_ring *ring = trace_of((uint64_t)(uintptr_t)comm);
  const uint64_t time = UNLIKELY(ring != NULL) ? trace_now() : 0;
  int result = may_call() && lane_message((uint64_t)P(comm), true, (uint64_t)P(data), (uint64_t)size, tag,
                                          (uint64_t)P(mhandle), request) == LANE_ANSWERED
                   ? NCCL_SUCCESS
                   : CALL(isend, P(comm), P(data), size, tag, P(mhandle), P(request));
  return UNLIKELY(ring != NULL) ? trace_sent(ring, time, (uint64_t)size, *request, result) : result;
}

static int isend(void *comm, void *data, size_t size, int tag, void *mhandle, void *event, void **request) {
  int result = send_any(comm, data, (int64_t)size, tag, mhandle, request);
  if (result == NCCL_SUCCESS) {
    event_begin(comm, event, *request, size, true);
  }
  return result;
}

static int isend_v9(void *comm, void *data, size_t size, int tag, void *mhandle, void **request) {
  return send_any(comm, data, (int64_t)size, tag, mhandle, request);
}

static int isend_v8(void *comm, void *data, int size, int tag, void *mhandle, void **request) {
  return send_any(comm, data, size, tag, mhandle, request);
}

/* *request may ask for optional completion, and is overwritten; where neither a lane nor Java is asked, here. */
static inline bool may_receive(int n, void **data, void *sizes, int *tags, void **mhandles, void **request) {
  bool ok = request != NULL && n == 1 && data != NULL && sizes != NULL && tags != NULL && mhandles != NULL;
  if (UNLIKELY(request != NULL && (!ok || !may_call()))) {
    *request = NULL;
  }
  return ok;
}

static int irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **events,
                 void **request) {
  if (UNLIKELY(!may_receive(n, data, sizes, tags, mhandles, request))) {
    return NCCL_INVALID_ARGUMENT;
  }
  struct trace_ring *ring = trace_of((uint64_t)(uintptr_t)comm);
  const uint64_t time = UNLIKELY(ring != NULL) ? trace_now() : 0;
  int result = may_call() && lane_message((uint64_t)P(comm), false, (uint64_t)P(data[0]), sizes[0], tags[0],
                                          (uint64_t)P(mhandles[0]), request) == LANE_ANSWERED
                   ? NCCL_SUCCESS
                   : CALL(irecv, P(comm), P(data), P(sizes), P(tags), P(mhandles), P(request));
  if (result == NCCL_SUCCESS && events != NULL) {
    event_begin(comm, events[0], *request, sizes[0], false);
  }
  return UNLIKELY(ring != NULL) ? trace_received(ring, time, sizes[0], *request, result) : result;
}

static int irecv_v9(void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **request) {
  return irecv(comm, n, data, sizes, tags, mhandles, NULL, request);
}

/* Sizes are int in v8; there is one. */
static int irecv_v8(void *comm, int n, void **data, int *sizes, int *tags, void **mhandles, void **request) {
  size_t size = n == 1 && sizes != NULL ? (size_t)*sizes : 0;
  return irecv(comm, n, data, sizes == NULL ? NULL : &size, tags, mhandles, NULL, request);
}

static int iflush(void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  if (UNLIKELY(request == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *request = NULL;
  if (UNLIKELY(n != 1 || data == NULL || sizes == NULL || mhandles == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  return may_call() && lane_flush((uint64_t)P(comm), (uint64_t)P(data[0]), sizes[0], (uint64_t)P(mhandles[0]),
                                   request) == LANE_ANSWERED
             ? NCCL_SUCCESS
             : CONTROL(iflush, P(comm), P(data), P(sizes), P(mhandles), P(request));
}

/* Answered here, or by Java. */
static inline int ask(void *request, int *done, int *size) {
  *done = 0;
  return may_call() && lane_test((uint64_t)(uintptr_t)request, done, size) == LANE_ANSWERED
             ? NCCL_SUCCESS
             : CALL(test, P(request), P(done), P(size));
}

static int test(void *request, int *done, int *sizes) {
  if (UNLIKELY(done == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  int size = 0;
  int result = ask(request, done, &size);
  if (*done && sizes != NULL) {
    *sizes = size;
  }
  const uint64_t asked = (uint64_t)(uintptr_t)request;
  if (*done || UNLIKELY(result != NCCL_SUCCESS)) {
    event_end(asked);
  }
  struct trace_ring *ring = trace_of(asked);
  return UNLIKELY(ring != NULL) ? trace_tested(ring, asked, *done, (uint64_t)size, result) : result;
}

#define EXPORTED __attribute__((visibility("default"))) extern const

/* clang-format off */
#define COMMON_SLOTS \
  .name = "Trigon", .devices = devices, .accept = accept_comm, .regMr = reg_mr, .regMrDmaBuf = reg_mr_dma_buf, \
  .deregMr = dereg_mr, .iflush = iflush, .test = test, .closeSend = close_send, .closeRecv = close_recv, \
  .closeListen = close_listen, .getDeviceMr = NULL, .irecvConsumed = NULL
/* clang-format on */

EXPORTED struct nccl_net_v8 ncclNetPlugin_v8;
const struct nccl_net_v8 ncclNetPlugin_v8 = {
    COMMON_SLOTS,
    .init = init_without_context,
    .getProperties = get_properties_v8,
    .listen = listen_without_context,
    .connect = connect_without_context,
    .isend = isend_v8,
    .irecv = irecv_v8,
};

EXPORTED struct nccl_net_v9 ncclNetPlugin_v9;
const struct nccl_net_v9 ncclNetPlugin_v9 = {
    COMMON_SLOTS,
    .init = init_without_context,
    .getProperties = get_properties_v9,
    .listen = listen_without_context,
    .connect = connect_without_context,
    .isend = isend_v9,
    .irecv = irecv_v9,
    .makeVDevice = NULL,
};

EXPORTED struct nccl_net_v10 ncclNetPlugin_v10;
const struct nccl_net_v10 ncclNetPlugin_v10 = {
    COMMON_SLOTS,
    .init = init_v10,
    .getProperties = get_properties_v9,
    .listen = listen_without_context,
    .connect = connect_v10,
    .isend = isend,
    .irecv = irecv,
    .makeVDevice = NULL,
};

EXPORTED struct nccl_net_v11 ncclNetPlugin_v11;
const struct nccl_net_v11 ncclNetPlugin_v11 = {
    COMMON_SLOTS,
    .init = init_with_context,
    .getProperties = get_properties_v11,
    .listen = listen_in_context,
    .connect = connect_in_context,
    .isend = isend,
    .irecv = irecv,
    .makeVDevice = NULL,
    .finalize = finalize,
    .setNetAttr = NULL,
};

EXPORTED struct nccl_net_v12 ncclNetPlugin_v12;
const struct nccl_net_v12 ncclNetPlugin_v12 = {
    COMMON_SLOTS,
    .init = init_with_context,
    .getProperties = get_properties_v12,
    .listen = listen_in_context,
    .connect = connect_in_context,
    .isend = isend,
    .irecv = irecv,
    .makeVDevice = NULL,
    .finalize = finalize,
    .setNetAttr = NULL,
};
