package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import trigon.config.PluginConfig;
import trigon.entry.warmup.WarmUpNode;
import trigon.nccl.NetPlugin;
import trigon.transport.request.RequestTable;

/**
 * Makes the plugin that NCCL's calls go to: {@link TransportFactory}, unless {@link ServiceLoader} finds
 * another one on Trigon's own path, where tests put theirs.
 */
public interface NetPluginFactory {

    /**
     * Makes the plugin. Called once per process, on the thread that starts Java.
     *
     * @param environment the process's environment variables; nothing else reads them
     * @param requests where the entry library looks for finished requests; the plugin's from now on
     */
    NetPlugin create(Map<String, String> environment, RequestTable requests);

    /** The settings, where the factory has read them; called after {@link #create}. */
    default Optional<PluginConfig> config() {
        return Optional.empty();
    }

    /**
     * Openers of the nodes of the {@link trigon.entry.warmup.WarmUp}, each called at most once, on its thread; none
     * where there is nothing to warm up. Called after {@link #create}.
     *
     * @param ofAllKinds also for links that this process does not have
     */
    default List<Supplier<WarmUpNode>> warmUpNodes(boolean ofAllKinds) {
        return List.of();
    }
}
