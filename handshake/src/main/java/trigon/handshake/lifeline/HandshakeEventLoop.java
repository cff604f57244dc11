package trigon.handshake.lifeline;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.circuit.JobKeys;
import trigon.system.NanoClock;

/**
 * The one thread that serves all handshakes of a process, as listener and as client: {@value #THREAD_NAME}, a daemon.
 * It never blocks.
 */
public final class HandshakeEventLoop implements Lifelines.Timer, AutoCloseable {

    /** The thread that serves all handshakes of the process, as thread dumps name it. */
    public static final String THREAD_NAME = "trigon-handshake-0";

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeEventLoop.class);
    private static final long CLOSE_SECONDS = 5;

    /**
     * Handshakes are few and small: nothing is gained by a pool, whose first chunk alone is larger than all of them.
     */
    private static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false);

    private final EventLoop eventLoop;
    private final NanoClock clock;
    private final JobKeys jobKeys;
    private final Consumer<Runnable> afterIteration;

    /** All that are open. Belongs to the thread, as does the next. */
    private final Set<Channel> channels = new HashSet<>();

    private final Lifelines lifelines;
    private boolean closing;

    /**
     * Around a loop of Netty's.
     *
     * @param clock the one that the loop's timers go by
     * @param jobKeys which peers are told
     * @param afterIteration runs a task after the loop's current iteration
     */
    HandshakeEventLoop(EventLoop eventLoop, NanoClock clock, JobKeys jobKeys, Consumer<Runnable> afterIteration) {
        this.eventLoop = eventLoop;
        this.clock = clock;
        this.jobKeys = jobKeys;
        this.afterIteration = afterIteration;
        lifelines = new Lifelines(this, clock);
    }

    /** Makes one that goes by the machine's clock. Its thread starts with the first use. */
    public static HandshakeEventLoop open() {
        return open(NanoClock.SYSTEM);
    }

    /** Makes one all of whose times, of handshakes, lifelines and delays, are by that clock. */
    public static HandshakeEventLoop open(NanoClock clock) {
        return open(clock, new JobKeys(clock));
    }

    /** The same; peers that have proven themselves are told the key of the job, and tell it. */
    public static HandshakeEventLoop open(NanoClock clock, JobKeys jobKeys) {
        // one loop without Netty's group around it: a group would start a thread of its own to end
        ThreadFactory threads =
                task -> Thread.ofPlatform().daemon().name(THREAD_NAME).unstarted(task);
        ClockedEventLoop loop = new ClockedEventLoop(clock, threads, NioIoHandler.newFactory());
        return new HandshakeEventLoop(loop, clock, jobKeys, loop::executeAfterEventLoopIteration);
    }

    public EventLoop eventLoop() {
        return eventLoop;
    }

    /** The clock of all times. */
    public NanoClock clock() {
        return clock;
    }

    /** The keys of this process's job. */
    public JobKeys jobKeys() {
        return jobKeys;
    }

    /**
     * Takes the key of the job from a peer that has proven itself; where it is new, all others are told. On the thread
     * only.
     *
     * @return whether the peer is to be told the own one
     */
    public boolean learn(byte[] key) {
        JobKeys.Outcome outcome = jobKeys.learn(key);
        if (outcome == JobKeys.Outcome.ADOPTED) {
            lifelines.tellKey();
        }
        return outcome == JobKeys.Outcome.LARGER;
    }

    /** The established connections. On the thread only. */
    Lifelines lifelines() {
        return lifelines;
    }

    /**
     * Runs a task once all sockets are read that have something now: after this iteration, and the select that begins
     * the next one. A clock is not judged before, or a process that did not run would find its peers silent. On the
     * thread only.
     */
    @Override
    public void afterReading(Runnable task) {
        afterTurn(() -> eventLoop.execute(task));
    }

    /** Runs a task once the loop has run all that it has to run now. On the thread only. */
    void afterTurn(Runnable task) {
        afterIteration.accept(task);
    }

    @Override
    public void later(long nanos, Runnable task) {
        var _ = eventLoop.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /** Has all peers of the process hear that it lives, before one that asks does. On the thread only. */
    public void beatAll() {
        lifelines.beatOnDemand();
    }

    /**
     * An executor that hands tasks on after a while, and once all that has arrived by then is read: a timer without a
     * thread of its own. What waits when the loop is closed is dropped.
     *
     * @param delay how long a task waits
     * @param then where it goes afterwards
     */
    public Executor delayed(Duration delay, Executor then) {
        return task -> {
            later(delay.toNanos(), () -> afterReading(() -> then.execute(task)));
        };
    }

    /**
     * Returns whether {@link #close} has begun: a channel that ends now was not ended by the peer. On the thread only.
     */
    public boolean isClosing() {
        return closing;
    }

    /** Takes over a new channel, to be closed with the loop at the latest. On the thread only. */
    public void adopt(Channel channel) {
        channel.config().setAllocator(ALLOCATOR);
        channels.add(channel);
        channel.closeFuture().addListener(_ -> channels.remove(channel));
        if (closing) {
            var _ = channel.close();
        }
    }

    /**
     * Has the thread close channels and waits until they really are: a socket that a selector knows is closed by its
     * next select only, and its port taken until then. Brief; not to be called on the thread.
     */
    public void closeOnThread(Runnable closing) {
        Promise<Void> closed = eventLoop.newPromise();
        try {
            eventLoop.execute(() -> {
                closing.run();
                afterReading(() -> closed.setSuccess(null));
            });
            if (!closed.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOGGER.warn("{} did not close its sockets within {} s", THREAD_NAME, CLOSE_SECONDS);
            }
        } catch (RejectedExecutionException e) {
            LOGGER.trace("the thread has ended, and closed all sockets before", e);
        }
    }

    /**
     * Ends the thread, and waits for it, which is brief; open connections and listeners are closed, and what waits for
     * them fails. Not to be called on the thread itself. Closing twice is allowed.
     */
    @Override
    public void close() {
        // Netty closes channels on its own when a loop ends, but not if it ends without a quiet period
        closeOnThread(this::closeChannels);
        Future<?> ended = eventLoop.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
        if (!ended.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS)) {
            LOGGER.warn("{} did not end within {} s", THREAD_NAME, CLOSE_SECONDS);
        }
    }

    private void closeChannels() {
        closing = true;
        lifelines.letGo();
        for (Channel channel : List.copyOf(channels)) {
            var _ = channel.flush().close();
        }
    }
}
