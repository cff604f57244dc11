/*
 * The binary interface of NCCL's plugins for one-sided communication: GIN v11 (NCCL 2.28.7 to 2.30.4) and RMA
 * v14 to v17 (2.30.7 on), x86-64 and arm64 Linux.
 *
 * Written from the interface's documented layout; the assertions at the end state it in numbers. A version's struct is
 * a data object named ncclGinPlugin_v11 or ncclRmaPlugin_vN in the plugin.
 */
#ifndef TRIGON_NCCL_ONE_SIDED_ABI_H
#define TRIGON_NCCL_ONE_SIDED_ABI_H

#include <stdbool.h>

#include "nccl_net_abi.h"

/* In netDeviceType: a thread of NCCL's makes the plugin's calls for the GPU. */
enum { NCCL_NET_DEVICE_GIN_PROXY = 2 };

/* Of memory: operations on it keep their order; the GPU never writes its words. */
enum { NCCL_ONE_SIDED_FLAG_STRICT = 1, NCCL_ONE_SIDED_FLAG_NEVER_RESET = 2 };

enum { NCCL_ONE_SIDED_INCREMENT = 1, NCCL_ONE_SIDED_ADD = 2 };

/* Of an operation, since RMA v15: it may go together with others. It does not change their order. */
enum { NCCL_RMA_MAY_AGGREGATE = 1 };

/* v14 to v16. 2.30.7 has one more field behind, which other releases do not have. */
struct nccl_rma_config_v14 {
  int nContexts;
  int trafficClass;
};

struct nccl_rma_config_v17 {
  int nContexts;
  int trafficClass;
  int *peerArray; /* the ranks that the contexts are used with */
  int peerArrayCount;
};

struct nccl_rma_properties_v16 { /* v16, v17 */
  bool flushesAllPutsOnAnySignal; /* any signal, from any rank: after it, all puts that have arrived are visible */
};

/* Since v15. */
typedef int (*nccl_rma_put)(void *rmaCtx, int context, uint64_t srcOff, void *srcMhandle, size_t size, uint64_t dstOff,
                            void *dstMhandle, uint32_t rank, uint32_t optFlags, void **request);
typedef int (*nccl_rma_put_signal)(void *rmaCtx, int context, uint64_t srcOff, void *srcMhandle, size_t size,
                                   uint64_t dstOff, void *dstMhandle, uint32_t rank, uint64_t signalOff,
                                   void *signalMhandle, uint64_t value, uint32_t op, bool isStrong, uint32_t optFlags,
                                   void **request);
typedef int (*nccl_rma_get)(void *rmaCtx, int context, uint64_t remoteOff, void *remoteMhandle, size_t size,
                            uint64_t localOff, void *localMhandle, uint32_t rank, uint32_t optFlags, void **request);

struct nccl_gin_v11 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, nccl_logger log);
  int (*devices)(int *count);
  int (*getProperties)(int dev, struct nccl_net_properties_v11 *properties);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, void *handles[], int ranks, int rank, void *listenComm, void **collComm);
  int (*createContext)(void *collComm, int nSignals, int nCounters, void **ginCtx,
                       struct nccl_net_device_handle **devHandle);
  int (*regMrSym)(void *collComm, void *data, size_t size, int type, uint64_t flags, void **mhandle,
                  void **ginHandle);
  int (*regMrSymDmaBuf)(void *collComm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                        void **mhandle, void **ginHandle);
  int (*deregMrSym)(void *collComm, void *mhandle);
  int (*destroyContext)(void *ginCtx);
  int (*closeColl)(void *collComm);
  int (*closeListen)(void *listenComm);
  int (*iput)(void *collComm, uint64_t srcOff, void *srcMhandle, size_t size, uint64_t dstOff, void *dstMhandle,
              uint32_t rank, void **request);
  int (*iputSignal)(void *collComm, uint64_t srcOff, void *srcMhandle, size_t size, uint64_t dstOff, void *dstMhandle,
                    uint32_t rank, uint64_t signalOff, void *signalMhandle, uint64_t value, uint32_t op,
                    void **request);
  int (*test)(void *collComm, void *request, int *done);
  int (*ginProgress)(void *collComm);
  int (*queryLastError)(void *ginCtx, bool *hasError);
  int (*finalize)(void *ctx);
};

