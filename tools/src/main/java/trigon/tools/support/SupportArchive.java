package trigon.tools.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import trigon.cluster.machine.Redaction;

/** A zip file whose entries are texts, each without secrets; its owner alone may read it. One thread. */
final class SupportArchive implements AutoCloseable {

    static final int MAX_LOG_BYTES = 1 << 22;

    private final ZipOutputStream zip;
    private final Redaction redaction;
    private final FileTime time;

    /** @throws IOException if the file is there already, or cannot be made */
    SupportArchive(Path file, Redaction redaction, Instant time) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        this.zip = new ZipOutputStream(Files.newOutputStream(file), StandardCharsets.UTF_8);
        this.redaction = redaction;
        this.time = FileTime.from(time);
    }

    /** Adds a file with that text; secrets in its name and its text are replaced. */
    void add(String name, String text) throws IOException {
        ZipEntry entry = new ZipEntry(redaction.of(name));
        entry.setLastModifiedTime(time);
        zip.putNextEntry(entry);
        zip.write(redaction.of(text).getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
    }

    /** Adds the last part of a file, from the beginning of a line on. */
    void addEnd(String name, Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long from = Math.max(0, channel.size() - MAX_LOG_BYTES);
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MAX_LOG_BYTES, channel.size()));
            channel.position(from);
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until it is full, or the file has become shorter
            }
            String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
            // a secret that the cut has halved would not be known
            add(name, from == 0 ? text : text.substring(text.indexOf('\n') + 1));
        }
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
