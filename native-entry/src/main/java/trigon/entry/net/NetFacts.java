package trigon.entry.net;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.trace.RecordLayout;
import trigon.trace.RingLayout;
import trigon.trace.TableLayout;
import trigon.transport.request.FlushLayout;
import trigon.transport.request.MemoryTable;
import trigon.transport.request.RequestRow;
import trigon.transport.request.UnconfirmedMessages;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** The net plugin's layouts and numbers, as Java has them; {@code net/facts.c} has C's. */
public final class NetFacts {

    private static final Map<String, ToIntFunction<PropertiesLayout>> FIELDS = fields();

    private NetFacts() {}

    /** Everything that Java's reads and writes of NCCL's and the library's structs rest on. */
    public static Map<String, Long> expected() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("ptr.host", (long) DeviceProperties.POINTER_HOST);
        facts.put("ptr.cuda", (long) DeviceProperties.POINTER_CUDA);
        facts.put("ptr.dma_buf", (long) DeviceProperties.POINTER_DMA_BUF);
        facts.put("net_device.host", (long) PropertiesWriter.NET_DEVICE_HOST);
        facts.put("default_context", ControlUpcalls.DEFAULT_CONTEXT);
        facts.put("handle", (long) NetPlugin.HANDLE_BYTES);
        facts.put("nccl_net_config", (long) ControlUpcalls.CONFIG_BYTES);
        facts.put("nccl_net_config.trafficClass", (long) ControlUpcalls.CONFIG_TRAFFIC_CLASS);
        facts.putAll(RequestRow.facts());
        facts.putAll(MemoryTable.facts());
        facts.putAll(FlushLayout.facts());
        facts.putAll(UnconfirmedMessages.facts());
        facts.put("completion", (long) WorkCompletions.STRIDE);
        facts.put("completion.status", (long) WorkCompletions.STATUS_OFFSET);
        facts.put("completion.opcode", (long) WorkCompletions.OPCODE_OFFSET);
        facts.put("completion.immediate", (long) WorkCompletions.IMMEDIATE_OFFSET);
        facts.put("completion.success", (long) WorkCompletionStatus.SUCCESS_CODE);
        facts.put("completion.write", (long) WorkCompletionOpcode.RDMA_WRITE);
        facts.put("completion.receive", (long) WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
        addTrace(facts);
        ControlCall[] calls = ControlCall.values();
        for (int number = 0; number < calls.length; number++) {
            facts.put(calls[number].fact(), (long) number);
        }
        for (PropertiesLayout layout : PropertiesLayout.values()) {
            String struct = "nccl_net_properties_v" + layout.version();
            facts.put(struct, (long) layout.bytes());
            FIELDS.forEach((field, offset) -> {
                int at = offset.applyAsInt(layout);
                if (at != PropertiesLayout.ABSENT) {
                    facts.put(struct + "." + field, (long) at);
                }
            });
        }
        return facts;
    }

    private static void addTrace(Map<String, Long> facts) {
        facts.put("trace_record", (long) RecordLayout.BYTES);
        facts.put("trace_record.subject", (long) RecordLayout.SUBJECT);
        facts.put("trace_record.kind", (long) RecordLayout.KIND);
        facts.put("trace_record.detail", (long) RecordLayout.DETAIL);
        facts.put("trace_record.argument", (long) RecordLayout.ARGUMENT);
        facts.put("trace_record.value", (long) RecordLayout.VALUE);
        facts.put("trace_ring.capacity", RingLayout.CAPACITY);
        facts.put("trace_ring.head", RingLayout.HEAD);
        facts.put("trace_ring.posted", RingLayout.POSTED);
        facts.put("trace_ring.done", RingLayout.DONE);
        facts.put("trace_ring.owner", RingLayout.OWNER);
        facts.put("trace_ring.is_send", RingLayout.IS_SEND);
        facts.put("trace_ring.histograms", RingLayout.HISTOGRAMS);
        facts.put("trace_ring.records", RingLayout.RECORDS);
        facts.put("trace_histogram", (long) RingLayout.HISTOGRAM_BYTES);
        facts.put("trace_histogram.buckets", RingLayout.FIRST_BUCKET * 8L);
        facts.put("trace.measures", (long) RingLayout.MEASURES);
        facts.put("trace.size_classes", (long) RingLayout.SIZE_CLASSES);
        facts.put("trace.threads", (long) TableLayout.MAX_THREADS);
        facts.put("trace.connections", (long) TableLayout.MAX_TCP);
        facts.put("trace_connection", (long) TableLayout.TCP_BYTES);
        facts.put("trace_connection.retransmits", (long) TableLayout.TCP_RETRANSMITS);
        facts.put("trace_connection.window_limited", (long) TableLayout.TCP_WINDOW_LIMITED);
        facts.put("trace_connection.busy", (long) TableLayout.TCP_BUSY);
        facts.put("trace_table.is_ending", TableLayout.IS_ENDING);
        facts.put("trace_table.has_ended", TableLayout.HAS_ENDED);
        facts.put("trace_table.lost_events", TableLayout.LOST_EVENTS);
        facts.put("trace_table.connection_count", TableLayout.TCP_COUNT);
        facts.put("trace_table.connections", TableLayout.TCP);
        facts.put("trace_table.threads", TableLayout.THREADS);
        facts.put("trace_table.comms", TableLayout.COMMS);
    }

    private static Map<String, ToIntFunction<PropertiesLayout>> fields() {
        Map<String, ToIntFunction<PropertiesLayout>> fields = new LinkedHashMap<>();
        fields.put("name", _ -> PropertiesLayout.NAME);
        fields.put("pciPath", _ -> PropertiesLayout.PCI_PATH);
        fields.put("guid", _ -> PropertiesLayout.GUID);
        fields.put("ptrSupport", _ -> PropertiesLayout.PTR_SUPPORT);
        fields.put("regIsGlobal", _ -> PropertiesLayout.REG_IS_GLOBAL);
        fields.put("forceFlush", PropertiesLayout::forceFlush);
        fields.put("speed", PropertiesLayout::speed);
        fields.put("port", PropertiesLayout::port);
        fields.put("latency", PropertiesLayout::latency);
        fields.put("maxComms", PropertiesLayout::maxComms);
        fields.put("maxRecvs", PropertiesLayout::maxRecvs);
        fields.put("netDeviceType", PropertiesLayout::netDeviceType);
        fields.put("netDeviceVersion", PropertiesLayout::netDeviceVersion);
        fields.put("vProps.ndevs", PropertiesLayout::virtualDeviceCount);
        fields.put("vProps.devs", PropertiesLayout::virtualDevices);
        fields.put("maxP2pBytes", PropertiesLayout::maxP2pBytes);
        fields.put("maxCollBytes", PropertiesLayout::maxCollBytes);
        fields.put("maxMultiRequestSize", PropertiesLayout::maxMultiRequestSize);
        fields.put("railId", PropertiesLayout::railId);
        fields.put("planeId", PropertiesLayout::planeId);
        return fields;
    }
}
