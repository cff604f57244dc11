/*
 * The layout of nccl_one_sided_abi.h in numbers: what NCCL's own headers give on 64-bit Linux. A compiler or an edit
 * that would lay a struct out differently does not build.
 */
#ifndef TRIGON_NCCL_ONE_SIDED_ABI_CHECK_H
#define TRIGON_NCCL_ONE_SIDED_ABI_CHECK_H

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "sizeof " #type)

SIZE(nccl_rma_config_v14, 8);
AT(nccl_rma_config_v14, trafficClass, 4);

SIZE(nccl_rma_config_v17, 24);
AT(nccl_rma_config_v17, trafficClass, 4);
AT(nccl_rma_config_v17, peerArray, 8);
AT(nccl_rma_config_v17, peerArrayCount, 16);

SIZE(nccl_rma_properties_v16, 1);

SIZE(nccl_gin_v11, 152);
AT(nccl_gin_v11, name, 0);
AT(nccl_gin_v11, init, 8);
AT(nccl_gin_v11, devices, 16);
AT(nccl_gin_v11, getProperties, 24);
AT(nccl_gin_v11, listen, 32);
AT(nccl_gin_v11, connect, 40);
AT(nccl_gin_v11, createContext, 48);
AT(nccl_gin_v11, regMrSym, 56);
AT(nccl_gin_v11, regMrSymDmaBuf, 64);
AT(nccl_gin_v11, deregMrSym, 72);
AT(nccl_gin_v11, destroyContext, 80);
AT(nccl_gin_v11, closeColl, 88);
AT(nccl_gin_v11, closeListen, 96);
AT(nccl_gin_v11, iput, 104);
AT(nccl_gin_v11, iputSignal, 112);
AT(nccl_gin_v11, test, 120);
AT(nccl_gin_v11, ginProgress, 128);
AT(nccl_gin_v11, queryLastError, 136);
AT(nccl_gin_v11, finalize, 144);

/* "more": bytes of the slots before getProperties that v14 does not have */
#define RMA_SLOTS(type, more) \
  AT(type, name, 0); \
  AT(type, init, 8); \
  AT(type, devices, 16); \
  AT(type, getProperties, 24 + (more)); \
  AT(type, listen, 32 + (more)); \
  AT(type, connect, 40 + (more)); \
  AT(type, createContext, 48 + (more)); \
  AT(type, regMrSym, 56 + (more)); \
  AT(type, regMrSymDmaBuf, 64 + (more)); \
  AT(type, deregMrSym, 72 + (more)); \
  AT(type, destroyContext, 80 + (more)); \
  AT(type, closeColl, 88 + (more)); \
  AT(type, closeListen, 96 + (more)); \
  AT(type, iput, 104 + (more)); \
  AT(type, iputSignal, 112 + (more)); \
  AT(type, iget, 120 + (more)); \
  AT(type, iflush, 128 + (more)); \
  AT(type, test, 136 + (more)); \
  AT(type, rmaProgress, 144 + (more)); \
  AT(type, queryLastError, 152 + (more)); \
  AT(type, finalize, 160 + (more))

SIZE(nccl_rma_v14, 168);
RMA_SLOTS(nccl_rma_v14, 0);

SIZE(nccl_rma_v15, 168);
RMA_SLOTS(nccl_rma_v15, 0);

SIZE(nccl_rma_v16, 176);
RMA_SLOTS(nccl_rma_v16, 8);
AT(nccl_rma_v16, getRmaProperties, 24);

SIZE(nccl_rma_v17, 176);
RMA_SLOTS(nccl_rma_v17, 8);
AT(nccl_rma_v17, getRmaProperties, 24);

#undef RMA_SLOTS
#undef AT
#undef SIZE

#endif
