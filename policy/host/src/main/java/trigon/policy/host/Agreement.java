package trigon.policy.host;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import trigon.system.NanoClock;

/**
 * The ranks of one node agree on one table of decisions when their communicator starts, over a page of shared memory.
 * The rank that comes first writes its table; the last one to come settles that all take it. A rank whose wait is over
 * settles that none does. The page is settled once, so all ranks have the same answer, and who comes later has it too.
 */
final class Agreement {

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(1);

    private final Path directory;
    private final Duration patience;
    private final NanoClock clock;

    /** The result, the same on all ranks that took part. */
    sealed interface Outcome {
        /** All ranks decide by this. */
        record Agreed(DecisionTable table) implements Outcome {}

        /** No rank does: only so many of them came in time. */
        record TooFew(int came) implements Outcome {}

        /** No rank does: they have different policies. */
        record DifferentPolicies() implements Outcome {}
    }

    /**
     * An agreement over pages of one folder.
     *
     * @param directory of a file system in memory that all processes of the node have
     * @param patience how long a rank waits for the others
     */
    Agreement(Path directory, Duration patience) {
        this(directory, patience, NanoClock.SYSTEM);
    }

    /** An agreement by another clock, for tests. */
    Agreement(Path directory, Duration patience, NanoClock clock) {
        this.directory = directory;
        this.patience = patience;
        this.clock = clock;
    }

    /**
     * Agrees with the communicator's other ranks, each of which has to call this once. Blocks.
     *
     * @param policy what has to be the same on all ranks, 16 hexadecimal digits or more, of which those are compared
     * @param own this rank's own table, asked for if it is the first to come
     * @throws IOException if the page cannot be had: this rank does not take part, so that none will decide
     */
    Outcome reach(PolicyCommunicator communicator, String policy, Supplier<DecisionTable> own) throws IOException {
        long deadline = clock.nanoTime() + patience.toNanos();
        long digest = Long.parseUnsignedLong(policy, 0, Long.BYTES * 2, 16);
        try (Arena arena = Arena.ofConfined()) {
            AgreementPage page = AgreementPage.open(directory, communicator, arena);
            if (page.isFirst()) {
                page.write(digest, own.get().entries());
            }
            boolean hasJoined = false;
            while (page.verdict() == AgreementPage.OPEN) {
                if (!hasJoined && page.isWritten()) {
                    hasJoined = true;
                    if (page.policy() == digest) {
                        page.join(communicator.ranks());
                    } else {
                        page.settle(AgreementPage.DIFFERENT_POLICIES);
                    }
                } else if (clock.nanoTime() - deadline >= 0 || !sleep()) {
                    page.settle(AgreementPage.TOO_FEW);
                }
            }
            return switch (page.verdict()) {
                case AgreementPage.AGREED -> new Outcome.Agreed(DecisionTable.of(page.table()));
                case AgreementPage.DIFFERENT_POLICIES -> new Outcome.DifferentPolicies();
                default -> new Outcome.TooFew(page.joined());
            };
        }
    }

    /** Tells whether it was not interrupted. */
    private static boolean sleep() {
        try {
            TimeUnit.NANOSECONDS.sleep(BETWEEN_LOOKS.toNanos());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
