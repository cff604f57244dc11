/*
 * The binary interface of NCCL's profiler plugins, versions 1 to 7 (NCCL 2.23 to 2.32), x86-64 and arm64 Linux.
 *
 * Written from the interface's documented layout; the assertions at the end state it in numbers. A version's struct is
 * a data object named ncclProfiler_vN in the plugin, with no "Plugin" in the name.
 */
#ifndef TRIGON_NCCL_PROFILER_ABI_H
#define TRIGON_NCCL_PROFILER_ABI_H

#include <stdbool.h>
#include <sys/types.h>

#include "nccl_net_abi.h"

/* Types of events: in a mask the bit of that number. */
enum nccl_profiler_type {
  NCCL_PROFILE_GROUP = 0,
  NCCL_PROFILE_COLL = 1,
  NCCL_PROFILE_P2P = 2,
  NCCL_PROFILE_PROXY_OP = 3,
  NCCL_PROFILE_PROXY_STEP = 4,
  NCCL_PROFILE_PROXY_CTRL = 5,
  NCCL_PROFILE_KERNEL_CH = 6,    /* v3 */
  NCCL_PROFILE_NET_PLUGIN = 7,   /* v3 */
  NCCL_PROFILE_GROUP_API = 8,    /* v5 */
  NCCL_PROFILE_COLL_API = 9,     /* v5 */
  NCCL_PROFILE_P2P_API = 10,     /* v5 */
  NCCL_PROFILE_KERNEL_LAUNCH = 11, /* v5 */
  NCCL_PROFILE_CE_COLL = 12,     /* v6 */
  NCCL_PROFILE_CE_SYNC = 13,     /* v6 */
  NCCL_PROFILE_CE_BATCH = 14,    /* v6 */
  NCCL_PROFILE_KERNEL_PHASE = 15, /* v7 */
};

enum nccl_profiler_state {
  NCCL_STEP_SEND_GPU_WAIT = 8,
  NCCL_STEP_SEND_WAIT = 9, /* isend has taken the message */
  NCCL_STEP_RECV_WAIT = 10, /* irecv has taken the receive */
  NCCL_STEP_RECV_FLUSH_WAIT = 11,
  NCCL_STEP_RECV_GPU_WAIT = 12,
  NCCL_OP_IN_PROGRESS = 19,      /* v4 */
  NCCL_STEP_SEND_PEER_WAIT = 20, /* v4: the data are there, isend is next; at each try */
  NCCL_NET_PLUGIN_UPDATE = 21,   /* v4 */
  NCCL_KERNEL_STOP = 22,         /* v4 */
};

/* What a net plugin says by its nccl_profiler_callback. */
enum nccl_profiler_net_call {
  NCCL_NET_EVENT_START,
  NCCL_NET_EVENT_STOP,
  NCCL_NET_EVENT_UPDATE,
  NCCL_NET_EVENT_UPDATE_STOP,
};

struct nccl_profiler_proxy_op {
  pid_t pid;
  uint8_t channelId;
  int peer;
  int nSteps;
  int chunkSize;
  int isSend;
};

struct nccl_profiler_proxy_step {
  int step;
};

struct nccl_profiler_kernel_ch {
  uint8_t channelId;
  uint64_t pTimer; /* v4 */
};

struct nccl_profiler_net_plugin {
  int64_t id;
  void *data;
};

struct nccl_profiler_group_api {
  bool graphCaptured;
  int groupDepth;
};

struct nccl_profiler_event_v1 {
  uint8_t type;
  void *parentObj;
  int rank;
  union {
    struct {
      const char *name;
      uint64_t commHash;
      uint64_t seqNumber;
      uint8_t func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      uint8_t datatype;
      uint32_t op;
      size_t trafficBytes;
      uint8_t nMaxChannels;
      uint8_t nWarps;
      uint8_t algo;
      uint8_t proto;
      int isCollnet;
      int isNvls;
    } coll;
    struct {
      const char *name;
      uint64_t commHash;
      uint8_t func;
      void *buff;
      uint8_t datatype;
      size_t count;
      int peer;
    } p2p;
    struct nccl_profiler_proxy_op proxyOp;
    struct nccl_profiler_proxy_step proxyStep;
  };
};

struct nccl_profiler_p2p_v2 {
  const char *name;
  uint64_t commHash;
  const char *func;
  void *buff;
  const char *datatype;
  size_t count;
  int peer;
};

struct nccl_profiler_event_v2 {
  uint8_t type;
  void *parentObj;
  int rank;
  union {
    struct {
      const char *name;
      uint64_t commHash;
      uint64_t seqNumber;
      const char *func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      size_t trafficBytes;
      uint8_t nMaxChannels;
      uint8_t nWarps;
      const char *algo;
      const char *proto;
    } coll;
    struct nccl_profiler_p2p_v2 p2p;
    struct nccl_profiler_proxy_op proxyOp;
    struct nccl_profiler_proxy_step proxyStep;
  };
};

