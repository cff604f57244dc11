package trigon.tools.doctor;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.probe.Observations;
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
public final class CheckCommand implements Callable<Integer> {

    private final Machine machine;
    private final Console console;

    @Mixin
    private final NodesOptions nodes = new NodesOptions();

    @Option(names = "--json", description = "The result as JSON, schema trigon.check/1.")
    private boolean json;

    public CheckCommand(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        Observations seen = nodes.examine(machine, console, false);
        List<Finding> findings = Diagnosis.of(seen);
        if (json) {
            console.out().print(Json.text(DoctorJson.inShort(machine, seen, findings)));
        } else {
            new DoctorText(console, seen, findings, (node, command) -> nodes.typed(machine, node, command))
                    .printShort();
        }
        return Diagnosis.isHealthy(findings) ? 0 : 1;
    }
}
