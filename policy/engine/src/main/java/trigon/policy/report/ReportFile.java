package trigon.policy.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
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
        byte[] text = ReportText.of(report).getBytes(StandardCharsets.UTF_8);
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
                ? Optional.of(ReportText.parse(new String(text, StandardCharsets.UTF_8)))
                : Optional.empty();
    }

    private static long checksum(byte[] bytes, int length) {
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, length);
        return crc.getValue();
    }
}