struct nccl_profiler_event_v3 {
  uint8_t type;
  void *parentObj;
  int rank;
  union {
    struct {
      const char *name;
      uint64_t commHash;
      uint64_t seqNumber;
      const char *func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      uint8_t nMaxChannels;
      uint8_t nWarps;
      const char *algo;
      const char *proto;
    } coll;
    struct nccl_profiler_p2p_v2 p2p;
    struct nccl_profiler_proxy_op proxyOp;
    struct nccl_profiler_proxy_step proxyStep;
    struct nccl_profiler_kernel_ch kernelCh; /* its channel only */
    struct nccl_profiler_net_plugin netPlugin;
  };
};

struct nccl_profiler_event_v4 {
  uint8_t type;
  void *parentObj;
  int rank;
  union {
    struct {
      uint64_t seqNumber;
      const char *func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      uint8_t nChannels;
      uint8_t nWarps;
      const char *algo;
      const char *proto;
    } coll;
    struct {
      const char *func;
      void *buff;
      const char *datatype;
      size_t count;
      int peer;
      uint8_t nChannels;
    } p2p;
    struct nccl_profiler_proxy_op proxyOp;
    struct nccl_profiler_proxy_step proxyStep;
    struct nccl_profiler_kernel_ch kernelCh;
    struct nccl_profiler_net_plugin netPlugin;
  };
};

/*
 * v5, v6 and v7: later ones add members to the union and fields behind others. A union that lacks members is shorter,
 * so no field may be read that the version in use does not have.
 */
struct nccl_profiler_event_v7 {
  uint64_t type;
  void *parentObj;
  int rank;
  union {
    struct nccl_profiler_group_api groupApi;
    struct {
      const char *func;
      size_t count;
      const char *datatype;
      int root;
      void *stream;
      bool graphCaptured;
      uint64_t userTag; /* v7 */
    } collApi;
    struct {
      const char *func;
      size_t count;
      const char *datatype;
      void *stream;
      bool graphCaptured;
      uint64_t userTag; /* v7 */
    } p2pApi;
    struct {
      void *stream;
    } kernelLaunch;
    struct {
      uint64_t seqNumber;
      const char *func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      uint8_t nChannels;
      uint8_t nWarps;
      const char *algo;
      const char *proto;
      void *parentGroup;
      const char *kernelVariant; /* v7 */
      bool isSymColl;            /* v7 */
      uint64_t userTag;          /* v7 */
    } coll;
    struct {
      const char *func;
      void *buff;
      const char *datatype;
      size_t count;
      int peer;
      uint8_t nChannels;
      void *parentGroup;
      uint64_t userTag; /* v7 */
    } p2p;
    struct nccl_profiler_proxy_op proxyOp;
    struct nccl_profiler_proxy_step proxyStep;
    struct nccl_profiler_kernel_ch kernelCh;
    struct nccl_profiler_net_plugin netPlugin;
    struct { /* v6 */
      uint64_t seqNumber;
      const char *func;
      const void *sendBuff;
      void *recvBuff;
      size_t count;
      int root;
      const char *datatype;
      const char *syncStrategy;
      bool intraBatchSync;
      uint32_t batchSize;
      uint32_t numBatches;
      uint32_t ceSeqNum;
      void *stream;
      uint64_t userTag; /* v7 */
    } ceColl;
    struct { /* v6 */
      bool isComplete;
      int nRanks;
    } ceCollSync;
    struct { /* v6 */
      int numOps;
      size_t totalBytes;
      bool useIntraSync;
    } ceCollBatch;
    struct { /* v7 */
      uint8_t channelId;
      uint8_t phaseId;
      const char *phaseName;
      uint64_t pTimer;
    } kernelPhase;
  };
};

/* What recordEventState may come with; NULL, for some states. */
union nccl_profiler_state_args_v1 { /* v1 to v3 */
  struct {
    size_t transSize;
    int steps;
  } proxyOp;
  struct {
    int appendedProxyOps;
  } proxyCtrl;
};

union nccl_profiler_state_args_v4 { /* v4 to v7 */
  struct {
    size_t transSize;
  } proxyStep;
  struct {
    int appendedProxyOps;
  } proxyCtrl;
  struct {
    void *data;
  } netPlugin;
  struct {
    uint64_t pTimer;
  } kernelCh;
};

/* In all versions; what event and args point to, and the arguments of init, depend on it. */
#define NCCL_PROFILER_TABLE(type, init_arguments)                                                                      \
  struct type {                                                                                                        \
    const char *name;                                                                                                  \
    int(*init) init_arguments;                                                                                         \
    int (*startEvent)(void *ctx, void **handle, void *event);                                                          \
    int (*stopEvent)(void *handle);                                                                                    \
    int (*recordEventState)(void *handle, int state, void *args);                                                      \
    int (*finalize)(void *ctx);                                                                                        \
  }

/* v1 to v3 */
NCCL_PROFILER_TABLE(nccl_profiler_v1, (void **ctx, int *mask));
NCCL_PROFILER_TABLE(nccl_profiler_v4, (void **ctx, int *mask, const char *name, uint64_t comm_hash, int nodes,
                                       int ranks, int rank, nccl_logger log));
/* v5 to v7 */
NCCL_PROFILER_TABLE(nccl_profiler_v5, (void **ctx, uint64_t comm_id, int *mask, const char *name, int nodes, int ranks,
                                       int rank, nccl_logger log));

#include "nccl_profiler_abi_check.h"

#endif
