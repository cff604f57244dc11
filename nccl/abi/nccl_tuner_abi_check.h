/*
 * The layout of nccl_tuner_abi.h in numbers: what NCCL's own headers give on 64-bit Linux. A compiler or an edit that
 * would lay a struct out differently does not build.
 */
#ifndef TRIGON_NCCL_TUNER_ABI_CHECK_H
#define TRIGON_NCCL_TUNER_ABI_CHECK_H

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "sizeof " #type)

SIZE(nccl_tuner_domains, 12);
AT(nccl_tuner_domains, minRanksPerNvlDomain, 4);
AT(nccl_tuner_domains, maxRanksPerNvlDomain, 8);
SIZE(nccl_tuner_constants, 1152);
AT(nccl_tuner_constants, hwLatencies, 168);
AT(nccl_tuner_constants, llMaxBws, 672);
AT(nccl_tuner_constants, perChMaxRingLL128Bws, 768);
AT(nccl_tuner_constants, perChMaxTreeLL128Bws, 864);
AT(nccl_tuner_constants, perChMaxTreeBws, 960);
AT(nccl_tuner_constants, perChMaxNVLSTreeBws, 1056);
SIZE(nccl_tuner_constants_v7, 1272);
AT(nccl_tuner_constants_v7, hwLatencies, 168);
AT(nccl_tuner_constants_v7, llMaxBws, 672);
AT(nccl_tuner_constants_v7, perChMaxRingLL128Bws, 792);
AT(nccl_tuner_constants_v7, perChMaxTreeLL128Bws, 912);
AT(nccl_tuner_constants_v7, perChMaxTreeBws, 1032);
AT(nccl_tuner_constants_v7, perChMaxNVLSTreeBws, 1152);

/* the slots that every version has */
#define COMMON_SLOTS(type) \
  AT(type, name, 0); \
  AT(type, init, 8); \
  AT(type, getCollInfo, 16)

SIZE(nccl_tuner_v2, 32);
COMMON_SLOTS(nccl_tuner_v2);
AT(nccl_tuner_v2, destroy, 24);

SIZE(nccl_tuner_v3, 32);
COMMON_SLOTS(nccl_tuner_v3);
AT(nccl_tuner_v3, destroy, 24);

SIZE(nccl_tuner_v4, 32);
COMMON_SLOTS(nccl_tuner_v4);
AT(nccl_tuner_v4, destroy, 24);

SIZE(nccl_tuner_v5, 32);
COMMON_SLOTS(nccl_tuner_v5);
AT(nccl_tuner_v5, finalize, 24);

SIZE(nccl_tuner_v6, 40);
COMMON_SLOTS(nccl_tuner_v6);
AT(nccl_tuner_v6, finalize, 24);
AT(nccl_tuner_v6, getChunkSize, 32);

SIZE(nccl_tuner_v7, 40);
COMMON_SLOTS(nccl_tuner_v7);
AT(nccl_tuner_v7, finalize, 24);
AT(nccl_tuner_v7, getChunkSize, 32);

#undef COMMON_SLOTS
#undef SIZE
#undef AT

#endif
