package trigon.tools.env;

import java.util.List;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;
import trigon.tools.enable.DisableCommand;
import trigon.tools.enable.EnableCommand;

/** The commands that tell NCCL of Trigon: by a shell's variables, and by NCCL's files. */
public final class NcclCommands {

    private NcclCommands() {}

    /** New ones, each for that machine and that console. */
    public static List<Object> of(Machine machine, Console console) {
        return List.of(
                new EnvCommand(machine, console),
                new EnableCommand(machine, console),
                new DisableCommand(machine, console));
    }
}
