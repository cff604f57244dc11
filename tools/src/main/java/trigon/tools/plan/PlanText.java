package trigon.tools.plan;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import trigon.cluster.json.Json;
import trigon.relay.table.NetworkMap;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.ShellWord;
import trigon.tools.console.Style;

/** A plan as {@code trigon plan} shows it, as text and as JSON. */
final class PlanText {

    private final Console console;
    private final int mtu;
    private final Optional<Path> write;

    /**
     * On a console.
     *
     * @param mtu of the interfaces
     * @param write the folder to which the files were written; empty if there are none
     */
    PlanText(Console console, int mtu, Optional<Path> write) {
        this.console = console;
        this.mtu = mtu;
        this.write = write;
    }

    /** Prints it, with the commands or where their files are. */
    void print(Plan plan) {
        Speeds speeds = plan.speeds();
        console.line(
                Style.STRONG,
                "%s, %s of %s Gbit/s"
                        .formatted(
                                Count.of(plan.cabling().nodes().size(), "node"),
                                Count.of(speeds.wires(), "cable"),
                                speeds.labels().stream()
                                        .sorted()
                                        .map(PlanText::number)
                                        .collect(Collectors.joining(" or "))));
        if (speeds.isLimited()) {
            say("a cable carries %s GB/s in each direction: both ports of a DGX Spark share its PCIe links"
                    .formatted(number(speeds.leastOfWire() / 8)));
        }
        List<String> replaced = plan.subnets().replaced();
        if (!replaced.isEmpty()) {
            say("addresses that are replaced, and that apply.sh removes: " + String.join(", ", replaced));
        }
        if (!plan.connected()) {
            console.line(Style.BAD, "Not all nodes are connected: at least one cable is missing.");
        }
        say("pairs of nodes that need relays: " + plan.relayedPairs());
        say((plan.withoutRelay() ? "ring order without relays: " : "no ring order without relays was found; use: ")
                + String.join(",", plan.order()));
        plan.expected()
                .ifPresentOrElse(
                        expected -> print(expected, speeds),
                        () -> say("relays serve %d nodes at most: nothing is predicted for more"
                                .formatted(NetworkMap.MAX_NODES)));
        write.ifPresentOrElse(folder -> printCopies(plan, folder), () -> {
            console.out().println();
            console.line(Style.STRONG, "Cluster file");
            console.out().print(plan.clusterFile());
            console.out().println();
            console.line(Style.STRONG, "Commands (not run)");
            PlanFiles files = new PlanFiles(plan, mtu);
            plan.order().forEach(node -> {
                console.out().println("# on " + node);
                files.commands(node).forEach(console.out()::println);
            });
        });
    }

    private void print(Plan.Expected expected, Speeds speeds) {
        say("expected at most: all-reduce%s %s GB/s (bus); all-to-all %s GB/s from each node"
                .formatted(
                        speeds.isLimited() ? "" : ", all-gather",
                        number(expected.allReduce()),
                        number(expected.traffic().allToAll())));
        if (expected.traffic().connected()) {
            say("the longest route has " + Count.of(expected.traffic().hops(), "hop"));
            Removal.words(expected.removals()).forEach(this::say);
        }
        expected.oneMore()
                .ifPresent(more -> say(("one more cable, %s to %s: all-reduce %s GB/s, all-to-all %s GB/s;"
                                + " %s GB/s without the worst part")
                        .formatted(
                                more.from(),
                                more.to(),
                                number(more.allReduce()),
                                number(more.allToAll()),
                                number(more.worstAllToAll()))));
    }

    private void printCopies(Plan plan, Path folder) {
        say(folder + " has a folder for each node. To copy each to its node, and set its addresses until it restarts:");
        console.out()
                .println("  for node in %s; do scp -r %s/$node $node: && ssh -t $node sudo ./$node/apply.sh; done"
                        .formatted(String.join(" ", plan.order()), ShellWord.path(folder)));
        say("With the name of what is in charge of the interfaces, such as \"apply.sh netplan\", it keeps them.");
    }

    private void say(String text) {
        console.paragraph(text);
    }

    static String number(double value) {
        return String.format(Locale.ROOT, "%.1f", value).replaceFirst("\\.0$", "");
    }

    /** In the schema {@code trigon.plan/1}, which {@code docs/reference/json.md} has. */
    static Map<String, Object> json(Plan plan) {
        return Json.object(
                "nodes",
                        plan.subnets().byNode().entrySet().stream()
                                .map(node -> Json.object(
                                        "name", node.getKey(),
                                        "nics",
                                                node.getValue().stream()
                                                        .map(nic -> Json.object(
                                                                "device", nic.nic(),
                                                                "address", nic.address(),
                                                                "replaces", nic.replaced()))
                                                        .toList()))
                                .toList(),
                "order", List.copyOf(plan.order()),
                "ringWithoutRelay", plan.withoutRelay(),
                "connected", plan.connected(),
                "relayedPairs", plan.relayedPairs(),
                "cableGBps", plan.speeds().leastOfWire() / 8,
                "allReduceGBps", plan.expected().map(Plan.Expected::allReduce),
                "allToAllGBps", plan.expected().map(each -> each.traffic().allToAll()),
                "hops", plan.expected().map(each -> each.traffic().hops()),
                "removals",
                        plan.expected().map(Plan.Expected::removals).orElse(List.of()).stream()
                                .map(Removal::json)
                                .toList(),
                "oneMore",
                        plan.oneMore()
                                .map(more -> Json.object(
                                        "from", more.from(),
                                        "to", more.to(),
                                        "allReduceGBps", more.allReduce(),
                                        "allToAllGBps", more.allToAll(),
                                        "worstAllToAllGBps", more.worstAllToAll())));
    }
}
