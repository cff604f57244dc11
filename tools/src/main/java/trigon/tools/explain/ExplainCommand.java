package trigon.tools.explain;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.NodeConfig;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Style;
import trigon.tools.console.Table;
import trigon.tools.links.LinksText;
import trigon.verbs.LinkKind;

/** {@code trigon explain}: the plugin's own choice of a path, candidate by candidate. */
@Command(
        name = "explain",
        description = {
            "Explain which path Trigon takes to another node.",
            "Asks the plugin's own routing, and shows the deciding rule for each candidate.",
            "The other node is named in the cluster file, or given by its host name or its addresses. With --from,"
                    + " both nodes are in the file and this machine does not matter. With --pid, shows the paths"
                    + " of a running process."
        })
public final class ExplainCommand extends ToolCommand {

    /** Stands for a listener; nothing connects to it. */
    private static final int ANY_PORT = 1;

    @Option(
            names = "--to",
            split = ",",
            paramLabel = "NODE|ADDRESS",
            description = "A node in the cluster file, a host name, or a node's addresses, separated by commas.")
    private List<String> to = List.of();

    @Option(
            names = "--from",
            paramLabel = "NODE",
            description = "The node in the cluster file to start from. Default: this one.")
    private String from = "";

    @Option(names = "--pid", paramLabel = "PID", description = "A running process, as listed by \"trigon jobs\".")
    private long pid;

    private boolean elsewhere;

    @Option(names = "--json", description = "The result as JSON, schema trigon.explain/1.")
    private boolean json;

    public ExplainCommand(Machine machine, Console console) {
        super(machine, console);
    }

    private record Candidate(LocalLink local, PeerLink remote, String rule, int place) {

        /** Bandwidth that the slower link counts with, and the reason if it differs from the kernel's. */
        String bandwidth() {
            String counted = local.bandwidth().and(remote.bandwidth()).toString();
            return local.use().toString().isEmpty() || place == 0 ? counted : counted + ", " + local.use();
        }
    }

    @Override
    public Integer call() {
        if ((pid != 0) == !to.isEmpty() || (pid != 0 && !from.isEmpty())) {
            throw wrong("either --to names another node, with or without --from, or --pid a process");
        }
        if (pid != 0) {
            ProcessPaths paths = ProcessPaths.of(machine, pid, console);
            if (json) {
                printJson("trigon.explain/1", paths.json());
            } else {
                paths.print(console);
            }
            return paths.areUp() ? 0 : 1;
        }
        MachineLinks links = MachineLinks.of(machine);
        if (from.isEmpty() || links.config().thisNode().map(NodeConfig::name).equals(Optional.of(from))) {
            if (!links.problems().isEmpty()) {
                throw new CommandFailure(String.join("; ", links.problems()));
            }
            RoutingTable table = RoutingTable.of(links.config(), links.discovered(), new KernelRouteLookup());
            return explain(links.config(), table, peer(links.config(), table.links()));
        }
        elsewhere = true;
        PluginConfig config = FileRouting.config(machine, from);
        return explain(config, FileRouting.table(config), peer(config, List.of()));
    }

    private int explain(PluginConfig config, RoutingTable table, PeerDescription peer) {
        String none = "";
        List<Path> paths = List.of();
        try {
            paths = table.pathsTo(peer);
        } catch (NoPathException e) {
            none = String.valueOf(e.getMessage());
        }
        List<Candidate> candidates = candidates(table, peer, paths);
        List<List<String>> relays = paths.isEmpty() ? relays(config, table, peer) : List.of();
        if (json) {
            printJson("trigon.explain/1", json(candidates, none, relays));
        } else if (paths.isEmpty()) {
            printRelays(config, relays, none);
        } else {
            print(candidates);
        }
        return paths.isEmpty() && relays.isEmpty() ? 1 : 0;
    }

    /** The nodes of the file that relay, of each route; none if relays are off here. */
    private static List<List<String>> relays(PluginConfig config, RoutingTable table, PeerDescription peer) {
        return config.cluster()
                .filter(_ -> config.value(Settings.RELAY).serves())
                .map(cluster -> FileRouting.relays(
                        cluster,
                        table.links().stream().map(LocalLink::address).toList(),
                        peer.links().stream().map(PeerLink::interfaceAddress).toList()))
                .orElse(List.of());
    }

    private void printRelays(PluginConfig config, List<List<String>> relays, String none) {
        boolean isOn = config.value(Settings.RELAY).serves();
        String text;
        if (!relays.isEmpty()) {
            String names =
                    relays.stream().map(route -> String.join(", ", route)).collect(Collectors.joining("; or "));
            console.line(Style.GOOD, "Trigon relays by itself, through " + names + ".");
            text = "No cable joins the two nodes. A relay works while a process of the job, or \"trigon relay\", runs"
                    + (relays.getFirst().size() == 1 ? " on that node." : " on each of these nodes.");
        } else {
            String off = isOn ? "." : ", and relays are off.";
            console.line(Style.BAD, "There is no direct path" + off);
            text = isOn ? withoutRelays(config) : "With the setting relay: on, other nodes pass the data on.";
        }
        console.paragraph(text);
        console.paragraph(none);
    }

    private static String withoutRelays(PluginConfig config) {
        return "Trigon relays by itself if nodes with cables to both take part in the job, or run \"trigon relay\"; "
                + (config.cluster().isPresent()
                        ? "the cluster file has no such nodes."
                        : "which nodes these are, only a cluster file says. \"trigon doctor --nodes a,b,c\" shows who"
                                + " has a cable to whom.");
    }

