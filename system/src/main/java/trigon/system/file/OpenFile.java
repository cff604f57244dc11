package trigon.system.file;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import trigon.system.Errno;
import trigon.system.NativeFunction;

/**
 * A regular file that is open, with what the kernel says of the open file itself: another file may have its name by
 * now, or none. Safe for files of strangers: opening one never waits, as it would for a pipe without a writer, and
 * reading one takes no more memory than the caller allows. One thread.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/open.2.html">open(2)</a>
 */
public final class OpenFile implements AutoCloseable {

    /** O_RDONLY with O_NOCTTY, O_NONBLOCK and O_CLOEXEC, which are alike on x86-64 and arm64: asm-generic/fcntl.h. */
    private static final int FLAGS = 0x100 | 0x800 | 0x80000;

    private static final boolean IS_ARM64 = System.getProperty("os.arch").equals("aarch64");

    /** O_RDWR with O_CREAT, and O_NOFOLLOW, which is another one on arm64: arch/arm64/include/uapi/asm/fcntl.h. */
    private static final int WRITE_FLAGS = FLAGS | 0x2 | 0x40 | (IS_ARM64 ? 0x8000 : 0x20000);

    /** Mode of a file that is created. */
    private static final int OWNER_ALONE = 0600;

    private static final int WRITABLE_BY_OTHERS = 0022;

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private final FileChannel channel;
    private final Path path;
    private final int owner;
    private final int mode;
    private final Object key;

    private OpenFile(FileChannel channel, Path path, int owner, int mode, Object key) {
        this.channel = channel;
        this.path = path;
        this.owner = owner;
        this.mode = mode;
        this.key = key;
    }

    /**
     * Opens it for reading.
     *
     * @throws IOException if it cannot be opened, or is no regular file, as a pipe or a folder
     */
    public static OpenFile open(Path path) throws IOException {
        return open(path, FLAGS, Set.of(StandardOpenOption.READ));
    }

    /**
     * Opens it for reading and writing; makes it, for this user alone, if it is not there.
     *
     * @throws IOException as {@link #open}, and if its name is that of a link
     */
    public static OpenFile openOrMake(Path path) throws IOException {
        return open(path, WRITE_FLAGS, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    private static OpenFile open(Path path, int flags, Set<StandardOpenOption> options) throws IOException {
        int descriptor = open(path, flags);
        if (descriptor < 0) {
            throw failure(path, -descriptor);
        }
        try {
            return of(path, DESCRIPTORS.resolve(Integer.toString(descriptor)), options);
        } finally {
            Descriptors.close(descriptor);
        }
    }

    private static IOException failure(Path path, int errno) {
        return switch (errno) {
            case Errno.ENOENT -> new NoSuchFileException(path.toString());
            case Errno.EACCES, Errno.EPERM -> new AccessDeniedException(path.toString());
            default -> new FileSystemException(path.toString(), null, Errno.name(errno));
        };
    }

    /** The file that a descriptor of this process is open on, which nobody can replace. */
    private static OpenFile of(Path path, Path descriptor, Set<StandardOpenOption> options) throws IOException {
        Map<String, Object> facts = Files.readAttributes(descriptor, "unix:uid,mode,isRegularFile,fileKey");
        if (!Boolean.TRUE.equals(facts.get("isRegularFile"))) {
            throw new IOException(path + " is not a regular file");
        }
        FileChannel channel = FileChannel.open(descriptor, options);
        return new OpenFile(channel, path, (int) fact(facts, "uid"), (int) fact(facts, "mode"), fact(facts, "fileKey"));
    }

    private static Object fact(Map<String, Object> facts, String name) throws IOException {
        Object fact = facts.get(name);
        if (fact == null) {
            throw new IOException("the kernel does not say a file's " + name);
        }
        return fact;
    }

    public Path path() {
        return path;
    }

    /** The key that tells it from all other files. */
    public Object key() {
        return key;
    }

    /** The user that it belongs to, by number. */
    public int owner() {
        return owner;
    }

    /** Returns whether others than its owner may write to it. */
    public boolean isWritableByOthers() {
        return (mode & WRITABLE_BY_OTHERS) != 0;
    }

    /** In bytes, as of now: others may write to the file. */
    public long size() throws IOException {
        return channel.size();
    }

    /** Reads its beginning, at most so many bytes. */
    public byte[] read(int most) throws IOException {
        return read(0, most);
    }

    /** Reads from that byte on, at most so many bytes. */
    public byte[] read(long from, int most) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(Math.clamp(channel.size() - from, 0, most));
        int count = 0;
        while (count >= 0 && content.hasRemaining()) {
            count = channel.read(content, from + content.position());
        }
        byte[] bytes = new byte[content.position()];
        content.get(0, bytes);
        return bytes;
    }

    /** All of it, from its begin on; to be closed with this. */
    public InputStream stream() {
        return Channels.newInputStream(channel);
    }

    /**
     * Its first bytes, as memory that is shared with all who have mapped them; the file is made as long as that.
     *
     * @param arena until whose end they are mapped; this may be closed before
     */
    public MemorySegment map(long bytes, Arena arena) throws IOException {
        return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Returns the descriptor, or the negative errno: Java opens no file without waiting for it. */
    private static int open(Path path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            return Calls.OPEN.intOrErrno(arena.allocateFrom(path.toString()).address(), flags, OWNER_ALONE);
        }
    }

    /** Looked up when the first file is opened so. */
    private static final class Calls {

        private static final NativeFunction OPEN = NativeFunction.of("open");

        private Calls() {}
    }
}
