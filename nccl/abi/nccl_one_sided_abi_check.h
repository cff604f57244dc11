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

SIZE(nccl_rma_v14, 168);
AT(nccl_rma_v14, name, 0);
AT(nccl_rma_v14, init, 8);
AT(nccl_rma_v14, devices, 16);
AT(nccl_rma_v14, getProperties, 24);
AT(nccl_rma_v14, listen, 32);
AT(nccl_rma_v14, connect, 40);
AT(nccl_rma_v14, createContext, 48);
AT(nccl_rma_v14, regMrSym, 56);
AT(nccl_rma_v14, regMrSymDmaBuf, 64);
AT(nccl_rma_v14, deregMrSym, 72);
AT(nccl_rma_v14, destroyContext, 80);
AT(nccl_rma_v14, closeColl, 88);
AT(nccl_rma_v14, closeListen, 96);
AT(nccl_rma_v14, iput, 104);
AT(nccl_rma_v14, iputSignal, 112);
AT(nccl_rma_v14, iget, 120);
AT(nccl_rma_v14, iflush, 128);
AT(nccl_rma_v14, test, 136);
AT(nccl_rma_v14, rmaProgress, 144);
AT(nccl_rma_v14, queryLastError, 152);
AT(nccl_rma_v14, finalize, 160);

#undef AT
#undef SIZE

#endif
