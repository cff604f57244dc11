package trigon.handshake.lifeline;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import trigon.system.NanoClock;

/** A loop of Netty's whose timers go by a clock that is given to it. */
final class ClockedEventLoop extends SingleThreadIoEventLoop {

    /** A clock that a test moves does not end a wait for the sockets: it is looked at this often. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final NanoClock clock;
    private final ClockTicker ticker;

    /** Its thread starts with the first use. */
    ClockedEventLoop(NanoClock clock, ThreadFactory threads, IoHandlerFactory sockets) {
        this.clock = clock;
        ticker = new ClockTicker(clock);
        super(null, threads, sockets); // asks for the ticker already
    }

    @Override
    public Ticker ticker() {
        return ticker;
    }

    /** A loop that ends waits for time to pass, which a test's clock may not do. */
    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        ticker.ending = !clock.equals(NanoClock.SYSTEM); // its time passes, and must not be moved
        return super.shutdownGracefully(quietPeriod, timeout, unit);
    }

    @Override
    protected long delayNanos(long currentTimeNanos) {
        return clock.equals(NanoClock.SYSTEM) ? super.delayNanos(currentTimeNanos) : LOOK_NANOS;
    }

    /** Netty counts from its ticker's beginning on. */
    private static final class ClockTicker implements Ticker {

        private final NanoClock clock;
        private final long beginning;
        private volatile boolean ending;

        ClockTicker(NanoClock clock) {
            this.clock = clock;
            beginning = clock.nanoTime();
        }

        @Override
        public long initialNanoTime() {
            return beginning;
        }

        @Override
        public long nanoTime() {
            return clock.nanoTime() - beginning + (ending ? System.nanoTime() : 0);
        }

        @Override
        public void sleep(long delay, TimeUnit unit) {
            throw new UnsupportedOperationException("an event loop never sleeps");
        }
    }
}
