package trigon.tools.command;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;

/** A command, with the machine that it looks at and the console that it writes to. One thread. */
public abstract class ToolCommand implements Callable<Integer> {

    protected final Machine machine;
    protected final Console console;

    @Spec
    protected CommandSpec spec = CommandSpec.create(); // until picocli has set it

    protected ToolCommand(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
    }

    /** The failure of a wrong option or parameter: the program prints it, and exits with 2. */
    protected ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /**
     * Folder of the distribution, for a command that needs one.
     *
     * @throws CommandFailure if it is unknown
     */
    protected Path home() {
        return machine.home()
                .orElseThrow(() -> new CommandFailure(spec.name()
                        + " needs a distribution: run bin/trigon in a distribution, or ./trigon in a checkout"));
    }

    /** Prints a JSON document of that schema, which begins with this program's version and the host. */
    protected void printJson(String schema, Map<String, Object> content) {
        Map<String, Object> document = machine.document(schema);
        document.putAll(content);
        console.out().print(Json.text(document));
    }
}
