package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

@Timeout(180)
class ControlThreadsTest {

    @Test
    void areDaemonsOfTheirOwnName() throws Exception {
        try (ControlThreads threads = ControlThreads.open()) {
            ExecutorService control = threads.control();
            Thread thread = control.submit(Thread::currentThread).get(60, TimeUnit.SECONDS);

            assertThat(thread.getName()).isEqualTo("trigon-control-0");
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.isVirtual()).isFalse();
        }
    }

    @Test
    void endWhenThereIsNothingToDo() throws Exception {
        try (ControlThreads threads = ControlThreads.open()) {
            ExecutorService control = threads.control();
            Thread thread = control.submit(Thread::currentThread).get(60, TimeUnit.SECONDS);

            assertThat(thread.join(Duration.ofSeconds(60))).isTrue();
        }
    }

    @Test
    void aTaskRunsHoweverManyOthersAreBlocked() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ControlThreads threads = ControlThreads.open()) {
            ExecutorService control = threads.control();
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

    /** The time of each begins with its task, and the others' answers are given meanwhile. */
    @Test
    void someDozensConnectAtOnceAndNobodyWaitsForThem() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger atWork = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (ControlThreads threads = ControlThreads.open()) {
            List<Future<Boolean>> connecting = new ArrayList<>();
            for (int i = 0; i < 10 * ControlThreads.MAX_CONNECTING; i++) {
                connecting.add(threads.connecting().submit(() -> {
                    most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                    boolean released = release.await(60, TimeUnit.SECONDS);
                    atWork.decrementAndGet();
                    return released;
                }));
            }
            Await.until("threads at work", () -> atWork.get() == ControlThreads.MAX_CONNECTING);

            assertThat(threads.control().submit(() -> "done").get(60, TimeUnit.SECONDS))
                    .isEqualTo("done");

            release.countDown();
            for (Future<Boolean> task : connecting) {
                assertThat(task.get(60, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(most).hasValue(ControlThreads.MAX_CONNECTING);
        }
    }

    @Test
    void aTaskThatComesAfterTheEndRunsInItsCaller() {
        ControlThreads threads = ControlThreads.open();
        threads.close();
        List<Thread> ran = new ArrayList<>();

        threads.control().execute(() -> ran.add(Thread.currentThread()));

        assertThat(ran).containsExactly(Thread.currentThread());
    }

    /** A cable takes hundreds of connections with it. */
    @Test
    void failoversHaveAFewThreadsHoweverManyTheyAre() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        try (ControlThreads threads = ControlThreads.open()) {
            List<Future<Boolean>> tasks = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                tasks.add(threads.moving().submit(() -> {
                    used.add(Thread.currentThread());
                    return release.await(60, TimeUnit.SECONDS);
                }));
            }
            Await.until("threads at work", () -> used.size() == MovingPool.USUAL);
            assertThat(tasks.getLast().isDone()).isFalse();
            release.countDown();
        }
        assertThat(used)
                .hasSizeLessThanOrEqualTo(MovingPool.USUAL)
                .allMatch(thread -> thread.getName().startsWith("trigon-failover-"));
    }

    /** A device whose calls take half a minute holds the threads that made them, and no others. */
    @Test
    void whileAllOfThemHangThereIsOneMoreAtEachLook() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (ControlThreads threads = ControlThreads.open()) {
            MovingPool moving = threads.moves();
            for (int i = 0; i < 2 * MovingPool.MAX; i++) {
                var _ = moving.submit(() -> release.await(60, TimeUnit.SECONDS));
            }
            assertThat(moving.relieve()).isTrue(); // nothing was done before the first look
            for (int looks = 0; looks < 2 * MovingPool.MAX; looks++) {
                assertThat(moving.relieve()).isTrue();
            }
            assertThat(moving.getCorePoolSize()).isEqualTo(MovingPool.MAX);

            release.countDown();
            Await.until("all is done", () -> !moving.relieve());
            assertThat(moving.getCorePoolSize()).isEqualTo(MovingPool.USUAL);
        }
    }

    /** A driver that hangs must not keep a plugin from ending. */
    @Test
    void repairsOfFlushesHaveThreadsOfTheirOwnAndHoldUpNothing() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        List<Future<Boolean>> hanging = new ArrayList<>();
        try (ControlThreads threads = ControlThreads.open()) {
            for (int i = 0; i < 100; i++) {
                hanging.add(threads.flushing().submit(() -> {
                    used.add(Thread.currentThread());
                    return release.await(60, TimeUnit.SECONDS);
                }));
            }
            Await.until("threads at work", () -> used.size() == ControlThreads.MAX_FLUSHING);

            assertThat(threads.moving().submit(() -> "done").get(60, TimeUnit.SECONDS))
                    .isEqualTo("done");
        }
        assertThat(hanging).noneMatch(Future::isDone);
        release.countDown();
        for (Future<Boolean> task : hanging) {
            assertThat(task.get(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(used)
                .hasSize(ControlThreads.MAX_FLUSHING)
                .allMatch(thread -> thread.getName().startsWith("trigon-flush-"));
    }
}
