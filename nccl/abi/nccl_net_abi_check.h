/*
 * The layout of nccl_net_abi.h in numbers: what NCCL's own headers give on 64-bit Linux. A compiler or an edit that
 * would lay a struct out differently does not build.
 */
#ifndef TRIGON_NCCL_NET_ABI_CHECK_H
#define TRIGON_NCCL_NET_ABI_CHECK_H

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "sizeof " #type)

SIZE(nccl_net_config, 4);
SIZE(nccl_net_virtual_v9, 20);
AT(nccl_net_virtual_v9, devs, 4);
SIZE(nccl_net_virtual_v12, 36);
AT(nccl_net_virtual_v12, devs, 4);
SIZE(nccl_net_device_handle, 32);
AT(nccl_net_device_handle, netDeviceVersion, 4);
AT(nccl_net_device_handle, handle, 8);
AT(nccl_net_device_handle, size, 16);
AT(nccl_net_device_handle, needsProxyProgress, 24);
SIZE(nccl_net_peers, 16);
AT(nccl_net_peers, minConcurrentPeers, 4);
AT(nccl_net_peers, maxFlowsPerPeer, 8);
AT(nccl_net_peers, minFlowsPerPeer, 12);
SIZE(nccl_net_attributes, 44);
AT(nccl_net_attributes, recvCommAttr, 16);
AT(nccl_net_attributes, op, 32);
AT(nccl_net_attributes, algo, 36);
AT(nccl_net_attributes, proto, 40);

SIZE(nccl_net_properties_v8, 64);
AT(nccl_net_properties_v8, name, 0);
AT(nccl_net_properties_v8, pciPath, 8);
AT(nccl_net_properties_v8, guid, 16);
AT(nccl_net_properties_v8, ptrSupport, 24);
AT(nccl_net_properties_v8, regIsGlobal, 28);
AT(nccl_net_properties_v8, speed, 32);
AT(nccl_net_properties_v8, port, 36);
AT(nccl_net_properties_v8, latency, 40);
AT(nccl_net_properties_v8, maxComms, 44);
AT(nccl_net_properties_v8, maxRecvs, 48);
AT(nccl_net_properties_v8, netDeviceType, 52);
AT(nccl_net_properties_v8, netDeviceVersion, 56);

SIZE(nccl_net_properties_v9, 104);
AT(nccl_net_properties_v9, name, 0);
AT(nccl_net_properties_v9, pciPath, 8);
AT(nccl_net_properties_v9, guid, 16);
AT(nccl_net_properties_v9, ptrSupport, 24);
AT(nccl_net_properties_v9, regIsGlobal, 28);
AT(nccl_net_properties_v9, forceFlush, 32);
AT(nccl_net_properties_v9, speed, 36);
AT(nccl_net_properties_v9, port, 40);
AT(nccl_net_properties_v9, latency, 44);
AT(nccl_net_properties_v9, maxComms, 48);
AT(nccl_net_properties_v9, maxRecvs, 52);
AT(nccl_net_properties_v9, netDeviceType, 56);
AT(nccl_net_properties_v9, netDeviceVersion, 60);
AT(nccl_net_properties_v9, vProps.ndevs, 64);
AT(nccl_net_properties_v9, vProps.devs, 68);
AT(nccl_net_properties_v9, maxP2pBytes, 88);
AT(nccl_net_properties_v9, maxCollBytes, 96);

SIZE(nccl_net_properties_v11, 112);
AT(nccl_net_properties_v11, name, 0);
AT(nccl_net_properties_v11, pciPath, 8);
AT(nccl_net_properties_v11, guid, 16);
AT(nccl_net_properties_v11, ptrSupport, 24);
AT(nccl_net_properties_v11, regIsGlobal, 28);
AT(nccl_net_properties_v11, forceFlush, 32);
AT(nccl_net_properties_v11, speed, 36);
AT(nccl_net_properties_v11, port, 40);
AT(nccl_net_properties_v11, latency, 44);
AT(nccl_net_properties_v11, maxComms, 48);
AT(nccl_net_properties_v11, maxRecvs, 52);
AT(nccl_net_properties_v11, netDeviceType, 56);
AT(nccl_net_properties_v11, netDeviceVersion, 60);
AT(nccl_net_properties_v11, vProps.ndevs, 64);
AT(nccl_net_properties_v11, vProps.devs, 68);
AT(nccl_net_properties_v11, maxP2pBytes, 88);
AT(nccl_net_properties_v11, maxCollBytes, 96);
AT(nccl_net_properties_v11, maxMultiRequestSize, 104);

SIZE(nccl_net_properties_v12, 128);
AT(nccl_net_properties_v12, name, 0);
AT(nccl_net_properties_v12, pciPath, 8);
AT(nccl_net_properties_v12, guid, 16);
AT(nccl_net_properties_v12, ptrSupport, 24);
AT(nccl_net_properties_v12, regIsGlobal, 28);
AT(nccl_net_properties_v12, forceFlush, 32);
AT(nccl_net_properties_v12, speed, 36);
AT(nccl_net_properties_v12, port, 40);
AT(nccl_net_properties_v12, latency, 44);
AT(nccl_net_properties_v12, maxComms, 48);
AT(nccl_net_properties_v12, maxRecvs, 52);
AT(nccl_net_properties_v12, netDeviceType, 56);
AT(nccl_net_properties_v12, netDeviceVersion, 60);
AT(nccl_net_properties_v12, vProps.ndevs, 64);
AT(nccl_net_properties_v12, vProps.devs, 68);
AT(nccl_net_properties_v12, maxP2pBytes, 104);
AT(nccl_net_properties_v12, maxCollBytes, 112);
AT(nccl_net_properties_v12, maxMultiRequestSize, 120);
AT(nccl_net_properties_v12, railId, 124);
AT(nccl_net_properties_v12, planeId, 126);

/* the slots that every version has */
#define COMMON_SLOTS(type) \
  AT(type, name, 0); \
  AT(type, init, 8); \
  AT(type, devices, 16); \
  AT(type, getProperties, 24); \
  AT(type, listen, 32); \
  AT(type, connect, 40); \
  AT(type, accept, 48); \
  AT(type, regMr, 56); \
  AT(type, regMrDmaBuf, 64); \
  AT(type, deregMr, 72); \
  AT(type, isend, 80); \
  AT(type, irecv, 88); \
  AT(type, iflush, 96); \
  AT(type, test, 104); \
  AT(type, closeSend, 112); \
  AT(type, closeRecv, 120); \
  AT(type, closeListen, 128); \
  AT(type, getDeviceMr, 136); \
  AT(type, irecvConsumed, 144)

SIZE(nccl_net_v8, 152);
COMMON_SLOTS(nccl_net_v8);

SIZE(nccl_net_v9, 160);
COMMON_SLOTS(nccl_net_v9);
AT(nccl_net_v9, makeVDevice, 152);

SIZE(nccl_net_v10, 160);
COMMON_SLOTS(nccl_net_v10);
AT(nccl_net_v10, makeVDevice, 152);

SIZE(nccl_net_v11, 176);
COMMON_SLOTS(nccl_net_v11);
AT(nccl_net_v11, makeVDevice, 152);
AT(nccl_net_v11, finalize, 160);
AT(nccl_net_v11, setNetAttr, 168);

SIZE(nccl_net_v12, 176);
COMMON_SLOTS(nccl_net_v12);
AT(nccl_net_v12, makeVDevice, 152);
AT(nccl_net_v12, finalize, 160);
AT(nccl_net_v12, setNetAttr, 168);

#undef COMMON_SLOTS
#undef SIZE
#undef AT

#endif
