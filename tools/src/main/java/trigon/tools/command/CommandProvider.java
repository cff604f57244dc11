package trigon.tools.command;

import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;

/** A command that belongs to another module, which {@code trigon} finds as a service. */
public interface CommandProvider {

    /** The command, with its own commands. */
    CommandLine command(Machine machine, Console console);
}
