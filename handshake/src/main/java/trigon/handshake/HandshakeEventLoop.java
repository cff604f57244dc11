package trigon.handshake;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that serves all handshakes of a process, as listener and as client: {@value #THREAD_NAME}, a daemon.
 *
 * <p>Close the listeners before it. Closing waits for the thread to end, which is brief: it never blocks.
 */
public final class HandshakeEventLoop implements AutoCloseable {

    /** Name of the thread. */
    public static final String THREAD_NAME = "trigon-handshake-0";

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeEventLoop.class);
    private static final long CLOSE_SECONDS = 5;

    private final EventLoop eventLoop;

    private HandshakeEventLoop(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
    }

    /** Makes one. Its thread starts with the first use. */
    public static HandshakeEventLoop open() {
        // one loop without Netty's group around it: a group would start a thread of its own to end
        ThreadFactory threads =
                task -> Thread.ofPlatform().daemon().name(THREAD_NAME).unstarted(task);
        return new HandshakeEventLoop(new SingleThreadIoEventLoop(null, threads, NioIoHandler.newFactory()));
    }

    EventLoop eventLoop() {
        return eventLoop;
    }

    /** Handshakes are few and small: nothing is gained by a pool, whose first chunk alone is larger than all of them. */
    static ByteBufAllocator allocator() {
        return new UnpooledByteBufAllocator(false);
    }

    /** Ends the thread; open connections are closed, and what waits for them fails. Closing twice is allowed. */
    @Override
    public void close() {
        Future<?> ended = eventLoop.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
        if (!ended.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS)) {
            LOGGER.warn("{} did not end within {} s", THREAD_NAME, CLOSE_SECONDS);
        }
    }
}
