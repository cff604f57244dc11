package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import trigon.config.PluginConfig;
import trigon.entry.host.InstallationException;
import trigon.entry.tuner.PolicyAccess;
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

    /**
     * Finds Trigon's own, or the one among the jars that takes its place.
     *
     * @param pageBytes size of the kernel's pages
     * @param policy takes the settings that Trigon's own reads
     * @throws InstallationException where the installation is incomplete
     */
    static NetPluginFactory find(int pageBytes, PolicyAccess policy) {
        // not the thread's context class loader: NCCL's threads have none
        List<NetPluginFactory> factories =
                ServiceLoader.load(NetPluginFactory.class, NetPluginFactory.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        return switch (factories.size()) {
            case 1 -> factories.getFirst();
            case 0 -> new TransportFactory(pageBytes, policy);
            default ->
                throw new InstallationException("several transports among the jars (%s): remove them, or all but one"
                        .formatted(factories.stream()
                                .map(factory -> factory.getClass().getName())
                                .toList()));
        };
    }
}
