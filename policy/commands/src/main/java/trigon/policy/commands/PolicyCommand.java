package trigon.policy.commands;

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
final class PolicyCommand extends ToolCommand {

    PolicyCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        throw wrong("policy needs a command: verify, test, list, stat or load");
    }
}
