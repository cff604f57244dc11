package trigon.policy.commands;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.tools.command.CommandProvider;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;

/** The group {@code trigon policy} with its commands. */
public final class PolicyCommands implements CommandProvider {

    @Override
    public CommandLine command(Machine machine, Console console) {
        return new CommandLine(new Group(machine, console))
                .addSubcommand(new PolicyVerifyCommand(machine, console))
                .addSubcommand(new TestCommand(machine, console))
                .addSubcommand(new ListCommand(machine, console))
                .addSubcommand(new StatCommand(machine, console))
                .addSubcommand(new LoadCommand(machine, console));
    }

    @Command(
            name = "policy",
            description = {
                "Verify, test, list and load policies.",
                "Policies are eBPF programs that decide for NCCL which algorithm, protocol and channels a collective"
                        + " has, and how connections are made.",
                "verify and test need no job. list, stat and load concern the processes of this machine."
            })
    private static final class Group extends ToolCommand {

        Group(Machine machine, Console console) {
            super(machine, console);
        }

        @Override
        public Integer call() {
            throw wrong("policy needs a command: verify, test, list, stat or load");
        }
    }
}
