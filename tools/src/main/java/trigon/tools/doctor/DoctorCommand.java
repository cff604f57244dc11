package trigon.tools.doctor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.UserFiles;
import trigon.tools.nodes.NodesOptions;

/** {@code trigon doctor}: what is wrong with the links of some nodes. */
@Command(
        name = "doctor",
        description = {
            "Find problems with nodes and the links between them.",
            "Examines each node's settings, limits and NICs, each link in both directions, and the cabling. Lists"
                    + " findings with remedies, the most severe first.",
            "Needs no job, no GPU and no root, and changes nothing."
        })
public final class DoctorCommand extends ToolCommand {

    @Mixin
    private final NodesOptions nodes = new NodesOptions();

    @Option(names = "--rate", description = "Also measure each link's speed; uses the whole link for 2 or 3 s.")
    private boolean rate;

    @Option(
            names = "--fix",
            description = "Print the commands that would fix the findings, by node, without running them.")
    private boolean fix;

    @Option(
            names = "--cables",
            paramLabel = "FILE",
            description = "Write the cables found to this file, for \"trigon plan FILE\".")
    private Optional<Path> cables = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.doctor/1.")
    private boolean json;

    public DoctorCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException {
        Observations seen = nodes.examine(machine, console, rate);
        List<Finding> findings = Diagnosis.of(seen);
        if (json) {
            printJson("trigon.doctor/1", json(seen, findings));
        } else {
            new DoctorText(console, seen, findings, (node, command) -> nodes.typed(machine, node, command)).print(fix);
        }
        cables.ifPresent(file -> UserFiles.write(file, Cables.listed(seen)));
        return Diagnosis.isHealthy(findings) ? 0 : 1;
    }

    private static Map<String, Object> json(Observations seen, List<Finding> findings) {
        return Json.object(
                "nodes", List.copyOf(seen.facts().keySet()),
                "silent", seen.silent(),
                "findings", findings.stream().map(Finding::json).toList(),
                "cables", Cables.of(seen),
                "switches", Cables.switches(seen),
                "probes", seen.probes(),
                "facts", List.copyOf(seen.facts().values()));
    }
}
