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

    private static final Pattern NCCL = Pattern.compile("libnccl\\.so(\\.[0-9.]+)?");
    private static final Pattern TRIGON = Pattern.compile("libnccl-(net|tuner)-trigon\\.so.*");
    private static final Pattern NCCL_VERSION = Pattern.compile("NCCL version (\\d+\\.\\d+\\.\\d+[\\w.+-]*)");
    private static final Pattern CODE = Pattern.compile("^\\S+ ..x. \\S+ \\S+ \\d+\\s+(/.*)$");
    private static final int PIECE_BYTES = 1 << 20;
    private static final int MAX_OF_A_VERSION = 64;
    private static final long MAX_OF_A_LIBRARY = 1L << 30;

    /** The most libraries of each kind that are examined: a stranger may have mapped any number. */
    private static final int MAX_LIBRARIES = 4;

    private static final int MAX_OF_A_RELEASE = 1 << 12;

    private static final Pattern NUMBERED = Pattern.compile("libnccl\\.so\\.(\\d+\\.\\d+\\.\\d+)");

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

    /** Mapped libraries with NCCL's name. A program with NCCL linked in has none. */
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
        Optional<String> said = said(machine.file(library));
        if (said.isPresent()) {
            return said;
        }
        Matcher numbered = NUMBERED.matcher(nameOf(library));
        return numbered.matches() ? Optional.of(numbered.group(1)) : Optional.empty();
    }

    /** Reads in pieces: the library has hundreds of megabytes, and a stranger's file may be anything. */
    private static Optional<String> said(Path file) {
        try (OpenFile library = OpenFile.open(file)) {
            long end = Math.min(library.size(), MAX_OF_A_LIBRARY);
            for (long at = 0; at < end; at += PIECE_BYTES - MAX_OF_A_VERSION) {
                String piece = new String(library.read(at, PIECE_BYTES), StandardCharsets.ISO_8859_1);
                Matcher said = NCCL_VERSION.matcher(piece);
                if (said.find()) {
                    return Optional.of(said.group(1));
                }
            }
        } catch (IOException _) {
            // not readable: by its name, then
        }
        return Optional.empty();
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
