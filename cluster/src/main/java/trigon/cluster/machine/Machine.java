package trigon.cluster.machine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.json.Json;
import trigon.system.file.Folder;
import trigon.system.file.ProcessUsers;

/**
 * This machine's files and this process's environment; tests make their own. Thread-safe.
 *
 * @param root below which {@code sys}, {@code proc}, {@code dev} and {@code etc} are
 * @param environment of this process
 * @param hostName of this machine
 * @param version of the distribution
 * @param home the distribution's folder; empty if it is not known
 */
public record Machine(
        Path root, Map<String, String> environment, String hostName, String version, Optional<Path> home) {

    private static final int MAX_BYTES = 16 << 20;

    /** Fields of passwd(5). */
    private static final int USER_FIELD = 2;

    private static final int HOME_FIELD = 5;

    public Machine {
        environment = Map.copyOf(environment);
    }

    /** A document of that schema of JSON, which begins with this program's version and the host. */
    public Map<String, Object> document(String schema) {
        return Json.object("schema", schema, "version", version, "host", hostName);
    }

    /** For example {@code /sys/class/net}. */
    public Path file(String path) {
        return root.resolve(path.startsWith("/") ? path.substring(1) : path);
    }

    /**
     * The home folder of this user's password entry, which {@code HOME} need not name; empty if there is none. Users of
     * directory services have an entry that only getpwuid(3) finds; Java has asked it.
     */
    public Optional<Path> passwordHome() {
        String user;
        try {
            user = Integer.toString(ProcessUsers.own());
        } catch (IOException _) { // no /proc
            return Optional.empty();
        }
        Optional<String> entry = text(file("etc/passwd")).stream()
                .flatMap(String::lines)
                .map(line -> line.split(":", -1))
                .filter(fields -> fields.length > HOME_FIELD && fields[USER_FIELD].equals(user))
                .map(fields -> fields[HOME_FIELD])
                .findFirst();
        Optional<String> ofJava =
                root.equals(Path.of("/")) ? Optional.ofNullable(System.getProperty("user.home")) : Optional.empty();
        return entry.or(() -> ofJava).filter(home -> home.startsWith("/")).map(Path::of);
    }

    /** Variables that a job of this environment has once NCCL has read its files, as its newest version does. */
    public Map<String, String> environmentOfJob() {
        Map<String, String> variables = new HashMap<>(environment);
        for (NcclFile file : NcclFile.of(this)) {
            if (!file.readers().contains("before")) {
                file.lines().forEach(line -> variables.putIfAbsent(line.name(), line.value()));
            }
        }
        return variables;
    }

    /** The first line of a file, without blanks around it; empty where it cannot be read or is empty. */
    public static Optional<String> line(Path file) {
        return text(file)
                .map(text -> text.lines().findFirst().orElse("").strip())
                .filter(text -> !text.isEmpty());
    }

    /** The first {@value #MAX_BYTES} bytes of a file, as text; empty where it cannot be read. */
    public static Optional<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8));
        } catch (IOException _) {
            return Optional.empty(); // the kernel refuses many of them for interfaces that are down
        }
    }

    /** A file's number; empty where it has none. */
    public static Optional<Long> number(Path file) {
        try {
            return line(file).map(Long::parseLong);
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    /** Lists a folder, by name; none if it is not there. */
    public static List<Path> entries(Path folder) {
        try {
            return Folder.entries(folder);
        } catch (IOException _) {
            return List.of();
        }
    }

    /** The name of what a symbolic link leads to, as of a driver. */
    public static Optional<String> target(Path link) {
        try {
            return Optional.of(link.toRealPath().getFileName().toString());
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