    private PeerDescription peer(PluginConfig config, List<LocalLink> own) {
        ClusterConfig cluster = config.cluster().orElse(null);
        if (to.size() == 1 && cluster != null && cluster.node(to.getFirst()).isPresent()) {
            NodeConfig node = cluster.node(to.getFirst()).orElseThrow();
            List<InterfaceAddress> addresses =
                    node.nics().stream().flatMap(nic -> nic.address().stream()).toList();
            if (addresses.isEmpty()) {
                throw new CommandFailure("the cluster file has no address of " + node.name()
                        + ": its NICs are named by device, and only that node knows their addresses");
            }
            return new PeerDescription(
                    OptionalInt.of(node.index()),
                    addresses.stream().map(ExplainCommand::link).toList());
        }
        try {
            return new PeerDescription(
                    OptionalInt.empty(),
                    to.stream()
                            .flatMap(each -> addresses(each, own))
                            .map(ExplainCommand::link)
                            .toList());
        } catch (IllegalArgumentException e) {
            throw wrong("--to is " + String.join(",", to) + ": it is no address, such as 10.0.12.2, no host name that"
                    + " resolves here, and no node of a cluster file (TRIGON_CONFIG), which "
                    + (cluster == null ? "is not there" : "has " + cluster.names()) + "; "
                    + e.getMessage());
        }
    }

    /** Addresses of a host name, or the one that the text is. */
    private static Stream<InterfaceAddress> addresses(String text, List<LocalLink> own) {
        if (!text.matches(".*[a-zA-Z].*") || text.contains(":") || text.contains("/")) {
            return Stream.of(address(text, own));
        }
        try {
            return Stream.of(InetAddress.getAllByName(text))
                    .filter(each -> !each.isLinkLocalAddress())
                    .map(each -> address(InterfaceAddress.text(each), own));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("give the node's address on a cable", e);
        }
    }

    /** Without a prefix it has that of the link here that has it in its subnet, or else is alone. */
    private static InterfaceAddress address(String text, List<LocalLink> own) {
        if (text.contains("/")) {
            return InterfaceAddress.parse(text);
        }
        InetAddress address = InterfaceAddress.parseAddress(text);
        int prefix = own.stream()
                .map(LocalLink::address)
                .filter(each -> each.contains(address))
                .mapToInt(InterfaceAddress::prefixLength)
                .max()
                .orElse(address.getAddress().length * Byte.SIZE);
        return new InterfaceAddress(address, prefix);
    }

    private static PeerLink link(InterfaceAddress address) {
        return new PeerLink(address.address(), address.prefixLength(), ANY_PORT, EnumSet.allOf(LinkKind.class));
    }

    private static List<Candidate> candidates(RoutingTable table, PeerDescription peer, List<Path> paths) {
        List<Candidate> candidates = new ArrayList<>();
        for (int i = 0; i < paths.size(); i++) {
            Path path = paths.get(i);
            candidates.add(
                    new Candidate(path.local(), path.remote(), path.reason().toString(), i + 1));
        }
        for (LocalLink local : table.links()) {
            for (PeerLink remote : peer.links()) {
                boolean isPath = paths.stream()
                        .anyMatch(path ->
                                path.local().equals(local) && path.remote().equals(remote));
                if (!isPath) {
                    String why = table.isWithheldFromRdma(local, remote)
                            ? "the route has a gateway; with routes.rdma: on, it carries RDMA"
                            : whyNot(local, remote, table.isPrescribed(peer));
                    candidates.add(new Candidate(local, remote, why, 0));
                }
            }
        }
        return candidates;
    }

    private static String whyNot(LocalLink local, PeerLink remote, boolean prescribed) {
        boolean ours = local.address().contains(remote.address());
        boolean theirs = remote.interfaceAddress().contains(local.address().address());
        if (ours && theirs) {
            return prescribed ? "the file prescribes another NIC for this peer" : "another link is better";
        }
        return ours || theirs
                ? "in only one end's subnet: the prefixes differ"
                : "not in one subnet, and the kernel's route does not lead there from it";
    }

    private void print(List<Candidate> candidates) {
        Table table = new Table("order", "link", "kind", "counts as", "from", "to", "rule");
        for (Candidate each : candidates) {
            table.styled(
                    each.place() == 1 ? Style.GOOD : each.place() > 1 ? Style.STRONG : Style.FAINT,
                    each.place() == 0 ? "no" : Integer.toString(each.place()),
                    name(each.local()),
                    elsewhere ? "any" : LinksText.carrier(each.local()),
                    each.bandwidth(),
                    each.local().address().toString(),
                    each.remote().interfaceAddress().toString(),
                    each.rule());
        }
        table.print(console);
        console.paragraph("Order: without a file, what carries most; the same subnet before a route, the longer prefix"
                + " first, RDMA before TCP, then the NICs' order in the file. A relayed path goes first if it carries"
                + " more. Assumes that the peer has RDMA and TCP, and the same speed.");
    }

    private String name(LocalLink link) {
        return elsewhere ? link.interfaceName() : link.name();
    }

    /** The file does not say what carries the data on another node. */
    private String word(LocalLink link) {
        return elsewhere ? "any" : link.kind().name().toLowerCase(java.util.Locale.ROOT);
    }

    private Map<String, Object> json(List<Candidate> candidates, String none, List<List<String>> relays) {
        return Json.object(
                "candidates",
                candidates.stream()
                        .map(each -> Json.object(
                                "order", each.place(),
                                "link", name(each.local()),
                                "kind", word(each.local()),
                                "countsAs", each.bandwidth(),
                                "from", each.local().address().toString(),
                                "to", each.remote().interfaceAddress().toString(),
                                "rule", each.rule()))
                        .toList(),
                "noPath",
                none,
                "relays",
                relays.isEmpty() ? List.of() : relays.getFirst(),
                "routes",
                relays);
    }
}
