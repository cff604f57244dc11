package trigon.software.connection;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import trigon.software.queue.PaddedCounter;
import trigon.stream.loop.EventLoop;
import trigon.system.NanoClock;

/** A thread that does not get a queue pair's lock leaves the work to who has it, and that one does not miss it. */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both are done")
@State
public class ProgressLockStress {

    private static final EventLoop EVENT_LOOP = new EventLoop("never started", "", NanoClock.SYSTEM);

    /** Posted work of two threads, and how much of it has been seen. */
    private static final class TwoQueues implements ProgressLock.Work {
        private final PaddedCounter one = new PaddedCounter();
        private final PaddedCounter other = new PaddedCounter();
        private final PaddedCounter oneSeen = new PaddedCounter();
        private final PaddedCounter otherSeen = new PaddedCounter();

        @Override
        public void progress(boolean receives, boolean unpolled, long now) {
            oneSeen.setVolatile(one.getVolatile());
            otherSeen.setVolatile(other.getVolatile());
        }

        @Override
        public boolean isDue() {
            return one.getVolatile() != oneSeen.getVolatile() || other.getVolatile() != otherSeen.getVolatile();
        }

        @Override
        public void fail(Throwable cause) {
            throw new IllegalStateException("progress failed", cause);
        }

        @Override
        public @Nullable DataConnection outbound() {
            return null;
        }

        @Override
        public @Nullable DataConnection inbound() {
            return null;
        }
    }

    private final TwoQueues work = new TwoQueues();
    private final ProgressLock lock = new ProgressLock(work, EVENT_LOOP, null);

    @Actor
    public void one() {
        work.one.setVolatile(1);
        lock.send();
    }

    @Actor
    public void other() {
        work.other.setVolatile(1);
        lock.send();
    }

    @Arbiter
    public void after(II_Result result) {
        result.r1 = (int) work.oneSeen.get();
        result.r2 = (int) work.otherSeen.get();
    }
}
