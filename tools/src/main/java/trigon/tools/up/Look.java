package trigon.tools.up;

import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.nodes.ExaminedNodes;
import trigon.tools.nodes.ReachOptions;

/** Looks at the nodes, by connections that are new each time. One thread. */
final class Look {

    private final Machine machine;
    private final Console console;
    private final Nodes nodes;
    private final ReachOptions reach;

    /** @param reach leads to the nodes' own distributions */
    Look(Machine machine, Console console, Nodes nodes, ReachOptions reach) {
        this.machine = machine;
        this.console = console;
        this.nodes = nodes;
        this.reach = reach.withRemote(Installation.PROGRAM);
    }

    /** Interfaces and routes of all nodes. */
    Map<String, Survey> surveys() {
        Map<String, Survey> surveys = new LinkedHashMap<>();
        nodes.each(node -> nodes.run(node, "list interfaces", "install iproute2 there", Survey.SCRIPT))
                .all()
                .forEach((node, text) -> surveys.put(node, Survey.read(text)));
        surveys.forEach((node, survey) -> {
            if (survey.nics().isEmpty()) {
                throw new CommandFailure(node + ": it lists no interfaces; install iproute2 there");
            }
        });
        return surveys;
    }

    /** Brings up what may have a cable, and has all of them hear each other, for the time of the look. */
    void bringUp(Map<String, Survey> surveys, Journals journals) {
        Map<String, String> scripts = new LinkedHashMap<>();
        surveys.forEach((node, survey) -> {
            List<String> down = survey.down();
            String script = commands("hear", survey.deaf()) + commands("up", down);
            if (!script.isEmpty()) {
                scripts.put(node, script + awaitCarriers(String.join(" ", down)));
            }
        });
        if (!scripts.isEmpty()) {
            var _ = journals.step("bring interfaces up", "look at its interfaces: ip link", scripts);
        }
    }

    /** Leaves interfaces without IPv6 as they were; puts all timers off. */
    static void endLook(Map<String, Survey> surveys, Journals journals) {
        Map<String, String> scripts = new LinkedHashMap<>();
        surveys.forEach((node, survey) -> scripts.put(node, commands("quiet", survey.deaf())));
        journals.extend(scripts);
    }

    private static String commands(String command, Collection<String> nics) {
        return nics.stream().map(nic -> command + " " + nic + "\n").collect(Collectors.joining());
    }

    /** After an interface has come up, its carrier may take seconds, and so does its IPv6 address. */
    private static String awaitCarriers(String nics) {
        return """
                for i in 1 2 3 4 5 6 7 8 9 10; do
                  waiting=
                  for n in %s; do
                    if [ "$(cat "/sys/class/net/$n/carrier")" != 1 ]; then waiting=yes; fi
                  done
                  [ "$waiting" ] || break
                  sleep 0.5
                done
                """.formatted(nics);
    }

    /**
     * Has the nodes examine each other.
     *
     * @throws CommandFailure if one does not answer
     */
    Observations examine() throws IOException {
        Observations seen =
                new ExaminedNodes(machine, nodes.names(), reach).asNamed().examine(console, false);
        if (!seen.silent().isEmpty()) {
            throw new CommandFailure(seen.silent().entrySet().stream()
                    .map(node -> "%s: it does not examine itself: %s; run %s doctor there"
                            .formatted(node.getKey(), node.getValue(), Installation.PROGRAM))
                    .collect(Collectors.joining("\n")));
        }
        return seen;
    }

    /**
     * Examines again, and compares.
     *
     * @throws CommandFailure that names each cable which does not carry data in a direction
     */
    void verify(UpPlan plan) throws IOException {
        check(examine(), plan);
    }

    /** As {@link #verify}, of what was seen before. */
    static void check(Observations seen, UpPlan plan) {
        List<String> failures = plan.ends().stream()
                .map(NicPlan::end)
                .filter(end -> seen.probes().stream()
                        .noneMatch(probe -> probe.works()
                                && isOf(probe, end.node(), end.address().toString(), end.peer())))
                .map(end -> "%s: no data from %s (%s) to %s of %s; look at the cable, and at firewalls"
                        .formatted(end.node(), end.nic(), end.address(), end.peerNic(), end.peer()))
                .toList();
        if (!failures.isEmpty()) {
            throw new CommandFailure(String.join("\n", failures));
        }
    }

    private static boolean isOf(Probe probe, String from, String address, String to) {
        return probe.from().equals(from) && probe.to().equals(to) && address.startsWith(probe.fromAddress() + "/");
    }
}
