package trigon.software.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
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
        assertThat(ownership.tryAcquire()).isTrue();
        CountDownLatch begins = new CountDownLatch(1);
        AtomicBoolean retired = new AtomicBoolean();
        Thread retires = Thread.ofPlatform().start(() -> {
            begins.countDown();
            ownership.retire();
            retired.set(true);
        });
        begins.await();
        TimeUnit.MILLISECONDS.sleep(20); // long enough for one that does not wait
        assertThat(retired).isFalse();
        ownership.release();
        retires.join();
        assertThat(ownership.tryAcquire()).isFalse();
    }
}
