package trigon.cluster.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import trigon.config.PluginConfig;
import trigon.config.file.ConfigLoader;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.config.setting.Setting;
import trigon.config.setting.Source;
import trigon.routing.DiscoveredLinks;
import trigon.routing.discovery.BootstrapInterfaces;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPorts;
import trigon.routing.hardware.LinkSpeeds;
import trigon.routing.hardware.NicHardware;
import trigon.routing.hardware.TwinFunctions;
import trigon.verbs.DeviceContext;
import trigon.verbs.DeviceMemory;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/**
 * This machine's NICs, and which of them the plugin would use here, with these settings.
 *
 * @param nics all network interfaces
 * @param rdma all RDMA ports
 * @param interfaces with their addresses, as routing sees them
 * @param config the settings; the defaults if there is a problem with them
 * @param discovered links that would be used
 * @param provider of the RDMA devices; empty if there is none
 * @param noRdma why there is none; empty if there is
 * @param problems that would end the plugin's start
 * @param warnings of its start
 */
public record MachineLinks(
        List<Nic> nics,
        List<RdmaPort> rdma,
        HostInterfaces interfaces,
        PluginConfig config,
        DiscoveredLinks discovered,
        Optional<VerbsProvider> provider,
        Optional<String> noRdma,
        List<String> problems,
        List<String> warnings) {

    public MachineLinks {
        nics = List.copyOf(nics);
        rdma = List.copyOf(rdma);
        problems = List.copyOf(problems);
        warnings = List.copyOf(warnings);
    }

    /** Looks at them, as the plugin does at its start, with libibverbs if it is there. */
    public static MachineLinks of(Machine machine) {
        return of(machine, MachineLinks::libibverbs);
    }

    /** The kernel's devices by libibverbs, which is loaded only where there are some. */
    public static VerbsAvailability libibverbs() {
        return Libibverbs.kernelHasDevices()
                ? Libibverbs.load()
                : new VerbsAvailability.Unavailable("the kernel has no RDMA device (/sys/class/infiniband)");
    }

    /**
     * The same with other devices.
     *
     * @param verbs is asked unless the settings want no RDMA
     */
    public static MachineLinks of(Machine machine, Supplier<VerbsAvailability> verbs) {
        List<String> problems = new ArrayList<>();
        PluginConfig config = config(machine, problems);
        VerbsAvailability available = config.links().value() == LinkPolicy.SOFTWARE
                ? new VerbsAvailability.Unavailable("links is " + config.links())
                : verbs.get();
        List<trigon.routing.discovery.RdmaPort> ports = new ArrayList<>();
        if (available instanceof VerbsAvailability.Available(var provider)) {
            RdmaPorts found = RdmaPorts.snapshot(provider);
            ports.addAll(found.ports());
            found.leftOut().forEach(each -> problems.add(each.toString()));
        }
        HostInterfaces interfaces = BootstrapInterfaces.mark(
                HostInterfaces.snapshot(), machine.environmentOfJob().getOrDefault(BootstrapInterfaces.VARIABLE, ""));
        return of(machine, config, ports, interfaces, available, problems);
    }

    private static MachineLinks of(
            Machine machine,
            PluginConfig config,
            List<trigon.routing.discovery.RdmaPort> ports,
            HostInterfaces interfaces,
            VerbsAvailability available,
            List<String> problems) {
        NicHardware hardware = new NicHardware(machine.file("sys"));
        DiscoveredLinks discovered;
        try {
            discovered = LinkDiscovery.discover(config, ports, interfaces);
        } catch (ConfigException e) {
            problems.add(String.valueOf(e.getMessage()));
            PluginConfig defaults = PluginConfig.withoutFile(new Setting<>(LinkPolicy.AUTO, Source.DEFAULT));
            discovered = LinkDiscovery.discover(defaults, ports, interfaces);
        }
        DiscoveredLinks limited = problems.isEmpty() ? new LinkSpeeds(hardware).limit(config, discovered) : discovered;
        return new MachineLinks(
                Nic.all(machine.file("sys"), interfaces),
                RdmaPort.all(machine.file("sys")),
                interfaces,
                config,
                limited,
                available instanceof VerbsAvailability.Available(var provider)
                        ? Optional.of(provider)
                        : Optional.empty(),
                available instanceof VerbsAvailability.Unavailable(var reason) ? Optional.of(reason) : Optional.empty(),
                problems,
                TwinFunctions.warnings(limited.links(), hardware));
    }

    /** The RDMA ports, with what libibverbs knows of them; they are opened for that. */
    public List<RdmaPort> rdmaAsOpened() {
        Optional<List<String>> listed = provider.map(VerbsProvider::deviceNames);
        return rdma.stream()
                .map(port -> port.asOpened(
                        gpuMemory(port.device()),
                        listed.filter(names -> !names.contains(port.device())).isPresent()))
                .toList();
    }

    private DeviceMemory gpuMemory(String device) {
        if (provider.isEmpty()) {
            return DeviceMemory.unreachable(noRdma.orElse("there is no RDMA"));
        }
        try (DeviceContext opened = provider.get().open(device)) {
            return opened.deviceMemory();
        } catch (VerbsException e) {
            return DeviceMemory.unreachable(String.valueOf(e.getMessage()));
        }
    }

    private static PluginConfig config(Machine machine, List<String> problems) {
        try {
            return ConfigLoader.load(machine.environmentOfJob(), machine.hostName());
        } catch (ConfigException e) {
            problems.add(String.valueOf(e.getMessage()));
            return PluginConfig.withoutFile(new Setting<>(LinkPolicy.AUTO, Source.DEFAULT));
        }
    }
}
