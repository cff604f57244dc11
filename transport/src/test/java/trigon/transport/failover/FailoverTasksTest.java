package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import trigon.system.NanoClock;

class FailoverTasksTest {

    private final List<Object> done = new ArrayList<>();

    @Test
    void aThreadThatCannotBeMadeIsToldAndThrowsNothing() {
        OutOfMemoryError none = new OutOfMemoryError("unable to create native thread");
        FailoverTasks tasks = new FailoverTasks(
                Runnable::run,
                _ -> {
                    throw none;
                },
                () -> false,
                _ -> Runnable::run,
                NanoClock.SYSTEM);

        tasks.begin(() -> done.add("step"), done::add);

        assertThat(done).containsExactly(none);
    }

    @Test
    void theDataPathMakesNoThread() {
        FailoverTasks tasks = new FailoverTasks(
                Runnable::run, _ -> done.add("thread"), () -> false, _ -> done::add, NanoClock.SYSTEM);

        assertThat(tasks.fromDataPath(() -> done.add("step"))).isTrue();

        assertThat(done).containsExactly("step");
    }

    @Test
    void theDataPathHearsThatNothingIsDone() {
        FailoverTasks tasks = new FailoverTasks(
                _ -> {
                    throw new RejectedExecutionException("the plugin is closed");
                },
                Runnable::run,
                () -> false,
                _ -> done::add,
                NanoClock.SYSTEM);

        assertThat(tasks.fromDataPath(() -> done.add("step"))).isFalse();

        assertThat(done).isEmpty();
    }

    @Test
    void whatComesLaterIsNoLessToldThatItCannotBe() {
        RejectedExecutionException closed = new RejectedExecutionException("the plugin is closed");
        FailoverTasks tasks = new FailoverTasks(
                Runnable::run,
                Runnable::run,
                () -> false,
                _ -> step -> {
                    throw closed;
                },
                NanoClock.SYSTEM);

        tasks.beginLater(Duration.ofMillis(1), () -> done.add("step"), done::add);

        assertThat(done).containsExactly(closed);
    }

    /** One look at a time, and none once nothing waits. */
    @Test
    void whileStepsWaitItIsLookedWhetherAnyGetsDone() {
        Deque<Runnable> looks = new ArrayDeque<>();
        Deque<Boolean> waiting = new ArrayDeque<>(List.of(true, true, false, false));
        FailoverTasks tasks = new FailoverTasks(
                Runnable::run, Runnable::run, waiting::removeFirst, _ -> looks::addLast, NanoClock.SYSTEM);

        tasks.begin(() -> done.add("first"), done::add);
        tasks.moving().execute(() -> done.add("second"));

        assertThat(done).containsExactly("first", "second");
        for (int look = 0; look < 3; look++) {
            assertThat(looks).hasSize(1);
            looks.removeFirst().run();
        }
        assertThat(looks).isEmpty();

        tasks.begin(() -> done.add("third"), done::add);
        assertThat(looks).hasSize(1);
    }

    @Test
    void aStepThatBeginsWhileTheLoopClosesIsDone() {
        FailoverTasks tasks = new FailoverTasks(
                Runnable::run,
                Runnable::run,
                () -> false,
                _ -> step -> {
                    throw new RejectedExecutionException("the plugin is closed");
                },
                NanoClock.SYSTEM);

        tasks.begin(() -> done.add("step"), done::add);

        assertThat(done).containsExactly("step");
    }
}
