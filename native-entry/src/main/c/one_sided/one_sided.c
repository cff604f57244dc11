/*
 * One-sided communication: the tables GIN v11, for NCCL 2.28.7 to 2.30.4, and RMA v14 to v17, from 2.30.7 on. They are
 * found only where the settings ask for them, since NCCL changes its algorithms, and starts a thread, where it sees
 * them.
 *
 * A collective comm stands for its first context in GIN v11, which has no others. Control calls may block until the
 * other ranks have made theirs; NCCL's proxy thread makes the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "../host/java_state.h"
#include "../host/log.h"
#include "../host/signals.h"
#include "../net/upcalls.h"
#include "upcalls.h"

#define UNLIKELY(condition) __builtin_expect((condition), 0)
#define P(pointer) ((int64_t)(intptr_t)(pointer))
#define SIX_OF(first, second, third, fourth, fifth, sixth, ...)                                                        \
  (first), (second), (third), (fourth), (fifth), (sixth)
/* With six arguments at most. */
#define ASK(call, ...) java_one_sided.control(ONE_SIDED_##call, SIX_OF(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
#define CONTROL(call, ...)                                                                                             \
  (UNLIKELY(!may_call())                   ? refuse(#call)                                                             \
   : UNLIKELY(java_one_sided.control == NULL) ? refuse_without_init(#call)                                             \
                                           : ASK(call, __VA_ARGS__))
#define RELEASE(call, ...)                                                                                             \
  (UNLIKELY(!may_release() || java_one_sided.control == NULL) ? refuse(#call) : (make_room(), ASK(call, __VA_ARGS__)))
#define CALL(slot, ...)                                                                                                \
  (UNLIKELY(!may_call())                ? refuse(#slot)                                                                \
   : UNLIKELY(java_one_sided.slot == NULL) ? refuse_without_init(#slot)                                                \
                                        : java_one_sided.slot(__VA_ARGS__))

/* ---- contexts, devices ---- */

static int init(void **ctx, uint64_t comm_id, nccl_logger log) {
  if (ctx == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *ctx = NULL;
  int result = bind_net(log);
  if (result == NCCL_SUCCESS && atomic_load(&one_sided_state.setting) == ONE_SIDED_OFF) {
    log_text(NCCL_LOG_INFO, "one-sided communication is off, the default (TRIGON_ONE_SIDED)");
    return NCCL_INVALID_USAGE; /* NCCL goes on without it */
  }
  if (result == NCCL_SUCCESS) {
    result = bind_one_sided(log);
  }
  return result != NCCL_SUCCESS ? result : CONTROL(open_context, (int64_t)comm_id, P(ctx));
}

static int finalize(void *ctx) {
  return ctx == NULL ? NCCL_SUCCESS : RELEASE(finalize, P(ctx));
}

static int devices(int *count) {
  if (count == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *count = 0;
  return UNLIKELY(!may_call()) ? refuse("devices") : ASK_JAVA(devices, P(count));
}

/* The net plugin's, but for who makes the calls. */
static int get_properties_v11(int dev, struct nccl_net_properties_v11 *properties) {
  if (properties == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  int result = UNLIKELY(!may_call()) ? refuse("getProperties") : ASK_JAVA(get_properties, 11, dev, P(properties));
  if (result == NCCL_SUCCESS) {
    properties->netDeviceType = NCCL_NET_DEVICE_GIN_PROXY;
  }
  return result;
}

static int get_properties_v12(int dev, struct nccl_net_properties_v12 *properties) {
  if (properties == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  int result = UNLIKELY(!may_call()) ? refuse("getProperties") : ASK_JAVA(get_properties, 12, dev, P(properties));
  if (result == NCCL_SUCCESS) {
    properties->netDeviceType = NCCL_NET_DEVICE_GIN_PROXY;
  }
  return result;
}

/*
 * A signal says nothing of other ranks' puts: ranks come by connections of their own, and what has arrived over one may
 * be applied after a signal that has arrived later over another (trigon.onesided.peer.Incoming). So NCCL has to flush.
 */
static int get_rma_properties(void *comm, struct nccl_rma_properties_v16 *properties) {
  if (properties == NULL || comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  properties->flushesAllPutsOnAnySignal = false;
  return NCCL_SUCCESS;
}

/* ---- connections: *comm is NULL unless the call returns one ---- */

static int listen_in_context(void *ctx, int dev, void *handle, void **comm) {
  if (comm == NULL || handle == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *comm = NULL;
  if (is_ready()) {
    guard_signals();
  }
  return CONTROL(listen, P(ctx), dev, P(handle), P(comm));
}

/* The context may be none, or the net plugin's: the listener has one. */
static int connect_all(void *handles[], int ranks, int rank, void *listen_comm, void **comm, int64_t open) {
  if (comm == NULL || handles == NULL || listen_comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *comm = NULL;
  return CONTROL(connect, P(handles), ranks, rank, P(listen_comm), open, P(comm));
}

static int connect_v11(void *ctx, void *handles[], int ranks, int rank, void *listen_comm, void **comm) {
  (void)ctx;
  return connect_all(handles, ranks, rank, listen_comm, comm, 1);
}

/*
 * Some of NCCL's commits give one more argument, the flag of an abort (v17). There is no telling whether it was given,
 * so it is not looked at: a caller removes its arguments itself, and a wait for ranks that do not come has an end.
 */
static int connect_v14(void *ctx, void *handles[], int ranks, int rank, void *listen_comm, void **comm) {
  (void)ctx;
  return connect_all(handles, ranks, rank, listen_comm, comm, 0);
}

/* NCCL 2.30.3 and 2.30.4 ask for one, and make their calls with it; earlier ones call with the collective comm. */
static int create_context_v11(void *comm, int signals, int counters, void **ctx,
                              struct nccl_net_device_handle **device_handle) {
  (void)signals, (void)counters, (void)device_handle; /* NCCL's own proxy has them */
  if (ctx == NULL || comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *ctx = comm;
  return NCCL_SUCCESS;
}

static int create_contexts(void *comm, int count, int traffic_class, void **ctx) {
  if (ctx == NULL || comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *ctx = NULL;
  return CONTROL(create_context, P(comm), count, traffic_class, P(ctx));
}

static int create_context_v14(void *comm, struct nccl_rma_config_v14 *config, void **ctx) {
  return config == NULL ? NCCL_INVALID_ARGUMENT : create_contexts(comm, config->nContexts, config->trafficClass, ctx);
}

/* All ranks are connected, whichever peerArray names; a rank's number stays that of connect. */
static int create_context_v17(void *comm, struct nccl_rma_config_v17 *config, void **ctx) {
  return config == NULL ? NCCL_INVALID_ARGUMENT : create_contexts(comm, config->nContexts, config->trafficClass, ctx);
}

static int destroy_context(void *ctx) {
  return ctx == NULL ? NCCL_SUCCESS : RELEASE(destroy_context, P(ctx));
}

static int close_coll(void *comm) {
  return comm == NULL ? NCCL_SUCCESS : RELEASE(close_coll, P(comm));
}

static int close_listen(void *comm) {
  return comm == NULL ? NCCL_SUCCESS : RELEASE(close_listen, P(comm));
}

/* ---- windows ---- */

static int reg_mr_sym(void *comm, void *data, size_t size, int type, uint64_t flags, void **mhandle) {
  if (mhandle == NULL || comm == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *mhandle = NULL;
  return CONTROL(reg_mr_sym, P(comm), P(data), (int64_t)size, type, (int64_t)flags, P(mhandle));
}

static int reg_mr_sym_v11(void *comm, void *data, size_t size, int type, uint64_t flags, void **mhandle,
                          void **gin_handle) {
  int result = reg_mr_sym(comm, data, size, type, flags, mhandle);
  if (gin_handle != NULL) {
    *gin_handle = mhandle == NULL ? NULL : *mhandle;
  }
  return result;
}

static int dereg_mr_sym(void *comm, void *mhandle) {
  return mhandle == NULL || comm == NULL ? NCCL_SUCCESS : RELEASE(dereg_mr_sym, P(comm), P(mhandle));
}

/* ---- the data path: *request and *done are always written ---- */

static inline int put_any(void *handle, int context, uint64_t source_offset, void *source, size_t size, uint64_t offset,
                          void *target, uint32_t rank, uint64_t signal_offset, void *signal, uint64_t value,
                          uint32_t operation, void **request) {
  if (UNLIKELY(request == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *request = NULL;
  return CALL(put, P(handle), context, (int64_t)source_offset, P(source), (int64_t)size, (int64_t)offset, P(target),
              rank, (int64_t)signal_offset, P(signal), (int64_t)value, operation, P(request));
}

static int iput_v11(void *comm, uint64_t source_offset, void *source, size_t size, uint64_t offset, void *target,
                    uint32_t rank, void **request) {
  return put_any(comm, 0, source_offset, source, size, offset, target, rank, 0, NULL, 0, 0, request);
}

/* An operation that is none must not pass for a put without a signal. */
static inline uint32_t signalling(uint32_t operation) {
  return operation == 0 ? UINT32_MAX >> 1 : operation;
}

static int iput_signal_v11(void *comm, uint64_t source_offset, void *source, size_t size, uint64_t offset, void *target,
                           uint32_t rank, uint64_t signal_offset, void *signal, uint64_t value, uint32_t operation,
                           void **request) {
  return put_any(comm, 0, source_offset, source, size, offset, target, rank, signal_offset, signal, value,
                 signalling(operation), request);
}

/* Since v15. That operations may go together changes nothing: each goes at once. */
static int iput(void *ctx, int context, uint64_t source_offset, void *source, size_t size, uint64_t offset,
                void *target, uint32_t rank, uint32_t flags, void **request) {
  (void)flags;
  return put_any(ctx, context, source_offset, source, size, offset, target, rank, 0, NULL, 0, 0, request);
}

/* All signals are strong. */
static int iput_signal(void *ctx, int context, uint64_t source_offset, void *source, size_t size, uint64_t offset,
                       void *target, uint32_t rank, uint64_t signal_offset, void *signal, uint64_t value,
                       uint32_t operation, bool is_strong, uint32_t flags, void **request) {
  (void)is_strong, (void)flags;
  return put_any(ctx, context, source_offset, source, size, offset, target, rank, signal_offset, signal, value,
                 signalling(operation), request);
}

static int iget(void *ctx, int context, uint64_t remote_offset, void *remote, size_t size, uint64_t local_offset,
                void *local, uint32_t rank, uint32_t flags, void **request) {
  (void)flags;
  if (UNLIKELY(request == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *request = NULL;
  return CALL(get, P(ctx), context, (int64_t)remote_offset, P(remote), (int64_t)size, (int64_t)local_offset, P(local),
              rank, P(request));
}

static int iput_v14(void *ctx, int context, uint64_t source_offset, void *source, size_t size, uint64_t offset,
                    void *target, uint32_t rank, void **request) {
  return iput(ctx, context, source_offset, source, size, offset, target, rank, 0, request);
}

static int iput_signal_v14(void *ctx, int context, uint64_t source_offset, void *source, size_t size, uint64_t offset,
                           void *target, uint32_t rank, uint64_t signal_offset, void *signal, uint64_t value,
                           uint32_t operation, bool is_strong, void **request) {
  return iput_signal(ctx, context, source_offset, source, size, offset, target, rank, signal_offset, signal, value,
                     operation, is_strong, 0, request);
}

static int iget_v14(void *ctx, int context, uint64_t remote_offset, void *remote, size_t size, uint64_t local_offset,
                    void *local, uint32_t rank, void **request) {
  return iget(ctx, context, remote_offset, remote, size, local_offset, local, rank, 0, request);
}

static int iflush(void *ctx, int context, void *mhandle, uint32_t rank, void **request) {
  (void)mhandle, (void)rank;
  if (UNLIKELY(request == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *request = NULL;
  return CALL(flush, P(ctx), context, P(request));
}

static int test(void *comm, void *request, int *done) {
  if (UNLIKELY(done == NULL)) {
    return NCCL_INVALID_ARGUMENT;
  }
  *done = 0;
  return CALL(test, P(comm), P(request), P(done));
}

/* Of a collective comm, or of a context. */
static int make_progress(void *handle) {
  return CALL(progress, P(handle));
}

static int query_last_error(void *handle, bool *has_error) {
  if (has_error == NULL) {
    return NCCL_INVALID_ARGUMENT;
  }
  *has_error = false;
  return CONTROL(query_last_error, P(handle), P(has_error));
}

/* clang-format off */
#define COMMON_SLOTS \
  .name = "Trigon", .init = init, .devices = devices, .listen = listen_in_context, .regMrSymDmaBuf = NULL, \
  .deregMrSym = dereg_mr_sym, .destroyContext = destroy_context, .closeColl = close_coll, \
  .closeListen = close_listen, .test = test, .queryLastError = query_last_error, .finalize = finalize
#define RMA_SLOTS \
  COMMON_SLOTS, .getProperties = get_properties_v12, .connect = connect_v14, .regMrSym = reg_mr_sym, .iflush = iflush, \
  .rmaProgress = make_progress
#define RMA_SLOTS_SINCE_V15 RMA_SLOTS, .iput = iput, .iputSignal = iput_signal, .iget = iget
/* clang-format on */

static const struct nccl_gin_v11 gin_v11 = {
    COMMON_SLOTS,
    .getProperties = get_properties_v11,
    .connect = connect_v11,
    .createContext = create_context_v11,
    .regMrSym = reg_mr_sym_v11,
    .iput = iput_v11,
    .iputSignal = iput_signal_v11,
    .ginProgress = make_progress,
};

static const struct nccl_rma_v14 rma_v14 = {
    RMA_SLOTS,
    .createContext = create_context_v14,
    .iput = iput_v14,
    .iputSignal = iput_signal_v14,
    .iget = iget_v14,
};

static const struct nccl_rma_v15 rma_v15 = {RMA_SLOTS_SINCE_V15, .createContext = create_context_v14};

static const struct nccl_rma_v16 rma_v16 = {
    RMA_SLOTS_SINCE_V15,
    .getRmaProperties = get_rma_properties,
    .createContext = create_context_v14,
};

static const struct nccl_rma_v17 rma_v17 = {
    RMA_SLOTS_SINCE_V15,
    .getRmaProperties = get_rma_properties,
    .createContext = create_context_v17,
};

/*
 * Asked for by the environment, or by the file once Java has read it. NCCL looks for the tables after it has
 * initialised the net plugin, or before: then a file may still ask for them, and init says that it does not.
 */
static bool is_wanted(void) {
  const int64_t setting = atomic_load(&one_sided_state.setting);
  if (setting != ONE_SIDED_UNKNOWN) {
    return setting == ONE_SIDED_ON;
  }
  const char *variable = getenv("TRIGON_ONE_SIDED");
  return variable != NULL && *variable != '\0' ? strcmp(variable, "on") == 0 : getenv("TRIGON_CONFIG") != NULL;
}

/* Each name is an indirect function (STT_GNU_IFUNC): dlsym gives what its resolver returns. */
typedef void (*found)(void);

#define EXPORTED(table, symbol)                                                                                        \
  static found find_##table(void) {                                                                                    \
    return (found)(intptr_t)(is_wanted() ? &(table) : NULL);                                                           \
  }                                                                                                                    \
  __attribute__((visibility("default"), ifunc("find_" #table))) extern void symbol(void)

EXPORTED(gin_v11, ncclGinPlugin_v11);
EXPORTED(rma_v14, ncclRmaPlugin_v14);
EXPORTED(rma_v15, ncclRmaPlugin_v15);
EXPORTED(rma_v16, ncclRmaPlugin_v16);
EXPORTED(rma_v17, ncclRmaPlugin_v17);
