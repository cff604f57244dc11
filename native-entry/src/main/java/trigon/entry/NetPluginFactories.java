package trigon.entry;

import java.util.List;
import java.util.ServiceLoader;
import trigon.entry.host.InstallationException;
import trigon.entry.tuner.PolicyAccess;

/** Finds who makes the net plugin. */
final class NetPluginFactories {

    private NetPluginFactories() {}

    /**
     * Trigon's own, or the one among the jars that takes its place.
     *
     * @param pageBytes size of the kernel's pages
     * @param policy takes the settings that Trigon's own reads
     * @throws InstallationException where the installation is incomplete
     */
    static NetPluginFactory find(int pageBytes, PolicyAccess policy) {
        // not the thread's context class loader: NCCL's threads have none
        List<NetPluginFactory> factories =
                ServiceLoader.load(NetPluginFactory.class, NetPluginFactories.class.getClassLoader()).stream()
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
