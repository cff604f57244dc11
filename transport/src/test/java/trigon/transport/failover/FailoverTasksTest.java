package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
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
                _ -> Runnable::run,
                NanoClock.SYSTEM);

        tasks.begin(() -> done.add("step"), done::add);

        assertThat(done).containsExactly(none);
    }

    @Test
    void theDataPathMakesNoThread() {
        FailoverTasks tasks =
                new FailoverTasks(Runnable::run, _ -> done.add("thread"), _ -> done::add, NanoClock.SYSTEM);

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
                _ -> step -> {
                    throw closed;
                },
                NanoClock.SYSTEM);

        tasks.beginLater(Duration.ofMillis(1), () -> done.add("step"), done::add);

        assertThat(done).containsExactly(closed);
    }
}
