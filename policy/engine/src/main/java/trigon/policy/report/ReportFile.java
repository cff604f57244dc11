package trigon.policy.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import trigon.policy.report.PolicyReport.Entry;
import trigon.policy.report.PolicyReport.MapContent;
import trigon.policy.report.PolicyReport.Stopped;
import trigon.policy.report.PolicyReport.Tuner;
import trigon.system.PrintableText;
import trigon.system.file.Folder;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;

/**
 * A process's report in a file without a name, so that nothing is left behind however the process ends. Others read it
 * by the process's descriptor. A checksum tells them that it is whole.
 */
public final class ReportFile implements AutoCloseable {

    private static final String PREFIX = "trigon-policy-";

    /** As proc(5) names it; the jar of this class begins alike. */
    private static final Pattern NAME = Pattern.compile(PREFIX + "[0-9]+ \\(deleted\\)");

    private static final long MAGIC = 0x0001_7963_696c_6f70L; // "policy", and a version
    private static final int HEADER_BYTES = 24;
    private static final int MAX_BYTES = 1 << 20;
    private static final int ATTEMPTS = 100;
    private static final String TAB = "\t";

    private final FileChannel channel;

    private ReportFile(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * A file of this process's.
     *
     * @param directory where it is made for a moment; of a file system in memory
     */
    public static ReportFile create(Path directory) throws IOException {
        Path file = Files.createTempFile(directory, PREFIX, "");
        try {
            return new ReportFile(FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
        } finally {
            Files.delete(file);
        }
    }

    /** Replaces what it says. */
    public void write(PolicyReport report) throws IOException {
        byte[] text = text(report).getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_BYTES);
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + length);
        buffer.putLong(MAGIC).putLong(length).putLong(checksum(text, length)).put(text, 0, length);
        buffer.flip();
        long at = 0;
        while (buffer.hasRemaining()) {
            at += channel.write(buffer, at);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /**
     * Reads a process's report; empty if it has no policy.
     *
     * @param process its folder in {@code /proc}
     * @throws IOException if it may not be looked into, is gone, or says what no process with a policy does
     */
    public static Optional<PolicyReport> read(Path process) throws IOException {
        int user = ProcessUsers.of(process).getFirst();
        for (Path descriptor : Folder.entries(process.resolve("fd"))) {
            if (isReport(descriptor)) {
                return Optional.of(readFile(descriptor, user));
            }
        }
        return Optional.empty();
    }

    private static boolean isReport(Path descriptor) throws IOException {
        try {
            Path target = Files.readSymbolicLink(descriptor).getFileName();
            return target != null && NAME.matcher(target.toString()).matches();
        } catch (NoSuchFileException e) {
            return false; // closed meanwhile
        }
    }

    /** A file of another user's may have been handed to the process. */
    private static PolicyReport readFile(Path path, int user) throws IOException {
        try (OpenFile file = OpenFile.open(path)) {
            if (file.owner() != user) {
                throw new IOException(path + " is a report of another user");
            }
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                Optional<PolicyReport> report = readOnce(file);
                if (report.isPresent()) {
                    return report.get();
                }
                Thread.onSpinWait();
            }
        }
        throw new IOException(path + " is no report of this version of Trigon: use the tools of the same version");
    }

    /** Empty while it is being written. */
    private static Optional<PolicyReport> readOnce(OpenFile file) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(file.read(HEADER_BYTES + MAX_BYTES));
        if (buffer.remaining() < HEADER_BYTES || buffer.getLong() != MAGIC) {
            return Optional.empty();
        }
        long length = buffer.getLong();
        long checksum = buffer.getLong();
        if (length < 0 || length > buffer.remaining()) {
            return Optional.empty();
        }
        byte[] text = new byte[(int) length];
        buffer.get(text);
        return checksum == checksum(text, text.length)
                ? Optional.of(parse(new String(text, StandardCharsets.UTF_8)))
                : Optional.empty();
    }

    private static long checksum(byte[] bytes, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, length);
        return crc.getValue();
    }

    /** The report: a line for each fact, its parts apart by tabs. */
    static String text(PolicyReport report) {
        StringBuilder text = new StringBuilder();
        line(text, "file", report.file());
        line(text, "version", report.version());
        line(text, "digest", report.digest());
        line(text, "refused", report.refused());
        for (Stopped stopped : report.stopped()) {
            line(text, "stopped", stopped.of(), stopped.section(), Long.toString(stopped.runs()));
        }
        for (Tuner tuner : report.tuners()) {
            line(
                    text,
                    "tuner",
                    tuner.communicator(),
                    tuner.digest(),
                    Long.toString(tuner.decided()),
                    Long.toString(tuner.left()),
                    Long.toString(tuner.impossible()));
        }
        for (MapContent map : report.maps()) {
            line(text, "map", map.of(), map.name(), map.type());
            map.entries().forEach(entry -> line(text, "entry", entry.key(), entry.value()));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String... parts) {
        for (int i = 0; i < parts.length; i++) {
            text.append(i == 0 ? "" : TAB).append(parts[i].replace('\t', ' ').replace('\n', ' '));
        }
        text.append('\n');
    }

    /** @throws IOException if that is no report */
    static PolicyReport parse(String text) throws IOException {
        try {
            return parseLines(text);
        } catch (IndexOutOfBoundsException | NumberFormatException | NoSuchElementException e) {
            throw new IOException("a report with a line that no process of Trigon's writes", e);
        }
    }

    private static PolicyReport parseLines(String text) {
        Map<String, String> facts = new HashMap<>();
        List<Stopped> stopped = new ArrayList<>();
        List<Tuner> tuners = new ArrayList<>();
        List<MapContent> maps = new ArrayList<>();
        List<Entry> entries = new ArrayList<>(); // of the last map
        for (String line : text.split("\n", -1)) {
            if (line.isEmpty()) {
                continue;
            }
            String[] parts = line.split(TAB, -1);
            Arrays.setAll(parts, i -> PrintableText.of(parts[i])); // another process's words go to a terminal
            switch (parts[0]) {
                case "tuner" ->
                    tuners.add(new Tuner(parts[1], parts[2], number(parts[3]), number(parts[4]), number(parts[5])));
                case "stopped" -> stopped.add(new Stopped(parts[1], parts[2], number(parts[3])));
                case "map" -> {
                    endMap(maps, entries);
                    maps.add(new MapContent(parts[1], parts[2], parts[3], List.of()));
                }
                case "entry" -> entries.add(new Entry(parts[1], parts[2]));
                default -> facts.put(parts[0], parts[1]);
            }
        }
        endMap(maps, entries);
        return new PolicyReport(
                facts.getOrDefault("file", ""),
                facts.getOrDefault("version", ""),
                facts.getOrDefault("digest", ""),
                facts.getOrDefault("refused", ""),
                stopped,
                tuners,
                maps);
    }

    /** All entries at once: a stranger's report may have a hundred thousand of them. */
    private static void endMap(List<MapContent> maps, List<Entry> entries) {
        if (!entries.isEmpty()) {
            MapContent map = maps.removeLast();
            maps.add(new MapContent(map.of(), map.name(), map.type(), entries));
            entries.clear();
        }
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }
}
