package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.system.NanoClock;
import trigon.trace.TraceLog;

/**
 * All established connections of a process. One timer for all of them, which runs while there are any: once a second
 * each says that it lives and looks how long its peer was silent. In a traced process one for each peer's address says
 * it ten times a second, and the trace says when: what is said and heard tells how far two machines' clocks are apart.
 * Event loop only.
 */
final class Lifelines {

    /** Times in that, with a trace. */
    static final int TRACED_BEATS = 10;

    private static final int GROUP_BEATS = (int) (SilenceClock.BEAT_NANOS / HeartbeatGroup.NANOS);

    /** Connections that are traced: with more peers there are enough messages both ways. */
    private static final int MOST_TRACED = 8;

    private static final BeatingLifeline[] NONE = {};

    private final EventLoop eventLoop;
    private final NanoClock clock;
    private final Set<BeatingLifeline> connections = new HashSet<>();
    private final Map<String, BeatingLifeline> traced = new HashMap<>();
    private final Map<Object, HeartbeatGroup> groups = new HashMap<>();
    private int ticks;
    private boolean running;
    private long lastNanos;
    private long lastGroupNanos;

    Lifelines(EventLoop eventLoop, NanoClock clock) {
        this.eventLoop = eventLoop;
        this.clock = clock;
    }

    void add(BeatingLifeline connection) {
        connections.add(connection);
        if (TraceLog.isOn() && traced.size() < MOST_TRACED) {
            traced.putIfAbsent(connection.peerAddress(), connection);
        }
        if (!running) {
            running = true;
            lastNanos = clock.nanoTime();
            schedule();
        }
    }

    void remove(BeatingLifeline connection) {
        connections.remove(connection);
        traced.remove(connection.peerAddress(), connection);
        Object key = connection.dialled();
        HeartbeatGroup group = key == null ? null : groups.get(key);
        if (group != null && group.remove(connection)) {
            groups.remove(key);
        }
    }

    /** Somebody wants to know soon when a peer that was dialled is silent. */
    void addToGroup(BeatingLifeline connection) {
        Object key = connection.dialled();
        if (key != null && connections.contains(connection)) {
            if (groups.isEmpty()) {
                lastGroupNanos = clock.nanoTime();
            }
            HeartbeatGroup group = groups.computeIfAbsent(key, _ -> new HeartbeatGroup());
            group.add(connection);
            connection.silence().joinGroup(group);
        }
    }

    /** Whether it says more often that it lives, for the trace. */
    boolean isTraced(BeatingLifeline connection) {
        return traced.containsValue(connection);
    }

    /** A connection says that it lives, now. */
    void traceSaid(BeatingLifeline connection, @Nullable Channel channel, long count) {
        if (channel != null && traced.containsValue(connection)) {
            trace("alive said", clock.nanoTime(), channel.localAddress(), channel.remoteAddress(), count);
        }
    }

    /** A peer that says it so often has it in its trace. */
    static void traceHeard(@Nullable Channel channel, long count, long now, long before) {
        if (channel != null && now - before < SilenceClock.BEAT_NANOS / 2 && TraceLog.isOn()) {
            trace("alive heard", now, channel.remoteAddress(), channel.localAddress(), count);
        }
    }

    /** Both ends' traces name a sign of life alike. */
    private static void trace(String what, long nanos, SocketAddress from, SocketAddress to, long count) {
        TraceLog.event(what, "time", nanos, "from", from, "to", to, "count", count);
    }

    /** Ends all of them in good order. */
    void letGo() {
        for (BeatingLifeline connection : connections.toArray(NONE)) {
            connection.letGo(Optional.empty());
        }
    }

    private void schedule() {
        var _ = eventLoop.schedule(this::tick, SilenceClock.BEAT_NANOS / ticksPerBeat(), TimeUnit.NANOSECONDS);
    }

    private int ticksPerBeat() {
        return traced.isEmpty() ? groups.isEmpty() ? 1 : GROUP_BEATS : TRACED_BEATS;
    }

    private void tick() {
        try {
            beatGroupsOrAll();
        } finally { // or all peers would hear nothing more
            running = !connections.isEmpty();
            if (running) {
                schedule();
            }
        }
    }

    private void beatGroupsOrAll() {
        ticks++;
        int perBeat = ticksPerBeat();
        if (ticks % Math.max(1, perBeat / GROUP_BEATS) == 0) {
            beatGroups();
        }
        if (ticks >= perBeat) {
            ticks = 0;
            beat();
        } else {
            for (BeatingLifeline connection : traced.values().toArray(NONE)) {
                connection.beat(0);
            }
        }
    }

    /** As {@link #beat}, for those that speak for others. */
    private void beatGroups() {
        long now = clock.nanoTime();
        long passed = Math.min(now - lastGroupNanos, 2 * HeartbeatGroup.NANOS);
        lastGroupNanos = now;
        for (HeartbeatGroup group : groups.values().toArray(new HeartbeatGroup[0])) {
            group.beat(passed);
        }
    }

    private boolean speaksForGroup(BeatingLifeline connection) {
        Object key = connection.dialled();
        HeartbeatGroup group = key == null ? null : groups.get(key);
        return group != null && group.isFirst(connection);
    }

    private void beat() {
        long now = clock.nanoTime();
        // if this process was stopped itself, it was not the peers who were silent: what they said waits in the sockets
        long passed = Math.min(now - lastNanos, 2 * SilenceClock.BEAT_NANOS);
        lastNanos = now;
        // a copy: those that end are taken out meanwhile
        for (BeatingLifeline connection : connections.toArray(NONE)) {
            if (!speaksForGroup(connection)) {
                connection.beat(passed);
            }
        }
    }
}
