package trigon.tools.policy;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;

/** {@code trigon policy}: the group of the commands for policies. */
@Command(
        name = "policy",
        description = {
            "Verify, test, list and load policies.",
            "Policies are eBPF programs that decide for NCCL which algorithm, protocol and channels a collective has,"
                    + " and how connections are made.",
            "verify and test need no job. list, stat and load concern the processes of this machine."
        })
public final class PolicyCommand extends ToolCommand {

    private PolicyCommand(Machine machine, Console console) {
        super(machine, console);
    }

    /** The group with its commands. */
    public static CommandLine of(Machine machine, Console console) {
        return new CommandLine(new PolicyCommand(machine, console))
                .addSubcommand(new PolicyVerifyCommand(machine, console))
                .addSubcommand(new TestCommand(machine, console))
                .addSubcommand(new ListCommand(machine, console))
                .addSubcommand(new StatCommand(machine, console))
                .addSubcommand(new LoadCommand(machine, console));
    }

    @Override
    public Integer call() {
        throw wrong("policy needs a command: verify, test, list, stat or load");
    }
}
