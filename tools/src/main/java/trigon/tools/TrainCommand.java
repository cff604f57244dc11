package trigon.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import trigon.tools.machine.Machine;

/** {@code trigon train}: the distribution's own scripts make what speeds up its starts. */
@Command(
        name = "train",
        description = {
            "Make the AOT caches, by which processes start faster.",
            "They are lib/*.aot of the distribution, and halve the time of a start. A distribution that was built"
                    + " on its own kind of processor has them. One for another processor gets them here, on a"
                    + " machine of that kind: once, before the folder is copied to the others. Takes some 20 s."
        })
final class TrainCommand implements Callable<Integer> {

    private final Machine machine;

    TrainCommand(Machine machine) {
        this.machine = machine;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path training = machine.homeFor("train").resolve("libexec/training");
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
