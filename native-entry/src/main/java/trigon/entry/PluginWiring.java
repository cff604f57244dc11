package trigon.entry;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import trigon.transport.NetPlugin;

/** The composition root: makes the {@link NetPlugin} and everything below it. */
final class PluginWiring {

    private PluginWiring() {}

    /**
     * Wires the plugin.
     *
     * @param environment the process's environment variables
     * @throws InstallationException where the installation is incomplete
     */
    static NetPlugin wire(Map<String, String> environment) {
        // not the thread's context class loader: NCCL's threads have none
        List<NetPluginFactory> factories =
                ServiceLoader.load(NetPluginFactory.class, PluginWiring.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        return switch (factories.size()) {
            case 1 -> factories.getFirst().create(environment);
            case 0 -> new TransportFactory().create(environment);
            default ->
                throw new InstallationException("several transports among the jars (%s): remove them, or all but one"
                        .formatted(factories.stream()
                                .map(factory -> factory.getClass().getName())
                                .toList()));
        };
    }
}
