/*
 * A network plugin, whichever API version it is used through. The functions return an ncclResult_t and have the
 * meaning that NCCL gives them; what a version lacks is done as NCCL's core does it.
 */
#ifndef HOST_NET_H
#define HOST_NET_H

#include <stdbool.h>

#include "nccl_net_abi.h"

struct net {
  int api;
  void *library;
  bool initialised;   /* up to v10: init is for the process */
  bool devices_known; /* NCCL counts the devices once */
  bool topology_known;
  bool asks_for_gpu_memory; /* RCCL looks once for a device that reaches a GPU's memory */
  int device_count;
  void *context; /* what connect and accept get last, in the place of a handle; or NULL */
  union {
    const void *table;
    const struct nccl_net_v8 *v8;
    const struct nccl_net_v9 *v9;
    const struct nccl_net_v10 *v10;
    const struct nccl_net_v11 *v11;
    const struct nccl_net_v12 *v12;
  };
};

/* The properties that all versions have, and those of later versions or what stands for them. */
struct net_properties {
  const char *name;
  const char *pci_path;
  uint64_t guid;
  int pointer_support;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_receives;
  int device_type;
  int virtual_devices;
  int first_virtual_device;
  size_t max_p2p_bytes;
  size_t max_collective_bytes;
  int max_multi_request;
  int rail;
  int plane;
};

/* dlopen and dlsym as NCCL does. False: it has said why. */
bool net_open(struct net *net, const char *path, int api);
/* The same in a library that is open. */
bool net_find(struct net *net, void *library, const char *path, int api);
void net_close(struct net *net);
const char *net_name(const struct net *net);

/* The logger that this program gives to plugins: stderr, with the rank of the calling thread. */
/* Each line of the log, too; set before the plugin is loaded. */
extern void (*log_listener)(const char *text);

void log_to_stderr(int level, unsigned long subsystems, const char *where, int line, const char *format, ...);

/* A line of text for it. */
void show_line(int level, const char *text);

/* The logger that plugins get: that of this program, unless another library stands for NCCL's. */
extern nccl_logger host_logger;

/* Where the profiler's event is that the next isend or irecv of this thread belongs to; NULL: there is none. */
extern _Thread_local void *net_event_parent;

/* The rank that log lines of this thread carry. */
extern _Thread_local int thread_rank;

/*
 * All that NCCL asks when a communicator is made, in its order: which differs by version, and between the first
 * communicator of a process and later ones. Returns the first result that is not success.
 */
int net_begin(struct net *net, void **ctx, uint64_t comm_id, int *devices);

/* v11 and later: a context per communicator. Before: once for a loaded plugin. */
int net_init(struct net *net, void **ctx, uint64_t comm_id);
int net_finalize(struct net *net, void *ctx);
int net_devices(const struct net *net, int *count);

/*
 * "none" or "some": which of the slots that may be NULL the plugin fills. NCCL would use them, this program does not;
 * but for regMrDmaBuf, which both use only with memory of GPUs.
 */
const char *net_optional_slots(const struct net *net);

/* Fills the struct with `poison` before the call. */
int net_raw_properties(const struct net *net, int dev, unsigned char poison, unsigned char raw[128], size_t *bytes);
int net_get_properties(const struct net *net, int dev, struct net_properties *properties);

int net_listen(const struct net *net, void *ctx, int dev, void *handle, void **comm);
int net_connect(const struct net *net, void *ctx, int dev, void *handle, void **comm);
int net_accept(const struct net *net, void *listen_comm, void **comm);
int net_close_send(const struct net *net, void *comm);
int net_close_recv(const struct net *net, void *comm);
int net_close_listen(const struct net *net, void *comm);

int net_reg_mr(const struct net *net, void *comm, void *data, size_t size, int type, void **mhandle);
int net_reg_mr_dma_buf(const struct net *net, void *comm, void *data, size_t size, int type, uint64_t offset, int fd,
                       void **mhandle);
int net_dereg_mr(const struct net *net, void *comm, void *mhandle);

int net_isend(const struct net *net, void *comm, void *data, size_t size, int tag, void *mhandle, void **request);
int net_irecv(const struct net *net, void *comm, int n, void **data, size_t *sizes, int *tags, void **mhandles,
              void **request);
int net_iflush(const struct net *net, void *comm, int n, void **data, int *sizes, void **mhandles, void **request);
int net_test(const struct net *net, void *request, int *done, int *sizes);

#endif
