package trigon.policy.host;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;

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
    static AgreementPage open(Path directory, PolicyCommunicator communicator, Arena arena) throws IOException {
        int user = ProcessUsers.own();
        String name = "trigon-agreement-1-%d-%x-%d".formatted(user, communicator.id(), communicator.ranks());
        try (OpenFile file = OpenFile.openOrMake(directory.resolve(name))) {
            return of(file, user, arena);
        }
    }

    /**
     * The page that is open, whatever has its name by now: whoever settles it deletes that.
     *
     * @param user who it has to belong to
     */
    static AgreementPage of(OpenFile file, int user, Arena arena) throws IOException {
        if (file.owner() != user) {
            throw new IOException(file.path() + " belongs to another user: remove it");
        }
        AgreementPage opened = new AgreementPage(file.path(), file.map(BYTES, arena));
        opened.allocate();
        return opened;
    }

    /** Writes, without changing anything, so that a lack of memory shows before this rank has a part in it. */
    private void allocate() throws IOException {
        try {
            var _ = (int) INT.getAndAdd(page, VERDICT, 0);
        } catch (InternalError e) {
            throw new IOException("no memory for " + file, e);
        }
    }

    /** Tells whether this rank is the one to write; true once. */
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
                log.info("{} is left over and can be deleted: {}", file, e.toString());
            }
        }
    }

    int verdict() {
        return (int) INT.getAcquire(page, VERDICT);
    }
}
