package trigon.tools.env;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.Console;
import trigon.tools.console.ShellWord;

/** {@code trigon env}: what a shell evaluates before it starts a job. */
@Command(
        name = "env",
        description = {
            "Print the exports with which NCCL uses Trigon.",
            "Evaluate them: eval \"$(trigon env)\". After \"trigon enable\", jobs need none.",
            "Warns on standard error about settings in the environment or in NCCL's files that contradict these."
        })
public final class EnvCommand extends ToolCommand {

    /** Findings of what the exports replace, if the environment has it. */
    private static final Set<String> SET_ANEW = Set.of("nccl-net-other", "nccl-plugin-other", "nccl-plugin-missing");

    @Option(
            names = "--library-path",
            description = "For NCCL 2.20, which takes no path in NCCL_NET_PLUGIN: set it to a name, and"
                    + " LD_LIBRARY_PATH.")
    private boolean libraryPath;

    @Option(names = "--json", description = "The variables and the warnings as JSON, schema trigon.env/1.")
    private boolean json;

    public EnvCommand(Machine machine, Console console) {
        super(machine, console);
    }

    @Override
    public Integer call() {
        Path library = home().resolve("lib");
        Map<String, String> variables = variables(library);
        List<Finding> findings = Diagnosis.ofNcclSettings(machine);
        if (json) {
            printJson(
                    "trigon.env/1",
                    Json.object(
                            "variables",
                            variables,
                            "findings",
                            findings.stream().map(Finding::json).toList()));
            return 0;
        }
        if (libraryPath) {
            export("LD_LIBRARY_PATH", ShellWord.of(library.toString()) + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}");
            variables.remove("LD_LIBRARY_PATH");
        }
        variables.forEach((name, value) -> export(name, ShellWord.of(value)));
        for (Finding each : findings) {
            console.note(each.evidence() + ": " + each.what()
                    + (SET_ANEW.contains(each.code()) ? "; these exports override it" : ""));
        }
        return 0;
    }

    private Map<String, String> variables(Path library) {
        Map<String, String> variables = new LinkedHashMap<>();
        if (libraryPath) {
            String others = machine.environment().getOrDefault("LD_LIBRARY_PATH", "");
            variables.put("LD_LIBRARY_PATH", others.isEmpty() ? library.toString() : library + ":" + others);
        }
        variables.put(
                "NCCL_NET_PLUGIN",
                libraryPath
                        ? "trigon"
                        : library.resolve("libnccl-net-trigon.so").toString());
        variables.put("NCCL_NET", "Trigon");
        variables.put("NCCL_NET_PLUGIN_REF_COUNT", "1");
        return variables;
    }

    private void export(String name, String value) {
        console.out().println("export " + name + "=" + value);
    }
}
