package trigon.entry.loopback;

import java.util.Map;
import trigon.entry.NetPluginFactory;
import trigon.nccl.NetPlugin;
import trigon.transport.request.RequestTable;

/** Makes a {@link LoopbackPlugin}; LOOPBACK_FAULT in the environment chooses something for it to do wrong. */
public final class LoopbackFactory implements NetPluginFactory {

    private static final String THROW = "throw:";

    @Override
    public NetPlugin create(Map<String, String> environment, RequestTable table) {
        String fault = environment.getOrDefault("LOOPBACK_FAULT", "");
        if (fault.equals("create")) {
            throw new IllegalStateException("told to fail at the start");
        }
        if (fault.startsWith(THROW)) {
            return Failure.valueOf(fault.substring(THROW.length())).plugin();
        }
        LoopbackPlugin plugin = new LoopbackPlugin(fault);
        return switch (fault) {
            case "shown" -> new ShownRequests(plugin, table).plugin();
            default -> plugin;
        };
    }
}
