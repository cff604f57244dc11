/* A plugin that does nothing, and at once: what is measured with it is the harness. */
#include <string.h>

#include "bench.h"

static int harness_init(void **ctx, uint64_t comm_id, struct nccl_net_config *config, nccl_logger log,
                        nccl_profiler_callback profiler) {
  (void)comm_id, (void)config, (void)log, (void)profiler;
  *ctx = (void *)1;
  return NCCL_SUCCESS;
}

static int harness_finalize(void *ctx) {
  (void)ctx;
  return NCCL_SUCCESS;
}

static int harness_devices(int *count) {
  *count = 1;
  return NCCL_SUCCESS;
}

static int harness_listen(void *ctx, int dev, void *handle, void **comm) {
  (void)ctx, (void)dev, (void)handle;
  *comm = (void *)1;
  return NCCL_SUCCESS;
}

static int harness_connect(void *ctx, int dev, void *handle, void **comm, struct nccl_net_device_handle **offload) {
  (void)ctx, (void)dev, (void)handle, (void)offload;
  *comm = (void *)1;
  return NCCL_SUCCESS;
}

static int harness_accept(void *listen_comm, void **comm, struct nccl_net_device_handle **offload) {
  (void)listen_comm, (void)offload;
  *comm = (void *)2;
  return NCCL_SUCCESS;
}

static int harness_reg(void *comm, void *data, size_t size, int type, void **mhandle) {
  (void)comm, (void)data, (void)size, (void)type;
  *mhandle = (void *)1;
  return NCCL_SUCCESS;
}

static int harness_dereg(void *comm, void *mhandle) {
  (void)comm, (void)mhandle;
  return NCCL_SUCCESS;
}

/* Messages are matched in the order of the calls, whatever the comm; a receive's request is its number, and odd. */
static struct {
  intptr_t posted;
  intptr_t sent;
  size_t size;
  void *to;
} harness_state;

#define SEND_REQUEST ((void *)2)

static int harness_isend(void *comm, void *data, size_t size, int tag, void *mhandle, void *event, void **request) {
  (void)comm, (void)tag, (void)mhandle, (void)event;
  *request = NULL;
  if (harness_state.sent < harness_state.posted) {
    harness_state.sent++;
    memcpy(harness_state.to, data, size);
    *request = SEND_REQUEST;
  }
  return NCCL_SUCCESS;
}

static int harness_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **events,
                         void **request) {
  (void)comm, (void)n, (void)tags, (void)mhandles, (void)events;
  harness_state.to = data[0];
  harness_state.size = sizes[0];
  *request = (void *)(++harness_state.posted << 1 | 1);
  return NCCL_SUCCESS;
}

static int harness_test(void *request, int *done, int *sizes) {
  *done = request == SEND_REQUEST || (intptr_t)request >> 1 <= harness_state.sent;
  if (sizes != NULL) {
    sizes[0] = (int)harness_state.size;
  }
  return NCCL_SUCCESS;
}

static int harness_iflush(void *comm, int n, void **data, int *sizes, void **mhandles, void **request) {
  (void)comm, (void)n, (void)data, (void)sizes, (void)mhandles;
  *request = NULL;
  return NCCL_SUCCESS;
}

static int harness_close(void *comm) {
  (void)comm;
  return NCCL_SUCCESS;
}

static const struct nccl_net_v12 harness = {
    .name = "harness",
    .init = harness_init,
    .devices = harness_devices,
    .listen = harness_listen,
    .connect = harness_connect,
    .accept = harness_accept,
    .regMr = harness_reg,
    .deregMr = harness_dereg,
    .isend = harness_isend,
    .irecv = harness_irecv,
    .iflush = harness_iflush,
    .test = harness_test,
    .closeSend = harness_close,
    .closeRecv = harness_close,
    .closeListen = harness_close,
    .finalize = harness_finalize,
};

bool is_harness(const char *path) {
  return strcmp(path, "harness") == 0;
}

const struct nccl_net_v12 *harness_plugin(void) {
  return &harness;
}
