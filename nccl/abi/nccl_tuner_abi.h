/*
 * The binary interface of NCCL's tuner plugins, versions 2 to 7 (NCCL 2.21 to 2.32), x86-64 and arm64 Linux.
 *
 * Written from the interface's documented layout; the assertions at the end state it in numbers. A version's struct is
 * a data object named ncclTunerPlugin_vN in the plugin. Collectives, algorithms and protocols are plain ints here.
 */
#ifndef TRIGON_NCCL_TUNER_ABI_H
#define TRIGON_NCCL_TUNER_ABI_H

#include "nccl_net_abi.h"

enum {
  NCCL_TUNER_ALGORITHMS = 7, /* 6 before NCCL 2.23: a table's rows are as many as the call says */
  NCCL_TUNER_PROTOCOLS = 3,
  NCCL_TUNER_LINKS = 3,
  NCCL_TUNER_CAPABILITIES = 4,
  NCCL_TUNER_CAPABILITIES_V7 = 5,
  NCCL_TUNER_SCALES = 3,
};

enum { NCCL_TUNER_TREE = 0, NCCL_TUNER_RING = 1 };
enum { NCCL_TUNER_LL = 0, NCCL_TUNER_LL128 = 1, NCCL_TUNER_SIMPLE = 2 };
enum { NCCL_TUNER_BROADCAST = 0, NCCL_TUNER_REDUCE = 1, NCCL_TUNER_ALL_REDUCE = 4 };

/* In a cost table: NCCL cannot use this. */
#define NCCL_TUNER_IGNORE (-1.0F)

struct nccl_tuner_domains { /* since v5 */
  int nNvlDomains;
  int minRanksPerNvlDomain;
  int maxRanksPerNvlDomain;
};

struct nccl_tuner_constants { /* v5, v6 */
  double baseLatencies[NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];
  double hwLatencies[NCCL_TUNER_LINKS][NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];
  double llMaxBws[NCCL_TUNER_CAPABILITIES][NCCL_TUNER_SCALES];
  double perChMaxRingLL128Bws[NCCL_TUNER_CAPABILITIES][NCCL_TUNER_SCALES];
  double perChMaxTreeLL128Bws[NCCL_TUNER_CAPABILITIES][NCCL_TUNER_SCALES];
  double perChMaxTreeBws[NCCL_TUNER_CAPABILITIES][NCCL_TUNER_SCALES];
  double perChMaxNVLSTreeBws[NCCL_TUNER_CAPABILITIES][NCCL_TUNER_SCALES];
};

struct nccl_tuner_constants_v7 {
  double baseLatencies[NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];
  double hwLatencies[NCCL_TUNER_LINKS][NCCL_TUNER_ALGORITHMS][NCCL_TUNER_PROTOCOLS];
  double llMaxBws[NCCL_TUNER_CAPABILITIES_V7][NCCL_TUNER_SCALES];
  double perChMaxRingLL128Bws[NCCL_TUNER_CAPABILITIES_V7][NCCL_TUNER_SCALES];
  double perChMaxTreeLL128Bws[NCCL_TUNER_CAPABILITIES_V7][NCCL_TUNER_SCALES];
  double perChMaxTreeBws[NCCL_TUNER_CAPABILITIES_V7][NCCL_TUNER_SCALES];
  double perChMaxNVLSTreeBws[NCCL_TUNER_CAPABILITIES_V7][NCCL_TUNER_SCALES];
};

/* The table has numAlgo rows of numProto times, one behind the other, whatever its type says. */
typedef int (*nccl_tuner_collective)(void *ctx, int coll, size_t bytes, int pipeOps, float **table, int numAlgo,
                                     int numProto, int regBuff, int *channels);

typedef int (*nccl_tuner_chunk)(void *ctx, int coll, size_t bytes, int algorithm, int protocol, int channels,
                                size_t *chunk);

struct nccl_tuner_v2 {
  const char *name;
  int (*init)(size_t ranks, size_t nodes, nccl_logger log, void **ctx);
  int (*getCollInfo)(void *ctx, int coll, size_t bytes, int collNetSupport, int nvlsSupport, int pipeOps,
                     int *algorithm, int *protocol, int *channels);
  int (*destroy)(void *ctx);
};

struct nccl_tuner_v3 {
  const char *name;
  int (*init)(size_t ranks, size_t nodes, nccl_logger log, void **ctx);
  int (*getCollInfo)(void *ctx, int coll, size_t bytes, int pipeOps, float **table, int numAlgo, int numProto,
                     int *channels);
  int (*destroy)(void *ctx);
};

struct nccl_tuner_v4 {
  const char *name;
  int (*init)(size_t ranks, size_t nodes, nccl_logger log, void **ctx);
  nccl_tuner_collective getCollInfo;
  int (*destroy)(void *ctx);
};

struct nccl_tuner_v5 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, size_t ranks, size_t nodes, nccl_logger log,
              struct nccl_tuner_domains *domains, struct nccl_tuner_constants *constants);
  nccl_tuner_collective getCollInfo;
  int (*finalize)(void *ctx);
};

struct nccl_tuner_v6 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, size_t ranks, size_t nodes, nccl_logger log,
              struct nccl_tuner_domains *domains, struct nccl_tuner_constants *constants);
  nccl_tuner_collective getCollInfo;
  int (*finalize)(void *ctx);
  nccl_tuner_chunk getChunkSize;
};

struct nccl_tuner_v7 {
  const char *name;
  int (*init)(void **ctx, uint64_t commId, size_t ranks, size_t nodes, nccl_logger log,
              struct nccl_tuner_domains *domains, struct nccl_tuner_constants_v7 *constants);
  nccl_tuner_collective getCollInfo;
  int (*finalize)(void *ctx);
  nccl_tuner_chunk getChunkSize;
};

#include "nccl_tuner_abi_check.h"

#endif
