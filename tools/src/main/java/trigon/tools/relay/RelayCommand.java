package trigon.tools.relay;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.NodeConfig;
import trigon.config.file.ConfigLoader;
import trigon.relay.RelayCounts;
import trigon.relay.mesh.Mesh;
import trigon.relay.mesh.RdmaHops;
import trigon.relay.mesh.RelayLinks;
import trigon.relay.mesh.RelayResources;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LocalLink;
import trigon.routing.discovery.BootstrapInterfaces;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.stream.hop.HopDevices;
import trigon.system.kernel.NodeNumber;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Termination;

/**
 * {@code trigon relay}: relays for the jobs of others until it is told to end. Standard error says what it does.
 */
@Command(
        name = "relay",
        description = {
            "Relay between nodes without a cable to each other.",
            "Run it on a node without ranks of the job, or whose ranks end early. It stops on SIGTERM or SIGINT,"
                    + " and ends the circuits it carries.",
            "The settings are those of jobs, in NCCL's files, too: TRIGON_CONFIG, TRIGON_NODE, TRIGON_RELAY. It serves"
                    + " any node with the cluster key, so it needs TRIGON_CLUSTER_KEY_FILE. It needs no RDMA and no"
                    + " root."
        })
public final class RelayCommand extends ToolCommand {

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);
    private static final int LOOKS_FOR_REPORT = 60;
    private static final int MIN_TO_SPIN = 4;

    public RelayCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException {
        PluginConfig config = settings();
        HostInterfaces interfaces = BootstrapInterfaces.mark(
                HostInterfaces.snapshot(), machine.environmentOfJob().getOrDefault(BootstrapInterfaces.VARIABLE, ""));
        List<LocalLink> links = RelayLinks.of(
                LinkDiscovery.discover(config, List.of(), interfaces).links());
        if (links.isEmpty()) {
            throw new CommandFailure("there is no link to relay over: no interface is up with an address;"
                    + " \"trigon links\" lists them");
        }
        String name = config.thisNode().map(NodeConfig::name).orElse(machine.hostName());
        long node = NodeNumber.of(config.thisNode().map(NodeConfig::name).orElse(""));
        MachineLinks all = MachineLinks.of(machine);
        try (var _ = new Termination();
                HopDevices hops = RdmaHops.of(
                        config, all.discovered().links(), all.provider().orElse(null));
                Mesh mesh = Mesh.of(
                        config, links, new KernelRouteLookup(), name, node, new RelayResources(hops, spins(), 0))) {
            mesh.serve();
            say("node %s relays over %s".formatted(name, links));
            serve(mesh);
        }
        return 0;
    }

    /** With fewer processors, a thread that looks for more takes them from who has work. */
    private static boolean spins() {
        return Runtime.getRuntime().availableProcessors() >= MIN_TO_SPIN;
    }

    /** Those of jobs; circuits go over interfaces, whatever RDMA there is. */
    private PluginConfig settings() {
        Map<String, String> environment = machine.environmentOfJob();
        environment.put(Settings.LINKS.variable().orElseThrow(), "software");
        PluginConfig config = ConfigLoader.load(environment, machine.hostName());
        config.unknownVariables().forEach(variable -> say(variable.toString()));
        if (!config.value(Settings.RELAY).serves()) {
            throw new CommandFailure("this node must not relay: %s; remove that setting, or do not start a relay"
                    .formatted(config.sourceOf(Settings.RELAY)));
        }
        if (config.clusterKey().isEmpty()) {
            throw new CommandFailure(
                    ("a relay outside a job serves nodes with the cluster key, but none is set: name its file in"
                                    + " %s, the same on all nodes")
                            .formatted(Settings.CLUSTER_KEY_FILE.variable().orElseThrow()));
        }
        return config;
    }

    /**
     * Until the process is told to end.
     *
     * @throws CommandFailure if a failure has ended the relay: whoever started it is to start it again
     */
    private void serve(Mesh mesh) {
        RelayCounts counts = mesh.counts();
        long reported = 0;
        try {
            for (int look = 1; !mesh.hasEnded(); look++) {
                Thread.sleep(BETWEEN_LOOKS);
                if (look % LOOKS_FOR_REPORT == 0 && counts.bytes() != reported) {
                    reported = counts.bytes();
                    report(counts);
                }
            }
        } catch (InterruptedException _) {
            report(counts);
            return;
        }
        throw new CommandFailure("the relay on this node has stopped after a failure, told above; start it again,"
                + " and report what it told");
    }

    private void report(RelayCounts counts) {
        say("%s now, %d so far, %s refused, %d bytes passed on"
                .formatted(
                        Count.of(counts.circuits(), "circuit"),
                        counts.opened(),
                        Count.of(counts.refused(), "connection"),
                        counts.bytes()));
    }

    private void say(String line) {
        console.err().println("trigon relay: " + line);
        console.err().flush();
    }
}
