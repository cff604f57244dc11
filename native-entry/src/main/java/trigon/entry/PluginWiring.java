package trigon.entry;

import java.util.List;
import java.util.ServiceLoader;

/** The composition root: makes the {@link trigon.transport.NetPlugin} and everything below it. */
final class PluginWiring {

    private PluginWiring() {}

    /**
     * Finds who makes the plugin.
     *
     * @param pageBytes size of the kernel's pages
     * @throws InstallationException where the installation is incomplete
     */
    static NetPluginFactory factory(int pageBytes) {
        // not the thread's context class loader: NCCL's threads have none
        List<NetPluginFactory> factories =
                ServiceLoader.load(NetPluginFactory.class, PluginWiring.class.getClassLoader()).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        return switch (factories.size()) {
            case 1 -> factories.getFirst();
            case 0 -> new TransportFactory(pageBytes);
            default ->
                throw new InstallationException("several transports among the jars (%s): remove them, or all but one"
                        .formatted(factories.stream()
                                .map(factory -> factory.getClass().getName())
                                .toList()));
        };
    }
}
