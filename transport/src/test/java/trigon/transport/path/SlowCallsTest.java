package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

@Timeout(60)
class SlowCallsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final CountDownLatch answers = new CountDownLatch(1);
    private final List<String> made = new CopyOnWriteArrayList<>();

    private void hang() {
        try {
            answers.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        made.add("the one that hung");
    }

    @Test
    void oneThatHangsHoldsUpThoseBehindItAndNotTheCaller() {
        try (SlowCalls calls = new SlowCalls("one", true)) {
            CompletableFuture<Void> first = calls.begin(this::hang);
            CompletableFuture<Void> second = calls.begin(() -> made.add("the next"));
            Await.until(made::toString, PATIENCE, calls::isHanging);
            assertThat(first).isNotDone();
            assertThat(second).isNotDone();
            assertThat(calls.finishes(() -> made.add("nothing"))).isFalse();

            answers.countDown();
        }
        assertThat(made).containsExactly("the one that hung", "the next");
    }

    @Test
    void nothingHangsOnceAllIsOver() {
        try (SlowCalls calls = new SlowCalls("one", true)) {
            answers.countDown();
            calls.begin(this::hang).join();

            Await.until(made::toString, PATIENCE, () -> !calls.isHanging());
        }
    }

    @Test
    void theCallerMakesThoseOfASoftwareDevice() {
        Thread[] by = new Thread[1];
        try (SlowCalls calls = new SlowCalls("lo", false)) {
            assertThat(calls.begin(() -> by[0] = Thread.currentThread())).isDone();
        }
        assertThat(by[0]).isEqualTo(Thread.currentThread());
    }

    @Test
    void whatTheyThrowIsTold() {
        try (SlowCalls calls = new SlowCalls("one", true)) {
            CompletableFuture<Void> fails = calls.begin(() -> {
                throw new IllegalStateException("the device is gone");
            });

            assertThatThrownBy(fails::join)
                    .isInstanceOf(CompletionException.class)
                    .hasMessageContaining("the device is gone");
        }
    }
}
