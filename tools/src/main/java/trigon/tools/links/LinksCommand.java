package trigon.tools.links;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.facts.LinkFacts;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineLinks;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;

/** {@code trigon links}: the NICs of this machine, which of them are used, and why the others are not. */
@Command(
        name = "links",
        description = {
            "Show this machine's NICs, and which of them Trigon uses.",
            "Shows interfaces and RDMA ports: speed, MTU, addresses, GIDs, PCIe link, which functions share a port or"
                    + " a PCIe link, how NICs reach memory of GPUs, and why Trigon leaves links out.",
            "Reads sysfs, and libibverbs where it is installed. Needs neither RDMA nor root, and changes nothing."
        })
public final class LinksCommand extends ToolCommand {

    @Option(names = "--json", description = "The result as JSON, schema trigon.links/1.")
    private boolean json;

    public LinksCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        MachineLinks links = MachineLinks.of(machine);
        if (json) {
            printJson("trigon.links/1", Json.object(LinkFacts.of(links, MachineGpus.of(machine))));
        } else {
            new LinksText(console).print(links, MachineGpus.of(machine));
        }
        return links.problems().isEmpty() && !links.discovered().links().isEmpty() ? 0 : 1;
    }
}
