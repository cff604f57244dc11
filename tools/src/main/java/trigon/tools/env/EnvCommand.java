package trigon.tools.env;

import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.tools.console.Console;
import trigon.tools.diagnosis.Diagnosis;
import trigon.tools.diagnosis.Finding;
import trigon.tools.machine.Machine;

/** {@code trigon env}: what a shell evaluates before it starts a job. */
@Command(
        name = "env",
        description = {
            "Print the exports with which NCCL uses Trigon.",
            "Evaluate them: eval \"$(trigon env)\"",
            "Warns on standard error about settings in the environment or in NCCL's files that contradict these."
        })
public final class EnvCommand implements Callable<Integer> {

    /** Findings of what the exports replace, if the environment has it. */
    private static final Set<String> SET_ANEW = Set.of("nccl-net-other", "nccl-plugin-other", "nccl-plugin-missing");

    private final Machine machine;
    private final Console console;

    @Option(
            names = "--library-path",
            description = "For NCCL 2.20 and 2.21, which take no path in NCCL_NET_PLUGIN: set it to a name, and"
                    + " LD_LIBRARY_PATH.")
    private boolean libraryPath;

    public EnvCommand(Machine machine, Console console) {
        this.machine = machine;
        this.console = console;
    }

    @Override
    public Integer call() {
        Path library = machine.homeFor("env").resolve("lib");
        if (libraryPath) {
            export("LD_LIBRARY_PATH", quoted(library) + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}");
            export("NCCL_NET_PLUGIN", "trigon");
        } else {
            export("NCCL_NET_PLUGIN", quoted(library.resolve("libnccl-net-trigon.so")));
        }
        export("NCCL_NET", "Trigon");
        export("NCCL_NET_PLUGIN_REF_COUNT", "1");
        for (Finding each : Diagnosis.ofNcclSettings(machine)) {
            console.note(each.evidence() + ": " + each.what()
                    + (SET_ANEW.contains(each.code()) ? "; these exports override it" : ""));
        }
        return 0;
    }

    private void export(String name, String value) {
        console.out().println("export " + name + "=" + value);
    }

    /** A word for the shell, whatever is in the path. */
    private static String quoted(Path path) {
        String text = path.toString();
        return text.matches("[\\w./+@-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
