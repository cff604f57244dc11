package trigon.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;

/** {@code trigon train}: the distribution's own scripts make what speeds up its starts. */
@Command(
        name = "train",
        description = {
            "Create the AOT caches, which halve start-up time.",
            "They are lib/*.aot in the distribution. A distribution built on its own kind of processor already has"
                    + " them. For one built elsewhere, run this once on a machine with the target processor,"
                    + " before you copy the folder to other nodes. Takes about 20 s."
        })
final class TrainCommand extends ToolCommand {

    TrainCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path training = home().resolve("libexec/training");
        int status = 0;
        for (String script : List.of("train.sh", "train-tools.sh")) {
            if (status == 0) {
                ProcessBuilder builder =
                        new ProcessBuilder(training.resolve(script).toString());
                status = builder.inheritIO().start().waitFor();
            }
        }
        return status;
    }
}
