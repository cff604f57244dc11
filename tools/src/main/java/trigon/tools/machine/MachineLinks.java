package trigon.tools.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.config.ConfigException;
import trigon.config.ConfigLoader;
import trigon.config.LinkPolicy;
import trigon.config.PluginConfig;
import trigon.config.Setting;
import trigon.config.Source;
import trigon.routing.DiscoveredLinks;
import trigon.routing.HostInterfaces;
import trigon.routing.LinkDiscovery;
import trigon.routing.RdmaPort;
import trigon.routing.RdmaPorts;
import trigon.routing.hardware.LinkSpeeds;
import trigon.routing.hardware.NicHardware;
import trigon.routing.hardware.TwinFunctions;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.ffm.Libibverbs;

/**
 * This machine's NICs, and which of them the plugin would use here, with these settings.
 *
 * @param nics all network interfaces
 * @param rdma all RDMA ports
 * @param interfaces with their addresses, as routing sees them
 * @param config the settings; the defaults if there is a problem with them
 * @param discovered what would be used
 * @param noRdma why there is none; empty if there is
 * @param problems what would end the plugin's start
 * @param warnings what it would warn of
 */
public record MachineLinks(
        List<NicFacts> nics,
        List<RdmaPortFacts> rdma,
        HostInterfaces interfaces,
        PluginConfig config,
        DiscoveredLinks discovered,
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
        List<String> problems = new ArrayList<>();
        PluginConfig config = config(machine, problems);
        List<RdmaPort> ports = new ArrayList<>();
        Optional<String> noRdma = rdma(config, ports, problems);
        return of(machine, config, ports, HostInterfaces.snapshot(), noRdma, problems);
    }

    static MachineLinks of(
            Machine machine,
            PluginConfig config,
            List<RdmaPort> ports,
            HostInterfaces interfaces,
            Optional<String> noRdma,
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
                NicFacts.all(machine.file("sys")),
                RdmaPortFacts.all(machine.file("sys")),
                interfaces,
                config,
                limited,
                noRdma,
                problems,
                TwinFunctions.warnings(limited.links(), hardware));
    }

    private static PluginConfig config(Machine machine, List<String> problems) {
        try {
            return ConfigLoader.load(machine.environment(), machine.hostName());
        } catch (ConfigException e) {
            problems.add(String.valueOf(e.getMessage()));
            return PluginConfig.withoutFile(new Setting<>(LinkPolicy.AUTO, Source.DEFAULT));
        }
    }

    private static Optional<String> rdma(PluginConfig config, List<RdmaPort> ports, List<String> problems) {
        if (config.links().value() == LinkPolicy.SOFTWARE) {
            return Optional.of("links is " + config.links());
        }
        if (!Libibverbs.kernelHasDevices()) {
            return Optional.of("the kernel has no RDMA device (/sys/class/infiniband)");
        }
        return switch (Libibverbs.load()) {
            case VerbsAvailability.Unavailable(String reason) -> Optional.of(reason);
            case VerbsAvailability.Available(var provider) -> {
                RdmaPorts found = RdmaPorts.snapshot(provider);
                ports.addAll(found.ports());
                found.leftOut().forEach(each -> problems.add(each.toString()));
                yield Optional.empty();
            }
        };
    }
}
