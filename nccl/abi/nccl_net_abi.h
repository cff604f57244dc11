/*
 * The binary interface of NCCL's network plugins, versions 8 to 12, x86-64 and arm64 Linux.
 *
 * Written from the interface's documented layout; the assertions at the end state it in numbers. Results, enums and
 * flags are plain ints here. All functions return an enum nccl_result. A version's struct is a data object named
 * ncclNetPlugin_vN in the plugin.
 */
#ifndef TRIGON_NCCL_NET_ABI_H
#define TRIGON_NCCL_NET_ABI_H

#include <stddef.h>
#include <stdint.h>

enum nccl_result {
  NCCL_SUCCESS = 0,
  NCCL_UNHANDLED_CUDA_ERROR = 1,
  NCCL_SYSTEM_ERROR = 2,
  NCCL_INTERNAL_ERROR = 3,
  NCCL_INVALID_ARGUMENT = 4,
  NCCL_INVALID_USAGE = 5,
  NCCL_REMOTE_ERROR = 6,
  NCCL_IN_PROGRESS = 7,
};

enum nccl_log_level { NCCL_LOG_WARN = 2, NCCL_LOG_INFO = 3, NCCL_LOG_TRACE = 5 };

enum { NCCL_LOG_INIT = 0x1, NCCL_LOG_NET = 0x10 };
#define NCCL_LOG_ALL (~0UL)

enum {
  NCCL_PTR_HOST = 1,
  NCCL_PTR_CUDA = 2,
  NCCL_PTR_DMABUF = 4,
  NCCL_NET_HANDLE_BYTES = 128,
  NCCL_NET_MAX_REQUESTS = 32,
  NCCL_NET_DEVICE_HOST = 0,
};

/* The value of *request on entry of irecv that says: NCCL watches the data and needs no completion. */
#define NCCL_NET_OPTIONAL_COMPLETION ((void *)1)

/* printf-like from the fifth argument on; `where` is a file or a function. */
typedef void (*nccl_logger)(int level, unsigned long subsystems, const char *where, int line, const char *format, ...);
typedef int (*nccl_profiler_callback)(void **event, int type, void *parent, int64_t plugin_id, void *extension);

struct nccl_net_config { /* v10 to v12 */
  int trafficClass;      /* -1: the application set none */
};

struct nccl_net_device_handle {
  int netDeviceType;
  int netDeviceVersion;
  void *handle;
  size_t size;
  int needsProxyProgress;
};

struct nccl_net_virtual_v9 { /* v9 to v11 */
  int ndevs;
  int devs[4];
};

struct nccl_net_virtual_v12 {
  int ndevs;
  int devs[8];
};

struct nccl_net_peers { /* -1: unknown */
  int32_t maxConcurrentPeers;
  int32_t minConcurrentPeers;
  int32_t maxFlowsPerPeer;
  int32_t minFlowsPerPeer;
};

struct nccl_net_attributes { /* v11, v12 */
  struct nccl_net_peers sendCommAttr;
  struct nccl_net_peers recvCommAttr;
  uint32_t op;
  uint32_t algo;
  uint32_t proto;
};

struct nccl_net_properties_v8 {
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
};

struct nccl_net_properties_v9 { /* v9, v10 */
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
  struct nccl_net_virtual_v9 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
};

struct nccl_net_properties_v11 {
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
  struct nccl_net_virtual_v9 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize;
};

struct nccl_net_properties_v12 {
  char *name;
  char *pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
  struct nccl_net_virtual_v12 vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize;
  int16_t railId;
  int16_t planeId;
};

/* The slots whose signatures are the same in all versions. */
#define NCCL_NET_MEMORY_SLOTS                                                                                        \
  int (*accept)(void *listenComm, void **recvComm, struct nccl_net_device_handle **recvDevComm);                     \
  int (*regMr)(void *comm, void *data, size_t size, int type, void **mhandle);                                       \
  int (*regMrDmaBuf)(void *comm, void *data, size_t size, int type, uint64_t offset, int fd, void **mhandle);        \
  int (*deregMr)(void *comm, void *mhandle);

