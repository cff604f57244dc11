/*
 * What this library was compiled with, for Java to compare with what it was written for. Part of entry.c.
 */
#ifndef TRIGON_ENTRY_FACTS_H
#define TRIGON_ENTRY_FACTS_H

#include "entry_board.h"
#include "entry_upcalls.h"
#include "nccl_net_abi.h"

/* trigon.entry.AbiCheck reads these by name. */
struct abi_fact {
  const char *name;
  int64_t value;
};

#define SIZE_OF(type) {#type, sizeof(struct type)}
#define CALL_OF(call) {"call." #call, CALL_##call},
#define OFFSET_OF(type, field) {#type "." #field, offsetof(struct type, field)}

/* clang-format off */
#define PROPERTIES_OF_ALL(type) \
  SIZE_OF(type), OFFSET_OF(type, name), OFFSET_OF(type, pciPath), OFFSET_OF(type, guid), \
  OFFSET_OF(type, ptrSupport), OFFSET_OF(type, regIsGlobal), OFFSET_OF(type, speed), \
  OFFSET_OF(type, port), OFFSET_OF(type, latency), OFFSET_OF(type, maxComms), \
  OFFSET_OF(type, maxRecvs), OFFSET_OF(type, netDeviceType), OFFSET_OF(type, netDeviceVersion)
#define PROPERTIES_SINCE_9(type) \
  PROPERTIES_OF_ALL(type), OFFSET_OF(type, forceFlush), OFFSET_OF(type, vProps.ndevs), \
  OFFSET_OF(type, vProps.devs), OFFSET_OF(type, maxP2pBytes), OFFSET_OF(type, maxCollBytes)
#define PROPERTIES_SINCE_11(type) \
  PROPERTIES_SINCE_9(type), OFFSET_OF(type, maxMultiRequestSize)
/* clang-format on */

static const struct abi_fact abi_facts[] = {
    PROPERTIES_OF_ALL(nccl_net_properties_v8),
    PROPERTIES_SINCE_9(nccl_net_properties_v9),
    PROPERTIES_SINCE_11(nccl_net_properties_v11),
    PROPERTIES_SINCE_11(nccl_net_properties_v12),
    OFFSET_OF(nccl_net_properties_v12, railId),
    OFFSET_OF(nccl_net_properties_v12, planeId),
    SIZE_OF(nccl_net_config),
    OFFSET_OF(nccl_net_config, trafficClass),
    {"handle", NCCL_NET_HANDLE_BYTES},
    {"pointer", sizeof(void *)},
    {"board", BOARD_ROWS},
    {"board.requests", BOARD_REQUESTS},
    {"board.waits", BOARD_WAITS},
    {"board.pending", BOARD_PENDING},
    {"board.done", BOARD_DONE},
    {"board.completions", BOARD_COMPLETIONS},
    SIZE_OF(board_row),
    OFFSET_OF(board_row, entries),
    OFFSET_OF(board_row, sender),
    OFFSET_OF(board_row, awaited),
    OFFSET_OF(board_row, arrived),
    OFFSET_OF(board_row, waits),
    OFFSET_OF(board_row, poll),
    OFFSET_OF(board_row, queue),
    OFFSET_OF(board_row, completions),
    OFFSET_OF(board_row, polled),
    OFFSET_OF(board_row, idle),
    OFFSET_OF(board_row, takes),
    OFFSET_OF(board_row, completed),
    SIZE_OF(board_entry),
    OFFSET_OF(board_entry, finished),
    OFFSET_OF(board_entry, request),
    OFFSET_OF(board_entry, size),
    OFFSET_OF(board_entry, state),
    SIZE_OF(board_completion),
    OFFSET_OF(board_completion, status),
    OFFSET_OF(board_completion, opcode),
    OFFSET_OF(board_completion, immediate),
    {"board_completion.success", COMPLETION_SUCCESS},
    {"board_completion.receive", COMPLETION_RECEIVE},
    CONTROL_CALLS(CALL_OF) /* each ends with a comma */
};

#undef PROPERTIES_SINCE_11
#undef PROPERTIES_SINCE_9
#undef PROPERTIES_OF_ALL
#undef OFFSET_OF
#undef CALL_OF
#undef SIZE_OF

#endif
