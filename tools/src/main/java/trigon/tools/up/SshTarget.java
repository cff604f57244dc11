package trigon.tools.up;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import trigon.tools.nodes.ReachOptions;

/**
 * Where ssh connects to for a node, as {@code ssh -G} says.
 *
 * @param key name by which the file of known hosts has it
 * @param knownHosts that file
 * @param isProxied true if another host or program connects
 */
record SshTarget(String host, int port, String key, Path knownHosts, boolean isProxied) {

    private static final int USUAL_PORT = 22;
    private static final int SECONDS = 10;
    private static final int MAX_BYTES = 1 << 20;

    /** Asks ssh of this machine, which connects to nothing for it. */
    static SshTarget of(ReachOptions reach, String node, Path home) throws IOException {
        List<String> command = new ArrayList<>(reach.via());
        command.addAll(List.of("-G", node));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return read(text, node, home);
    }

    /** Reads what it has printed: a name and its value in each line. */
    static SshTarget read(String text, String node, Path home) {
        Map<String, String> settings = new HashMap<>();
        text.lines()
                .map(line -> line.split(" ", 2))
                .filter(words -> words.length == 2)
                .forEach(words -> settings.putIfAbsent(words[0], words[1].strip()));
        String host = settings.getOrDefault("hostname", node);
        String port = settings.getOrDefault("port", "");
        int number = port.matches("\\d{1,5}") ? Integer.parseInt(port) : USUAL_PORT;
        String alias = settings.getOrDefault("hostkeyalias", "");
        String files = settings.getOrDefault("userknownhostsfile", "~/.ssh/known_hosts");
        boolean isProxied = List.of("proxyjump", "proxycommand").stream()
                .anyMatch(name -> !settings.getOrDefault(name, "none").equals("none"));
        return new SshTarget(
                host,
                number,
                !alias.isEmpty() ? alias : number == USUAL_PORT ? host : "[%s]:%d".formatted(host, number),
                Path.of(files.split(" ", 2)[0].replaceFirst("^~", Matcher.quoteReplacement(home.toString()))),
                isProxied);
    }
}
