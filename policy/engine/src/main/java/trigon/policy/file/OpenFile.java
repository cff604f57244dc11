package trigon.policy.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A file that is open for reading, with what the kernel says of the open file itself: another file may have its name by
 * now. The file's position is not used. One thread.
 */
public final class OpenFile implements AutoCloseable {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path DESCRIPTOR_FACTS = Path.of("/proc/self/fdinfo");

    /** Every file system takes such positions, beyond the end of the file, too. */
    private static final long POSITIONS = 1L << 40;

    private static final int WRITABLE_BY_OTHERS = 0022;

    private final FileChannel channel;
    private final int owner;
    private final int mode;

    private OpenFile(FileChannel channel, int owner, int mode) {
        this.channel = channel;
        this.owner = owner;
        this.mode = mode;
    }

    /** @throws IOException if it cannot be opened, or is no regular file, as a pipe */
    public static OpenFile open(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new IOException("it is not a regular file");
        }
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
        try {
            Map<String, Object> facts = Files.readAttributes(descriptor(channel), "unix:uid,mode,isRegularFile");
            if (!Boolean.TRUE.equals(facts.get("isRegularFile"))) {
                throw new IOException("it is not a regular file");
            }
            return new OpenFile(channel, number(facts, "uid"), number(facts, "mode"));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static int number(Map<String, Object> facts, String name) throws IOException {
        if (facts.get(name) instanceof Integer number) {
            return number;
        }
        throw new IOException("the kernel does not say its " + name);
    }

    /** Java does not tell a descriptor's number: it is the one with the position that the file is set to. */
    private static Path descriptor(FileChannel channel) throws IOException {
        long position = ThreadLocalRandom.current().nextLong(1, POSITIONS);
        channel.position(position);
        String wanted = "pos:\t" + position;
        try (DirectoryStream<Path> each = Files.newDirectoryStream(DESCRIPTOR_FACTS)) {
            for (Path facts : each) {
                if (firstLine(facts).equals(wanted)) {
                    return DESCRIPTORS.resolve(facts.getFileName());
                }
            }
        }
        throw new IOException("it is not among the open files of this process");
    }

    private static String firstLine(Path file) {
        try {
            return Files.readString(file).lines().findFirst().orElse("");
        } catch (IOException e) {
            return ""; // closed meanwhile, maybe between the open and the read, which is no NoSuchFileException
        }
    }

    /** The user that it belongs to. */
    public int owner() {
        return owner;
    }

    /** Whether others than its owner may write to it. */
    public boolean isWritableByOthers() {
        return (mode & WRITABLE_BY_OTHERS) != 0;
    }

    public long size() throws IOException {
        return channel.size();
    }

    /** What it starts with, at most so many bytes. */
    public byte[] read(int most) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(most);
        int count = 0;
        while (count >= 0 && content.hasRemaining()) {
            count = channel.read(content, content.position());
        }
        byte[] bytes = new byte[content.position()];
        content.get(0, bytes);
        return bytes;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
