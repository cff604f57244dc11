package trigon.tools.machine;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;

/**
 * The distribution's nccl-host, a C program that calls the plugin as NCCL does. Thread-safe.
 *
 * @param program nccl-host
 * @param plugin the library that it loads
 */
public record NcclHost(Path program, Path plugin) {

    private static final File NOTHING = new File("/dev/null");

    /** Of that machine's distribution, for a command of that name. */
    public static NcclHost of(Machine machine, String command) {
        Path home = Distribution.homeFor(command, machine);
        NcclHost host = new NcclHost(home.resolve("libexec/nccl-host"), home.resolve("lib/libnccl-net-trigon.so"));
        if (!Files.isExecutable(host.program) || !Files.isReadable(host.plugin)) {
            throw new CommandFailure(
                    "no " + host.program + " or " + host.plugin + ": this is not a complete distribution");
        }
        return host;
    }

    /**
     * Starts a process.
     *
     * @param within what starts it in its place, such as {@code ip netns exec a}; empty for here
     * @param options besides the plugin
     * @param environment all of it
     * @param output where its output goes
     * @param errors where its standard error goes; may be the same file
     */
    public Process start(
            List<String> within, List<String> options, Map<String, String> environment, Path output, Path errors)
            throws IOException {
        List<String> command = new ArrayList<>(within);
        command.addAll(List.of(program.toString(), "--plugin", plugin.toString()));
        command.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment().putAll(environment);
        if (errors.equals(output)) {
            builder.redirectErrorStream(true);
        } else {
            builder.redirectError(errors.toFile());
        }
        return builder.redirectInput(NOTHING).redirectOutput(output.toFile()).start();
    }

    /** The last lines of a log. */
    public static String end(Path log, int lines) throws IOException {
        List<String> all = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
    }
}
