package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ControlThreadsTest {

    @Test
    void areDaemonsOfTheirOwnName() throws Exception {
        try (ExecutorService control = ControlThreads.open()) {
            Thread thread = control.submit(Thread::currentThread).get(60, TimeUnit.SECONDS);

            assertThat(thread.getName()).isEqualTo("trigon-control-0");
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.isVirtual()).isFalse();
        }
    }

    @Test
    void endWhenThereIsNothingToDo() throws Exception {
        try (ExecutorService control = ControlThreads.open()) {
            Thread thread = control.submit(Thread::currentThread).get(60, TimeUnit.SECONDS);

            assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
        }
    }

    @Test
    void aTaskRunsHoweverManyOthersAreBlocked() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ExecutorService control = ControlThreads.open()) {
            List<Future<Boolean>> blocked = new ArrayList<>();
            for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
                blocked.add(control.submit(() -> release.await(40, TimeUnit.SECONDS)));
            }

            assertThat(control.submit(() -> "done").get(60, TimeUnit.SECONDS)).isEqualTo("done");

            release.countDown();
            for (Future<Boolean> task : blocked) {
                assertThat(task.get(60, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    @Test
    void aTaskThatComesAfterTheEndRunsInItsCaller() {
        ExecutorService control = ControlThreads.open();
        control.close();
        List<Thread> ran = new ArrayList<>();

        control.execute(() -> ran.add(Thread.currentThread()));

        assertThat(ran).containsExactly(Thread.currentThread());
    }
}
