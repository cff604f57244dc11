package trigon.entry;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import trigon.transport.CompletionBoard;
import trigon.transport.NetPlugin;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** Compares the layouts that C was compiled with to those that Java was written for. */
final class AbiCheck {

    private static final Map<String, ToIntFunction<PropertiesLayout>> FIELDS = fields();

    private AbiCheck() {}

    /**
     * Checks all facts that Java depends on.
     *
     * @param facts what C was compiled with, by name
     * @throws InstallationException naming each difference with both numbers
     */
    static void check(Map<String, Long> facts) {
        List<String> differences = new ArrayList<>();
        expected().forEach((name, ours) -> {
            Long theirs = facts.get(name);
            if (theirs == null) {
                differences.add("%s is %d in Java and unknown in C".formatted(name, ours));
            } else if (!theirs.equals(ours)) {
                differences.add("%s is %d in Java and %d in C".formatted(name, ours, theirs));
            }
        });
        if (!differences.isEmpty()) {
            throw new InstallationException(
                    "libnccl-net-trigon.so and the jars do not fit together (%s); install both from one package"
                            .formatted(String.join(", ", differences)));
        }
    }

    /** Everything that Java's reads and writes of NCCL's and the library's structs rest on. */
    static Map<String, Long> expected() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("pointer", 8L);
        facts.put("handle", (long) NetPlugin.HANDLE_BYTES);
        facts.put("nccl_net_config", (long) ControlCalls.CONFIG_BYTES);
        facts.put("nccl_net_config.trafficClass", (long) ControlCalls.CONFIG_TRAFFIC_CLASS);
        facts.put("board", (long) CompletionBoard.ROWS);
        facts.put("board.requests", (long) CompletionBoard.ROW_REQUESTS);
        facts.put("board.waits", (long) CompletionBoard.WAITS_AT_ONCE);
        facts.put("board.pending", (long) CompletionBoard.PENDING);
        facts.put("board.done", (long) CompletionBoard.DONE);
        facts.put("board.completions", (long) CompletionBoard.COMPLETIONS_AT_ONCE);
        facts.put("board_row", CompletionBoard.ROW_BYTES);
        facts.put("board_row.entries", 0L);
        facts.put("board_row.sender", CompletionBoard.SENDER);
        facts.put("board_row.awaited", CompletionBoard.AWAITED);
        facts.put("board_row.arrived", CompletionBoard.ARRIVED);
        facts.put("board_row.waits", CompletionBoard.WAITS);
        facts.put("board_row.poll", CompletionBoard.POLL);
        facts.put("board_row.queue", CompletionBoard.QUEUE);
        facts.put("board_row.completions", CompletionBoard.COMPLETIONS);
        facts.put("board_row.polled", CompletionBoard.POLLED);
        facts.put("board_row.idle", CompletionBoard.IDLE);
        facts.put("board_row.takes", CompletionBoard.TAKES);
        facts.put("board_row.completed", CompletionBoard.COMPLETED);
        facts.put("board_completion", (long) WorkCompletions.STRIDE);
        facts.put("board_completion.status", (long) WorkCompletions.STATUS_OFFSET);
        facts.put("board_completion.opcode", (long) WorkCompletions.OPCODE_OFFSET);
        facts.put("board_completion.immediate", (long) WorkCompletions.IMMEDIATE_OFFSET);
        facts.put("board_completion.success", (long) WorkCompletionStatus.SUCCESS_CODE);
        facts.put("board_completion.receive", (long) WorkCompletionOpcode.RECEIVE);
        facts.put("board_entry", CompletionBoard.ENTRY_BYTES);
        facts.put("board_entry.finished", CompletionBoard.FINISHED);
        facts.put("board_entry.request", CompletionBoard.REQUEST);
        facts.put("board_entry.size", CompletionBoard.SIZE);
        facts.put("board_entry.state", CompletionBoard.STATE);
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
