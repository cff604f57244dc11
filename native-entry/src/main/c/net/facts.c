#include "facts.h"

#include "nccl_net_abi.h"
#include "requests.h"
#include "trace.h"
#include "upcalls.h"

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

#define CALL_OF(call) {"call." #call, CALL_##call},

static const struct fact facts_of_net[] = {
    PROPERTIES_OF_ALL(nccl_net_properties_v8),
    PROPERTIES_SINCE_9(nccl_net_properties_v9),
    PROPERTIES_SINCE_11(nccl_net_properties_v11),
    PROPERTIES_SINCE_11(nccl_net_properties_v12),
    OFFSET_OF(nccl_net_properties_v12, railId),
    OFFSET_OF(nccl_net_properties_v12, planeId),
    SIZE_OF(nccl_net_config),
    OFFSET_OF(nccl_net_config, trafficClass),
    {"handle", NCCL_NET_HANDLE_BYTES},
    {"ptr.host", NCCL_PTR_HOST},
    {"ptr.cuda", NCCL_PTR_CUDA},
    {"ptr.dma_buf", NCCL_PTR_DMABUF},
    {"net_device.host", NCCL_NET_DEVICE_HOST},
    {"default_context", DEFAULT_CONTEXT},
    {"request_table", TABLE_ROWS},
    {"request_table.requests", ROW_REQUESTS},
    {"request_table.calls_for_each_to_java", CALLS_FOR_EACH_TO_JAVA},
    {"request.pending", REQUEST_PENDING},
    {"request.done", REQUEST_DONE},
    {"request_table.completions", POLL_COMPLETIONS},
    SIZE_OF(request_row),
    OFFSET_OF(request_row, entries),
    OFFSET_OF(request_row, sender),
    OFFSET_OF(request_row, awaited),
    OFFSET_OF(request_row, arrived),
    OFFSET_OF(request_row, waits),
    OFFSET_OF(request_row, poll),
    OFFSET_OF(request_row, queue),
    OFFSET_OF(request_row, completions),
    OFFSET_OF(request_row, polled),
    OFFSET_OF(request_row, idle),
    OFFSET_OF(request_row, takes),
    OFFSET_OF(request_row, inside),
    OFFSET_OF(request_row, completed),
    SIZE_OF(request_entry),
    OFFSET_OF(request_entry, finished),
    OFFSET_OF(request_entry, request),
    OFFSET_OF(request_entry, size),
    OFFSET_OF(request_entry, state),
    SIZE_OF(completion),
    OFFSET_OF(completion, status),
    OFFSET_OF(completion, opcode),
    OFFSET_OF(completion, immediate),
    {"completion.success", COMPLETION_SUCCESS},
    {"completion.receive", COMPLETION_RECEIVE},
    SIZE_OF(trace_record),
    OFFSET_OF(trace_record, subject),
    OFFSET_OF(trace_record, kind),
    OFFSET_OF(trace_record, detail),
    OFFSET_OF(trace_record, argument),
    OFFSET_OF(trace_record, value),
    OFFSET_OF(trace_ring, capacity),
    OFFSET_OF(trace_ring, head),
    OFFSET_OF(trace_ring, posted),
    OFFSET_OF(trace_ring, done),
    OFFSET_OF(trace_ring, owner),
    OFFSET_OF(trace_ring, is_send),
    OFFSET_OF(trace_ring, histograms),
    OFFSET_OF(trace_ring, records),
    SIZE_OF(trace_histogram),
    OFFSET_OF(trace_histogram, buckets),
    {"trace.measures", TRACE_MEASURES},
    {"trace.size_classes", TRACE_SIZE_CLASSES},
    {"trace.threads", TRACE_THREADS},
    OFFSET_OF(trace_table, is_ending),
    OFFSET_OF(trace_table, has_ended),
    OFFSET_OF(trace_table, lost_events),
    OFFSET_OF(trace_table, connection_count),
    OFFSET_OF(trace_table, connections),
    SIZE_OF(trace_connection),
    OFFSET_OF(trace_connection, retransmits),
    OFFSET_OF(trace_connection, window_limited),
    OFFSET_OF(trace_connection, busy),
    {"trace.connections", TRACE_CONNECTIONS},
    OFFSET_OF(trace_table, threads),
    OFFSET_OF(trace_table, comms),
    CONTROL_CALLS(CALL_OF) /* each ends with a comma */
};

const struct facts net_facts = FACTS(facts_of_net);
