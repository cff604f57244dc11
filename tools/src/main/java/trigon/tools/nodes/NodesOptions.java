package trigon.tools.nodes;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.tools.console.Console;

/** Options that name the examined nodes, and the way to reach them. */
public final class NodesOptions {

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "The nodes, by their ssh names. Default: this machine. This machine is included only if"
                    + " its host name is listed.")
    private List<String> nodes = List.of();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create(); // until picocli has set it

    @Mixin
    private ReachOptions reach = new ReachOptions();

    private Optional<ExaminedNodes> examined = Optional.empty();

    /**
     * Has the nodes look at themselves and at each other; without names, this machine alone.
     *
     * @param rate true if to measure how fast each link is
     * @throws ParameterException if a name is none
     */
    public Observations examine(Machine machine, Console console, boolean rate) throws IOException {
        List<String> names = nodes.isEmpty() ? List.of(machine.hostName()) : nodes;
        for (String name : names) {
            if (!ReachOptions.isName(name)) {
                throw new ParameterException(spec.commandLine(), ReachOptions.noName(name));
            }
        }
        ExaminedNodes all = new ExaminedNodes(machine, names, reach);
        examined = Optional.of(all);
        return all.examine(console, rate);
    }

    /** A remedy's command as it is typed here: for another node, by what reaches it. */
    public String typed(Machine machine, String node, String command) {
        String name = examined.map(all -> all.reachedName(node)).orElse(node);
        return node.equals(machine.hostName()) || !nodes.contains(name) ? command : reach.typed(name, command);
    }
}
