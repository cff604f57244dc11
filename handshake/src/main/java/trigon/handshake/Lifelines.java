package trigon.handshake;

import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * All established connections of a process. One timer for all of them, which runs while there are any: once a second
 * each says that it lives and looks how long its peer was silent. Event loop only.
 */
final class Lifelines {

    /** From one sign of life to the next. */
    static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final HandshakeConnection[] NONE = {};

    private final EventLoop eventLoop;
    private final Set<HandshakeConnection> connections = new HashSet<>();
    private boolean running;
    private long lastNanos;

    Lifelines(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
    }

    void add(HandshakeConnection connection) {
        connections.add(connection);
        if (!running) {
            running = true;
            lastNanos = eventLoop.ticker().nanoTime();
            schedule();
        }
    }

    void remove(HandshakeConnection connection) {
        connections.remove(connection);
    }

    /** Ends all of them in good order. */
    void letGo() {
        for (HandshakeConnection connection : connections.toArray(NONE)) {
            connection.letGo(Optional.empty());
        }
    }

    private void schedule() {
        var _ = eventLoop.schedule(this::beat, BEAT_NANOS, TimeUnit.NANOSECONDS);
    }

    private void beat() {
        long now = eventLoop.ticker().nanoTime();
        // if this process was stopped itself, it was not the peers who were silent: what they said waits in the sockets
        long passed = Math.min(now - lastNanos, 2 * BEAT_NANOS);
        lastNanos = now;
        // a copy: those that end are taken out meanwhile
        for (HandshakeConnection connection : connections.toArray(NONE)) {
            connection.beat(passed);
        }
        running = !connections.isEmpty();
        if (running) {
            schedule();
        }
    }
}
