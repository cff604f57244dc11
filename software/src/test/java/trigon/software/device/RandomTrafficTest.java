package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.Errno;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.Completion;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** Any mix of operations both ways at once: all data arrives, all completions come in order. */
@Timeout(180)
class RandomTrafficTest {

    private static final int OPERATIONS = 600;
    private static final int MEMORY = 24 << 20;
    private static final int LONG_MESSAGE = 400_000;
    private static final int SHORT_MESSAGE = 5_000;

    private static final int WRITE = 0;
    private static final int WRITE_WITH_IMMEDIATE = 1;
    private static final int SEND = 2;

    @Test
    void carriesAnyMix() {
        long seed = new Random().nextLong();
        try (SoftwareVerbs one = Loopback.provider();
                SoftwareVerbs other = Loopback.provider()) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            try (ConnectedPair pair = ConnectedPair.open(fabric, Loopback.PATIENT);
                    NativeBuffer a = new NativeBuffer(MEMORY).randomize(new Random(seed));
                    NativeBuffer b = new NativeBuffer(MEMORY).randomize(new Random(seed + 1));
                    NativeBuffer fromA = new NativeBuffer(MEMORY);
                    NativeBuffer fromB = new NativeBuffer(MEMORY)) {
                Sender first = new Sender(pair.first(), pair.second(), a, fromA, new Random(seed + 2));
                Sender second = new Sender(pair.second(), pair.first(), b, fromB, new Random(seed + 3));
                while (!first.isDone() || !second.isDone()) {
                    first.step();
                    second.step();
                }
                assertThat(first.used).as("seed %d", seed).isGreaterThan(LONG_MESSAGE);
                assertThat(fromA.bytes(0, first.used)).as("seed %d", seed).isEqualTo(a.bytes(0, first.used));
                assertThat(fromB.bytes(0, second.used)).as("seed %d", seed).isEqualTo(b.bytes(0, second.used));
            }
            LedgerAssert.assertNothingOpen(one);
            LedgerAssert.assertNothingOpen(other);
        }
    }

    /** Carries the bytes of one buffer to another, each byte by one operation. */
    private static final class Sender {

        private final VerbsEnd here;
        private final VerbsEnd there;
        private final NativeBuffer from;
        private final NativeBuffer to;
        private final MemoryRegion source;
        private final MemoryRegion target;
        private final Random random;
        private int used;
        private int posted;
        private long expectedSend;
        private long lastSignaled = -1;

        Sender(VerbsEnd here, VerbsEnd there, NativeBuffer from, NativeBuffer to, Random random) {
            this.here = here;
            this.there = there;
            this.from = from;
            this.to = to;
            this.random = random;
            source = here.register(from);
            target = there.register(to);
        }

        boolean isDone() {
            return posted == OPERATIONS && expectedSend > lastSignaled;
        }

        void step() {
            if (posted < OPERATIONS) {
                post();
            }
            while (here.hasSend()) {
                Completion done = here.nextSend();
                assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(done.workRequestId()).isGreaterThanOrEqualTo(expectedSend);
                expectedSend = done.workRequestId() + 1;
            }
            while (there.hasReceive()) {
                assertThat(there.nextReceive().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }

        private void post() {
            int limit = random.nextInt(20) == 0 ? LONG_MESSAGE : SHORT_MESSAGE;
            int length = random.nextInt(Math.min(limit, MEMORY - used));
            boolean signaled = posted == OPERATIONS - 1 || random.nextBoolean();
            int flags = (signaled ? SendFlag.SIGNALED : 0) | (random.nextInt(10) == 0 ? SendFlag.FENCE : 0);
            QueuePair queuePair = here.queuePair();
            long at = from.at(used);
            long destination = to.at(used);
            int lkey = source.localKey();
            int rkey = target.remoteKey();
            int kind = random.nextInt(3);
            int result = switch (kind) {
                case WRITE -> queuePair.postWrite(posted, at, length, lkey, destination, rkey, flags);
                case WRITE_WITH_IMMEDIATE ->
                    queuePair.postWriteWithImmediate(posted, at, length, lkey, destination, rkey, posted, flags);
                default -> queuePair.postSend(posted, at, length, lkey, flags);
            };
            assertThat(result).isIn(0, Errno.ENOMEM);
            if (result == 0) {
                // late on purpose: now and then the message is there first
                if (kind == SEND) {
                    assertThat(there.queuePair().postReceive(posted, destination, length, target.localKey()))
                            .isZero();
                } else if (kind == WRITE_WITH_IMMEDIATE) {
                    assertThat(there.queuePair().postReceive(posted, 0, 0, 0)).isZero();
                }
                lastSignaled = signaled ? posted : lastSignaled;
                posted++;
                used += length;
            }
        }
    }
}
