package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class LaneOwnershipTest {

    private static final int ROUNDS = 100_000;

    private final LaneOwnership ownership = new LaneOwnership();

    @Test
    void isOnesAtATime() {
        assertThat(ownership.tryAcquire()).isTrue();
        assertThat(ownership.tryAcquire()).isFalse();
        ownership.release();
        assertThat(ownership.tryAcquire()).isTrue();
    }

    /** What the one has written, the next one sees. */
    @Test
    void passesOnWhatWasWritten() throws InterruptedException {
        int[] plain = new int[1];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int taken = 0; taken < ROUNDS; ) {
                    if (ownership.tryAcquire()) {
                        plain[0]++;
                        ownership.release();
                        taken++;
                    } else {
                        Thread.onSpinWait();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(plain[0]).isEqualTo(threads.size() * ROUNDS);
    }

    @Test
    void isNobodysOnceRetired() {
        ownership.retire();
        assertThat(ownership.tryAcquire()).isFalse();
        ownership.retire();
    }

    /** Or memory would be touched that is gone. */
    @Test
    void isRetiredOnlyWhenNobodyHasIt() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            LaneOwnership owned = new LaneOwnership();
            assertThat(owned.tryAcquire()).isTrue();
            CountDownLatch begins = new CountDownLatch(1);
            AtomicBoolean letGo = new AtomicBoolean();
            AtomicBoolean wasLetGo = new AtomicBoolean();
            Thread retires = Thread.ofPlatform().start(() -> {
                begins.countDown();
                owned.retire();
                wasLetGo.set(letGo.get());
            });
            begins.await();
            for (int i = 0; i < 100 * round; i++) { // at different moments of the other one
                Thread.onSpinWait();
            }
            letGo.set(true);
            owned.release();
            retires.join();
            assertThat(wasLetGo).isTrue();
            assertThat(owned.tryAcquire()).isFalse();
        }
    }
}
