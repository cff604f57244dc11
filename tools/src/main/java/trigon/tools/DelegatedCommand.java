package trigon.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Unmatched;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.Machine;

/**
 * A command that {@code bin/trigon} has in its own script. It is here for the help, the completion and the manual, and
 * hands everything on where it is started from Java.
 */
abstract sealed class DelegatedCommand implements Callable<Integer> {

    private final Machine machine;
    private final String name;

    @Unmatched
    private final List<String> arguments = new ArrayList<>();

    @Parameters(arity = "0..*", hidden = true)
    private final List<String> more = new ArrayList<>();

    DelegatedCommand(Machine machine, String name) {
        this.machine = machine;
        this.name = name;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path script = machine.home()
                .map(home -> home.resolve("bin/trigon"))
                .filter(Files::isExecutable)
                .orElseThrow(() -> new CommandFailure(
                        name + " is a command of a distribution: run bin/trigon of one, or ./trigon of a checkout"));
        List<String> command = new ArrayList<>(List.of(script.toString(), name));
        command.addAll(more);
        command.addAll(arguments);
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    @Command(
            name = "demo",
            description =
                    "A ring all-reduce by the real plugin in three or four processes of this machine, as NCCL would"
                            + " do it. \"trigon demo --help\" has its options.")
    static final class Demo extends DelegatedCommand {
        Demo(Machine machine) {
            super(machine, "demo");
        }
    }

    @Command(
            name = "env",
            description =
                    "Prints the exports with which NCCL uses Trigon: eval \"$(trigon env)\". Says on standard error"
                            + " what is set already and contradicts. With --library-path for NCCL 2.20 and 2.21.")
    static final class Env extends DelegatedCommand {
        Env(Machine machine) {
            super(machine, "env");
        }
    }

    @Command(
            name = "train",
            description =
                    "Makes the AOT caches, by which processes start in half the time, on a machine of another kind"
                            + " than the one that built the distribution.")
    static final class Train extends DelegatedCommand {
        Train(Machine machine) {
            super(machine, "train");
        }
    }
}
