package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.software.MoverSettings;
import trigon.software.responder.ResponderState;
import trigon.software.wire.Messages;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.CompletionQueue;
import trigon.verbs.MemoryRegion;
import trigon.verbs.WorkCompletions;

/**
 * Who sleeps and wakes up for a message, which does not depend on how fast a machine is. {@code software-test} counts
 * the system calls in C.
 */
@Timeout(180)
class SystemCallsTest {

    private static final int MESSAGES = 2000;

    /** A few are for what happens seldom, for asking the kernel, and by an event loop where this thread comes late. */
    private static final int SELDOM = MESSAGES / 5;

    private static final int LOOKS = 10_000;

    /** A half of the time between two looks of an event loop. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final String EVENT_LOOP = "trigon-software";
    private static final String MOVER = "trigon-move";

    private final WorkCompletions batch = new WorkCompletions(4);

    @BeforeEach
    void ask() {
        assumeTrue(ThreadCosts.areKnown(), "this kernel does not count");
    }

    @AfterEach
    void close() {
        batch.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096, 4097, 32768, 65536})
    void theThreadThatPollsMovesAMessageAndNobodyElseWakesUp(int length) {
        try (SoftwareVerbs one = Loopback.provider(MoverSettings.NONE);
                SoftwareVerbs other = Loopback.provider(MoverSettings.NONE);
                ConnectedPair pair = Pairs.open(one, other);
                NativeBuffer from = new NativeBuffer(length);
                NativeBuffer to = new NativeBuffer(length)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion target = pair.second().register(to);
            Pairs.exchange(pair, length); // the connection is there
            exchange(pair, from, local, to, target, 50);
            ThreadCosts before = ThreadCosts.ofThisThread();
            ThreadCosts othersBefore = ThreadCosts.of(EVENT_LOOP);
            long start = System.nanoTime();

            exchange(pair, from, local, to, target, MESSAGES);

            // two event loops look every 20 ms, however long it takes
            long looks = 2 * (System.nanoTime() - start) / LOOK_NANOS;
            ThreadCosts own = ThreadCosts.ofThisThread().minus(before);
            ThreadCosts others = ThreadCosts.of(EVENT_LOOP).minus(othersBefore);
            assertThat(own.sleeps()).as("%s", own).isLessThan(SELDOM);
            assertThat(others.sleeps()).as("of the event loops: %s", others).isLessThan(SELDOM + looks);
        }
    }

    /** All of it is in the socket before the receiver looks, if nobody else does, so that few reads are in vain. */
    private void exchange(
            ConnectedPair pair,
            NativeBuffer from,
            MemoryRegion local,
            NativeBuffer to,
            MemoryRegion target,
            int count) {
        var responder = Pairs.engine(pair.second()).responder;
        int tail = from.length() <= 1024 ? Messages.TAIL_BYTES : 0;
        for (int i = 0; i < count; i++) {
            Pairs.receive(pair, i, to, target, 0, to.length());
            Pairs.send(pair, i, from, local, 0, from.length());
            take(pair.first().sendCompletions());
            int left = i > 0 ? tail : 0; // that of the message before
            int wanted = Messages.REQUEST_BYTES + from.length() + left;
            for (int look = 0; look < LOOKS && ResponderState.unread(responder) < wanted; look++) {
                Thread.onSpinWait();
            }
            take(pair.second().receiveCompletions());
        }
    }

    private void take(CompletionQueue queue) {
        while (queue.poll(batch) == 0) {
            Thread.onSpinWait(); // the test's time limit ends it
        }
    }

    /** And it sleeps in the kernel when it has nothing to do. */
    @Test
    void aMoverMovesLongMessagesInTheTimeOfNobodyElse() {
        int length = 4 << 20;
        try (SoftwareVerbs one = Loopback.provider(new MoverSettings(1, 100_000));
                SoftwareVerbs other = Loopback.provider(MoverSettings.NONE);
                ConnectedPair pair = Pairs.open(one, other)) {
            Pairs.exchange(pair, 1000);
            long before = ThreadCosts.of(MOVER).sleeps();

            Pairs.exchange(pair, length);

            assertThat(ThreadCosts.of(MOVER).sleeps()).isGreaterThan(before);
            Await.until("the mover sleeps", () -> {
                long sleeps = ThreadCosts.of(MOVER).sleeps();
                Pairs.exchange(pair, 1000);
                return ThreadCosts.of(MOVER).sleeps() == sleeps;
            });
        }
    }
}