#define NCCL_NET_COMPLETION_SLOTS                                                                                    \
  int (*iflush)(void *recvComm, int n, void **data, int *sizes, void **mhandles, void **request);                    \
  int (*test)(void *request, int *done, int *sizes);                                                                 \
  int (*closeSend)(void *sendComm);                                                                                  \
  int (*closeRecv)(void *recvComm);                                                                                  \
  int (*closeListen)(void *listenComm);                                                                              \
  int (*getDeviceMr)(void *comm, void *mhandle, void **dptr_mhandle);                                                \
  int (*irecvConsumed)(void *recvComm, int n, void *request);

/* isend and irecv from v10 on */
#define NCCL_NET_TRANSFER_SLOTS                                                                                      \
  int (*isend)(void *sendComm, void *data, size_t size, int tag, void *mhandle, void *phandle, void **request);      \
  int (*irecv)(void *recvComm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **phandles,       \
               void **request);

struct nccl_net_v8 {
  const char *name;
  int (*init)(nccl_logger log);
  int (*devices)(int *ndev);
  int (*getProperties)(int dev, struct nccl_net_properties_v8 *props);
  int (*listen)(int dev, void *handle, void **listenComm);
  int (*connect)(int dev, void *handle, void **sendComm, struct nccl_net_device_handle **sendDevComm);
  NCCL_NET_MEMORY_SLOTS
  int (*isend)(void *sendComm, void *data, int size, int tag, void *mhandle, void **request);
  int (*irecv)(void *recvComm, int n, void **data, int *sizes, int *tags, void **mhandles, void **request);
  NCCL_NET_COMPLETION_SLOTS
};

struct nccl_net_v9 {
  const char *name;
  int (*init)(nccl_logger log);
  int (*devices)(int *ndev);
  int (*getProperties)(int dev, struct nccl_net_properties_v9 *props);
  int (*listen)(int dev, void *handle, void **listenComm);
  int (*connect)(int dev, void *handle, void **sendComm, struct nccl_net_device_handle **sendDevComm);
  NCCL_NET_MEMORY_SLOTS
  int (*isend)(void *sendComm, void *data, size_t size, int tag, void *mhandle, void **request);
  int (*irecv)(void *recvComm, int n, void **data, size_t *sizes, int *tags, void **mhandles, void **request);
  NCCL_NET_COMPLETION_SLOTS
  int (*makeVDevice)(int *d, struct nccl_net_virtual_v9 *props);
};

struct nccl_net_v10 {
  const char *name;
  int (*init)(nccl_logger log, nccl_profiler_callback profiler);
  int (*devices)(int *ndev);
  int (*getProperties)(int dev, struct nccl_net_properties_v9 *props);
  int (*listen)(int dev, void *handle, void **listenComm);
  int (*connect)(int dev, struct nccl_net_config *config, void *handle, void **sendComm,
                 struct nccl_net_device_handle **sendDevComm);
  NCCL_NET_MEMORY_SLOTS
  NCCL_NET_TRANSFER_SLOTS
  NCCL_NET_COMPLETION_SLOTS
  int (*makeVDevice)(int *d, struct nccl_net_virtual_v9 *props);
};

struct nccl_net_v11 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, struct nccl_net_config *config, nccl_logger log,
              nccl_profiler_callback profiler);
  int (*devices)(int *ndev);
  int (*getProperties)(int dev, struct nccl_net_properties_v11 *props);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, int dev, void *handle, void **sendComm, struct nccl_net_device_handle **sendDevComm);
  NCCL_NET_MEMORY_SLOTS
  NCCL_NET_TRANSFER_SLOTS
  NCCL_NET_COMPLETION_SLOTS
  int (*makeVDevice)(int *d, struct nccl_net_virtual_v9 *props);
  int (*finalize)(void *ctx);
  int (*setNetAttr)(void *ctx, struct nccl_net_attributes *attributes);
};

struct nccl_net_v12 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, struct nccl_net_config *config, nccl_logger log,
              nccl_profiler_callback profiler);
  int (*devices)(int *ndev);
  int (*getProperties)(int dev, struct nccl_net_properties_v12 *props);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, int dev, void *handle, void **sendComm, struct nccl_net_device_handle **sendDevComm);
  NCCL_NET_MEMORY_SLOTS
  NCCL_NET_TRANSFER_SLOTS
  NCCL_NET_COMPLETION_SLOTS
  int (*makeVDevice)(int *d, struct nccl_net_virtual_v12 *props);
  int (*finalize)(void *ctx);
  int (*setNetAttr)(void *ctx, struct nccl_net_attributes *attributes);
};

#include "nccl_net_abi_check.h"

#endif
