package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import org.junit.jupiter.api.Test;

class BusyPollingTest {

    private static final long FOR_EVER = Long.MAX_VALUE;
    private static final IntSupplier NOTHING_READY = () -> 0;

    private static final class Queue implements PostedWork {

        private int posted;
        private int done;

        @Override
        public boolean hasPosted() {
            return done < posted;
        }

        @Override
        public void work() {
            done = posted;
        }
    }

    private final Queue queue = new Queue();

    private BusyPolling polling(long nanos) {
        BusyPolling polling = new BusyPolling(nanos);
        polling.attach(queue);
        return polling;
    }

    @Test
    void worksOffWhatIsPostedWithoutASignal() throws Exception {
        BusyPolling polling = polling(FOR_EVER);
        queue.posted++;
        assertThat(polling.signal()).isFalse();

        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isZero();

        assertThat(queue.done).isEqualTo(1);
        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isEqualTo(SelectStrategy.CONTINUE);
    }

    @Test
    void blocksAtOnceWithoutPolling() throws Exception {
        BusyPolling polling = polling(0);

        int strategy = polling.calculateStrategy(
                () -> {
                    throw new AssertionError("a system call for nothing");
                },
                false);

        assertThat(strategy).isEqualTo(SelectStrategy.SELECT);
    }

    @Test
    void isWokenOnceAndOnlyWhileItSleeps() throws Exception {
        BusyPolling polling = polling(0);
        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isEqualTo(SelectStrategy.SELECT);

        assertThat(polling.signal()).isTrue();
        assertThat(polling.signal()).isFalse();

        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isEqualTo(SelectStrategy.SELECT);
        assertThat(polling.calculateStrategy(NOTHING_READY, true)).isZero();
        assertThat(polling.signal()).isFalse();
    }

    @Test
    void doesNotBlockOnWhatIsPostedAfterItLooked() throws Exception {
        BusyPolling polling = polling(1);
        IntSupplier postsMeanwhile = () -> {
            queue.posted++;
            assertThat(polling.signal()).isFalse();
            Thread.sleep(1); // longer than it polls
            return 0;
        };

        assertThat(polling.calculateStrategy(postsMeanwhile, false)).isEqualTo(SelectStrategy.CONTINUE);

        assertThat(queue.done).isZero();
        polling.calculateStrategy(NOTHING_READY, true);
        assertThat(queue.done).isEqualTo(1);
    }

    @Test
    void blocksOnceAfterATaskOfAnotherThreadToTakeItsWakeUpBack() throws Exception {
        BusyPolling polling = polling(FOR_EVER);
        polling.onForeignTask();

        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isEqualTo(SelectStrategy.SELECT);
        assertThat(polling.calculateStrategy(NOTHING_READY, false)).isEqualTo(SelectStrategy.CONTINUE);
    }

    @Test
    void pollsWhereThereAreCoresForIt() {
        assertThat(EventLoops.forCores(1).threads()).isEqualTo(1);
        assertThat(EventLoops.forCores(2).busyPoll()).isZero();
        assertThat(EventLoops.forCores(8).threads()).isEqualTo(2);
        assertThat(EventLoops.forCores(8).busyPoll()).isPositive();
        assertThat(EventLoops.forCores(1000).threads()).isEqualTo(4);
    }
}
