package trigon.transport.connect;

import java.time.Duration;
import java.util.concurrent.Executor;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.system.NanoClock;

/**
 * The threads on which a process does what is not NCCL's to wait for: what may block on control threads, what is brief
 * on the handshake's thread. Thread-safe.
 *
 * @param loop the handshake's thread, which is the timer, too
 * @param threads run what may block
 * @param clock what all that waits goes by
 */
public record ControlTasks(HandshakeEventLoop loop, ControlThreads threads, NanoClock clock) {

    /** Runs what may block. */
    public Executor control() {
        return threads.control();
    }

    /** Brings connections up, some dozens at a time. */
    Executor connecting() {
        return threads.connecting();
    }

    /** Repairs flushes to GPUs, so much later. */
    public Executor flushing(Duration delay) {
        return loop.delayed(delay, threads.flushing());
    }

    /** Runs what may block, so much later. */
    public Executor blocking(Duration delay) {
        return loop.delayed(delay, control());
    }

    /** Runs what does not block, so much later. */
    public Executor brief(Duration delay) {
        return loop.delayed(delay, Runnable::run);
    }
}
