package trigon.tools.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclLibrary;
import trigon.system.PrintableText;
import trigon.system.file.OpenFile;

/**
 * A process, as described in {@code /proc} (proc(5)). Facts that this user cannot read are empty.
 *
 * @param pid its number
 * @param program its name
 * @param commandLine its words
 * @param environment as it was when the program began
 * @param mapped files with executable mappings
 */
public record ProcessFacts(
        long pid, String program, List<String> commandLine, Map<String, String> environment, List<String> mapped) {

    /** The kernel's suffix for a mapped file that was removed or replaced. */
    public static final String DELETED = " (deleted)";

    private static final Pattern NCCL = Pattern.compile("lib[nr]ccl\\.so(\\.[0-9.]+)?");
    private static final Pattern TRIGON = Pattern.compile("libnccl-(net|tuner)-trigon\\.so.*");
    private static final Pattern CODE = Pattern.compile("^\\S+ ..x. \\S+ \\S+ \\d+\\s+(/.*)$");

    /** The most libraries of each kind that are examined: a stranger may have mapped any number. */
    private static final int MAX_LIBRARIES = 4;

    private static final int MAX_OF_A_RELEASE = 1 << 12;

    public ProcessFacts {
        commandLine = List.copyOf(commandLine);
        environment = Map.copyOf(environment);
        mapped = List.copyOf(mapped);
    }

    /** Reads the facts of a running process. */
    public static ProcessFacts of(Machine machine, long pid) {
        Path folder = machine.file("/proc/" + pid);
        Map<String, String> environment = new TreeMap<>();
        for (String variable : words(folder.resolve("environ"))) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                environment.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        Set<String> mapped = new LinkedHashSet<>();
        Machine.text(folder.resolve("maps"))
                .ifPresent(text -> text.lines().forEach(line -> {
                    Matcher matcher = CODE.matcher(line);
                    if (matcher.matches()) {
                        mapped.add(matcher.group(1));
                    }
                }));
        return new ProcessFacts(
                pid,
                PrintableText.of(Machine.line(folder.resolve("comm")).orElse("?")),
                words(folder.resolve("cmdline")),
                environment,
                List.copyOf(mapped));
    }

    private static List<String> words(Path file) {
        Optional<String> text = Machine.text(file);
        if (text.isEmpty()) {
            return List.of(); // another user's, or it has ended
        }
        List<String> words = new ArrayList<>(List.of(text.get().split("\0", -1)));
        if (words.getLast().isEmpty()) {
            words.removeLast();
        }
        return words;
    }

    /** Mapped libraries with NCCL's name, or RCCL's. A program with NCCL linked in has none. */
    public List<String> nccl() {
        return named(NCCL);
    }

    /** Mapped libraries that are Trigon. */
    public List<String> trigon() {
        return named(TRIGON);
    }

    private List<String> named(Pattern name) {
        return mapped.stream()
                .filter(file -> name.matcher(nameOf(file)).matches())
                .limit(MAX_LIBRARIES)
                .toList();
    }

    private static String nameOf(String file) {
        String whole = file.endsWith(DELETED) ? file.substring(0, file.length() - DELETED.length()) : file;
        return whole.substring(whole.lastIndexOf('/') + 1);
    }

    /** NCCL's version, from the library itself or else from its file name; empty if neither has it. */
    public static Optional<String> ncclVersion(Machine machine, String library) {
        return NcclLibrary.version(machine, library);
    }

    /** Beside a stranger's library, the file may be anything, even a pipe without a writer. */
    private static Optional<String> release(Path file) {
        try (OpenFile release = OpenFile.open(file)) {
            return Optional.of(new String(release.read(MAX_OF_A_RELEASE), StandardCharsets.UTF_8));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /** Trigon's version, from the library's distribution; empty without one. */
    public static Optional<String> trigonVersion(Machine machine, String library) {
        Path folder = machine.file(library).getParent();
        return Optional.ofNullable(folder)
                .flatMap(lib -> release(lib.resolveSibling("release")))
                .flatMap(ProcessFacts::versionIn);
    }

    /** Trigon's version in the text of a distribution's file {@code release}. */
    public static Optional<String> versionIn(String release) {
        return release.lines()
                .filter(line -> line.startsWith("TRIGON_VERSION="))
                .map(line -> PrintableText.of(line.replaceAll("^.*=|\"", "")))
                .findFirst();
    }
}
