package trigon.tools.links;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.machine.Machine;
import trigon.tools.machine.MachineGpus;
import trigon.tools.machine.MachineLinks;

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
            console.out().print(Json.text(LinksJson.of(machine, links)));
        } else {
            new LinksText(console).print(links, MachineGpus.of(machine));
        }
        return links.problems().isEmpty() && !links.discovered().links().isEmpty() ? 0 : 1;
    }
}
