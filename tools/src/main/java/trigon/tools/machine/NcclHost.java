package trigon.tools.machine;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import trigon.tools.console.CommandFailure;

/**
 * The distribution's nccl-host, a C program that calls the plugin as NCCL does. Thread-safe.
 *
 * @param program nccl-host
 * @param plugin the library that it loads
 */
public record NcclHost(Path program, Path plugin) {

    private static final File NOTHING = new File("/dev/null");

    /** Finds it in the distribution in that folder. */
    public static NcclHost of(Path home) {
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
     * @param within words that start it in its place, such as {@code ip netns exec a}; empty for here
     * @param options besides the plugin
     * @param environment all of it
     * @param output gets its output
     * @param errors gets its standard error; may be the same file
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
