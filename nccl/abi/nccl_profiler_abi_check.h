/*
 * The layout of nccl_profiler_abi.h in numbers: what NCCL's own headers give on 64-bit Linux. A compiler or an edit
 * that would lay a struct out differently does not build.
 */
#ifndef TRIGON_NCCL_PROFILER_ABI_CHECK_H
#define TRIGON_NCCL_PROFILER_ABI_CHECK_H

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "sizeof " #type)

#define COMMON_FIELDS(event) \
  AT(event, type, 0); \
  AT(event, parentObj, 8); \
  AT(event, rank, 16); \
  AT(event, proxyOp.pid, 24); \
  AT(event, proxyOp.channelId, 28); \
  AT(event, proxyOp.peer, 32); \
  AT(event, proxyOp.nSteps, 36); \
  AT(event, proxyOp.chunkSize, 40); \
  AT(event, proxyOp.isSend, 44); \
  AT(event, proxyStep.step, 24)

SIZE(nccl_profiler_event_v1, 120);
COMMON_FIELDS(nccl_profiler_event_v1);
AT(nccl_profiler_event_v1, coll.commHash, 32);
AT(nccl_profiler_event_v1, coll.seqNumber, 40);
AT(nccl_profiler_event_v1, coll.func, 48);
AT(nccl_profiler_event_v1, coll.count, 72);
AT(nccl_profiler_event_v1, coll.datatype, 84);
AT(nccl_profiler_event_v1, coll.trafficBytes, 96);
AT(nccl_profiler_event_v1, coll.nMaxChannels, 104);
AT(nccl_profiler_event_v1, coll.algo, 106);
AT(nccl_profiler_event_v1, coll.proto, 107);
AT(nccl_profiler_event_v1, p2p.commHash, 32);
AT(nccl_profiler_event_v1, p2p.func, 40);
AT(nccl_profiler_event_v1, p2p.datatype, 56);
AT(nccl_profiler_event_v1, p2p.count, 64);
AT(nccl_profiler_event_v1, p2p.peer, 72);

SIZE(nccl_profiler_event_v2, 128);
COMMON_FIELDS(nccl_profiler_event_v2);
AT(nccl_profiler_event_v2, coll.func, 48);
AT(nccl_profiler_event_v2, coll.count, 72);
AT(nccl_profiler_event_v2, coll.datatype, 88);
AT(nccl_profiler_event_v2, coll.nMaxChannels, 104);
AT(nccl_profiler_event_v2, coll.algo, 112);
AT(nccl_profiler_event_v2, coll.proto, 120);
AT(nccl_profiler_event_v2, p2p.func, 40);
AT(nccl_profiler_event_v2, p2p.datatype, 56);
AT(nccl_profiler_event_v2, p2p.count, 64);
AT(nccl_profiler_event_v2, p2p.peer, 72);

SIZE(nccl_profiler_event_v3, 120);
COMMON_FIELDS(nccl_profiler_event_v3);
AT(nccl_profiler_event_v3, coll.datatype, 88);
AT(nccl_profiler_event_v3, coll.nMaxChannels, 96);
AT(nccl_profiler_event_v3, coll.algo, 104);
AT(nccl_profiler_event_v3, coll.proto, 112);
AT(nccl_profiler_event_v3, kernelCh.channelId, 24);
AT(nccl_profiler_event_v3, netPlugin.data, 32);

SIZE(nccl_profiler_event_v4, 104);
COMMON_FIELDS(nccl_profiler_event_v4);
AT(nccl_profiler_event_v4, coll.seqNumber, 24);
AT(nccl_profiler_event_v4, coll.func, 32);
AT(nccl_profiler_event_v4, coll.count, 56);
AT(nccl_profiler_event_v4, coll.datatype, 72);
AT(nccl_profiler_event_v4, coll.nChannels, 80);
AT(nccl_profiler_event_v4, coll.algo, 88);
AT(nccl_profiler_event_v4, coll.proto, 96);
AT(nccl_profiler_event_v4, p2p.datatype, 40);
AT(nccl_profiler_event_v4, p2p.count, 48);
AT(nccl_profiler_event_v4, p2p.peer, 56);
AT(nccl_profiler_event_v4, p2p.nChannels, 60);
AT(nccl_profiler_event_v4, kernelCh.pTimer, 32);

SIZE(nccl_profiler_event_v7, 136); /* v5 and v6: 112 */
COMMON_FIELDS(nccl_profiler_event_v7);
AT(nccl_profiler_event_v7, coll.seqNumber, 24);
AT(nccl_profiler_event_v7, coll.func, 32);
AT(nccl_profiler_event_v7, coll.count, 56);
AT(nccl_profiler_event_v7, coll.datatype, 72);
AT(nccl_profiler_event_v7, coll.nChannels, 80);
AT(nccl_profiler_event_v7, coll.algo, 88);
AT(nccl_profiler_event_v7, coll.proto, 96);
AT(nccl_profiler_event_v7, coll.parentGroup, 104);
AT(nccl_profiler_event_v7, coll.kernelVariant, 112);
AT(nccl_profiler_event_v7, coll.isSymColl, 120);
AT(nccl_profiler_event_v7, coll.userTag, 128);
AT(nccl_profiler_event_v7, p2p.peer, 56);
AT(nccl_profiler_event_v7, p2p.parentGroup, 64);
AT(nccl_profiler_event_v7, p2p.userTag, 72);
AT(nccl_profiler_event_v7, collApi.userTag, 72);
AT(nccl_profiler_event_v7, collApi.graphCaptured, 64);
AT(nccl_profiler_event_v7, p2pApi.graphCaptured, 56);
AT(nccl_profiler_event_v7, p2pApi.userTag, 64);
AT(nccl_profiler_event_v7, kernelCh.pTimer, 32);
AT(nccl_profiler_event_v7, ceColl.count, 56);
AT(nccl_profiler_event_v7, ceColl.datatype, 72);
AT(nccl_profiler_event_v7, ceColl.stream, 104);
AT(nccl_profiler_event_v7, ceCollSync.nRanks, 28);
AT(nccl_profiler_event_v7, ceCollBatch.totalBytes, 32);
AT(nccl_profiler_event_v7, kernelPhase.phaseId, 25);
AT(nccl_profiler_event_v7, kernelPhase.phaseName, 32);
AT(nccl_profiler_event_v7, kernelPhase.pTimer, 40);

#define TABLE(type) \
  SIZE(type, 48); \
  AT(type, name, 0); \
  AT(type, init, 8); \
  AT(type, startEvent, 16); \
  AT(type, stopEvent, 24); \
  AT(type, recordEventState, 32); \
  AT(type, finalize, 40)

TABLE(nccl_profiler_v1);
TABLE(nccl_profiler_v4);
TABLE(nccl_profiler_v5);

#undef TABLE
#undef COMMON_FIELDS
#undef SIZE
#undef AT

#endif
