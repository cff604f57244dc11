package trigon.policy.commands;

import picocli.CommandLine;
import trigon.cluster.machine.Machine;
import trigon.tools.command.CommandProvider;
import trigon.tools.console.Console;

/** The group {@code trigon policy} with its commands. */
public final class PolicyCommands implements CommandProvider {

    @Override
    public CommandLine command(Machine machine, Console console) {
        return new CommandLine(new PolicyCommand(machine, console))
                .addSubcommand(new PolicyVerifyCommand(machine, console))
                .addSubcommand(new TestCommand(machine, console))
                .addSubcommand(new ListCommand(machine, console))
                .addSubcommand(new StatCommand(machine, console))
                .addSubcommand(new LoadCommand(machine, console));
    }
}
