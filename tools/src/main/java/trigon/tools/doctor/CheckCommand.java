package trigon.tools.doctor;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.nodes.NodesOptions;

/** {@code trigon check}: doctor in short. */
@Command(
        name = "check",
        description = {
            "Check briefly whether nodes and their links work.",
            "Runs the checks of \"trigon doctor\" and prints a summary: whether links work and carry data"
                    + " correctly, by RDMA or TCP."
        })
public final class CheckCommand extends ToolCommand {

    @Mixin
    private final NodesOptions nodes = new NodesOptions();

    @Option(names = "--json", description = "The result as JSON, schema trigon.check/1.")
    private boolean json;

    public CheckCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException {
        Observations seen = nodes.examine(machine, console, false);
        List<Finding> findings = Diagnosis.of(seen);
        if (json) {
            printJson("trigon.check/1", json(seen, findings));
        } else {
            new DoctorText(console, seen, findings, (node, command) -> nodes.typed(machine, node, command))
                    .printShort();
        }
        return Diagnosis.isHealthy(findings) ? 0 : 1;
    }

    private static Map<String, Object> json(Observations seen, List<Finding> findings) {
        return Json.object(
                "good", Diagnosis.isHealthy(findings),
                "nodes", List.copyOf(seen.facts().keySet()),
                "silent", seen.silent(),
                "links",
                        Json.object(
                                "tried", seen.probes().size(),
                                "working",
                                        seen.probes().stream()
                                                .filter(Probe::works)
                                                .count(),
                                "triedRdma",
                                        seen.probes().stream()
                                                .filter(Probe::hasRdma)
                                                .count(),
                                "workingRdma",
                                        seen.probes().stream()
                                                .filter(Probe::isRdmaRight)
                                                .count()),
                "findings", findings.stream().map(Finding::json).toList());
    }
}
