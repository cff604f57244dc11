package trigon.policy.commands.tune;

import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.tools.command.CommandProvider;
import trigon.tools.console.Console;

/** The command {@code trigon tune}. */
public final class TuneCommands implements CommandProvider {

    @Override
    public CommandLine command(Machine machine, Console console) {
        return new CommandLine(new TuneCommand(machine, console));
    }
}
