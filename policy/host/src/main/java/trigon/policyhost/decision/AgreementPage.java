package trigon.policyhost.decision;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page of shared memory that the ranks of a communicator have in common while they agree. It begins as zeros.
 * Safe between threads and between processes.
 */
final class AgreementPage {

    private static final Logger log = LoggerFactory.getLogger(AgreementPage.class);

    static final int OPEN = 0;
    static final int AGREED = 1;
    static final int TOO_FEW = 2;
    static final int DIFFERENT_POLICIES = 3;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long VERDICT = 0;
    private static final long FIRST = 4;
    private static final long WRITTEN = 8;
    private static final long JOINED = 12;
    private static final long POLICY = 16;
    private static final long TABLE = 64;
    private static final long BYTES = TABLE + (long) Long.BYTES * DecisionTable.ENTRIES;

    private final Path file;
    private final MemorySegment page;

    private AgreementPage(Path file, MemorySegment page) {
        this.file = file;
        this.page = page;
    }

    /**
     * The page of a communicator, made if it is not there.
     *
     * @throws IOException if it cannot be had, or belongs to somebody else
     */
    static AgreementPage open(Path directory, Communicator communicator, Arena arena) throws IOException {
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path file = directory.resolve(
                "trigon-agreement-1-%s-%x-%d".formatted(user, communicator.id(), communicator.ranks()));
        try (FileChannel channel = FileChannel.open(
                file,
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            MemorySegment page = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
            AgreementPage opened = new AgreementPage(file, page);
            opened.checkOwner(user);
            opened.allocate();
            return opened;
        }
    }

    private void checkOwner(Object user) throws IOException {
        try {
            if (!Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(user)) {
                throw new IOException(file + " belongs to another user: remove it");
            }
        } catch (NoSuchFileException e) {
            log.debug("{} was settled and deleted by its owner, who is this user", file);
        }
    }

    /** Writes, without changing anything, so that a lack of memory shows before this rank has a part in it. */
    private void allocate() throws IOException {
        try {
            var _ = (int) INT.getAndAdd(page, VERDICT, 0);
        } catch (InternalError e) {
            throw new IOException("no memory for " + file, e);
        }
    }

    /** Whether this rank is the one to write; true once. */
    boolean isFirst() {
        return INT.compareAndSet(page, FIRST, 0, 1);
    }

    void write(long policy, long[] table) {
        page.set(ValueLayout.JAVA_LONG, POLICY, policy);
        MemorySegment.copy(table, 0, page, ValueLayout.JAVA_LONG, TABLE, table.length);
        INT.setRelease(page, WRITTEN, 1);
    }

    boolean isWritten() {
        return (int) INT.getAcquire(page, WRITTEN) != 0;
    }

    long policy() {
        return page.get(ValueLayout.JAVA_LONG, POLICY);
    }

    long[] table() {
        return page.asSlice(TABLE).toArray(ValueLayout.JAVA_LONG);
    }

    /** One more rank is for it; the last one settles it. */
    void join(int ranks) {
        if ((int) INT.getAndAdd(page, JOINED, 1) + 1 == ranks) {
            settle(AGREED);
        }
    }

    int joined() {
        return (int) INT.getAcquire(page, JOINED);
    }

    /** Settles it, unless it is settled; and takes its name away, which nobody needs who has it open. */
    void settle(int verdict) {
        if (INT.compareAndSet(page, VERDICT, OPEN, verdict)) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                log.info("{} is left over and may be deleted: {}", file, e.toString());
            }
        }
    }

    int verdict() {
        return (int) INT.getAcquire(page, VERDICT);
    }
}