struct nccl_rma_v14 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, nccl_logger log);
  int (*devices)(int *count);
  int (*getProperties)(int dev, struct nccl_net_properties_v12 *properties);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, void *handles[], int ranks, int rank, void *listenComm, void **collComm);
  int (*createContext)(void *collComm, struct nccl_rma_config_v14 *config, void **rmaCtx);
  int (*regMrSym)(void *collComm, void *data, size_t size, int type, uint64_t flags, void **mhandle);
  int (*regMrSymDmaBuf)(void *collComm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                        void **mhandle);
  int (*deregMrSym)(void *collComm, void *mhandle);
  int (*destroyContext)(void *rmaCtx);
  int (*closeColl)(void *collComm);
  int (*closeListen)(void *listenComm);
  int (*iput)(void *rmaCtx, int context, uint64_t srcOff, void *srcMhandle, size_t size, uint64_t dstOff,
              void *dstMhandle, uint32_t rank, void **request);
  int (*iputSignal)(void *rmaCtx, int context, uint64_t srcOff, void *srcMhandle, size_t size, uint64_t dstOff,
                    void *dstMhandle, uint32_t rank, uint64_t signalOff, void *signalMhandle, uint64_t value,
                    uint32_t op, bool isStrong, void **request);
  int (*iget)(void *rmaCtx, int context, uint64_t remoteOff, void *remoteMhandle, size_t size, uint64_t localOff,
              void *localMhandle, uint32_t rank, void **request);
  int (*iflush)(void *rmaCtx, int context, void *mhandle, uint32_t rank, void **request);
  int (*test)(void *collComm, void *request, int *done);
  int (*rmaProgress)(void *rmaCtx);
  int (*queryLastError)(void *rmaCtx, bool *hasError);
  int (*finalize)(void *ctx);
};

struct nccl_rma_v15 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, nccl_logger log);
  int (*devices)(int *count);
  int (*getProperties)(int dev, struct nccl_net_properties_v12 *properties);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, void *handles[], int ranks, int rank, void *listenComm, void **collComm);
  int (*createContext)(void *collComm, struct nccl_rma_config_v14 *config, void **rmaCtx);
  int (*regMrSym)(void *collComm, void *data, size_t size, int type, uint64_t flags, void **mhandle);
  int (*regMrSymDmaBuf)(void *collComm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                        void **mhandle);
  int (*deregMrSym)(void *collComm, void *mhandle);
  int (*destroyContext)(void *rmaCtx);
  int (*closeColl)(void *collComm);
  int (*closeListen)(void *listenComm);
  nccl_rma_put iput;
  nccl_rma_put_signal iputSignal;
  nccl_rma_get iget;
  int (*iflush)(void *rmaCtx, int context, void *mhandle, uint32_t rank, void **request);
  int (*test)(void *collComm, void *request, int *done);
  int (*rmaProgress)(void *rmaCtx);
  int (*queryLastError)(void *rmaCtx, bool *hasError);
  int (*finalize)(void *ctx);
};

struct nccl_rma_v16 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, nccl_logger log);
  int (*devices)(int *count);
  int (*getRmaProperties)(void *collComm, struct nccl_rma_properties_v16 *properties);
  int (*getProperties)(int dev, struct nccl_net_properties_v12 *properties);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  int (*connect)(void *ctx, void *handles[], int ranks, int rank, void *listenComm, void **collComm);
  int (*createContext)(void *collComm, struct nccl_rma_config_v14 *config, void **rmaCtx);
  int (*regMrSym)(void *collComm, void *data, size_t size, int type, uint64_t flags, void **mhandle);
  int (*regMrSymDmaBuf)(void *collComm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                        void **mhandle);
  int (*deregMrSym)(void *collComm, void *mhandle);
  int (*destroyContext)(void *rmaCtx);
  int (*closeColl)(void *collComm);
  int (*closeListen)(void *listenComm);
  nccl_rma_put iput;
  nccl_rma_put_signal iputSignal;
  nccl_rma_get iget;
  int (*iflush)(void *rmaCtx, int context, void *mhandle, uint32_t rank, void **request);
  int (*test)(void *collComm, void *request, int *done);
  int (*rmaProgress)(void *rmaCtx);
  int (*queryLastError)(void *rmaCtx, bool *hasError);
  int (*finalize)(void *ctx);
};

struct nccl_rma_v17 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, nccl_logger log);
  int (*devices)(int *count);
  int (*getRmaProperties)(void *collComm, struct nccl_rma_properties_v16 *properties);
  int (*getProperties)(int dev, struct nccl_net_properties_v12 *properties);
  int (*listen)(void *ctx, int dev, void *handle, void **listenComm);
  /* some of NCCL's commits have one more parameter at the end: volatile uint32_t *abortFlag */
  int (*connect)(void *ctx, void *handles[], int ranks, int rank, void *listenComm, void **collComm);
  int (*createContext)(void *collComm, struct nccl_rma_config_v17 *config, void **rmaCtx);
  int (*regMrSym)(void *collComm, void *data, size_t size, int type, uint64_t flags, void **mhandle);
  int (*regMrSymDmaBuf)(void *collComm, void *data, size_t size, int type, uint64_t offset, int fd, uint64_t flags,
                        void **mhandle);
  int (*deregMrSym)(void *collComm, void *mhandle);
  int (*destroyContext)(void *rmaCtx);
  int (*closeColl)(void *collComm);
  int (*closeListen)(void *listenComm);
  nccl_rma_put iput;
  nccl_rma_put_signal iputSignal;
  nccl_rma_get iget;
  int (*iflush)(void *rmaCtx, int context, void *mhandle, uint32_t rank, void **request);
  int (*test)(void *collComm, void *request, int *done);
  int (*rmaProgress)(void *rmaCtx);
  int (*queryLastError)(void *rmaCtx, bool *hasError);
  int (*finalize)(void *ctx);
};

#include "nccl_one_sided_abi_check.h"

#endif
