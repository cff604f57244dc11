package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import trigon.handshake.message.EndFailure;
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

    /** Connections that are traced: with more peers there are enough messages both ways. */
    private static final int MAX_TRACED = 8;

    private static final BeatingLifeline[] NONE = {};
    private static final HeartbeatGroup[] NO_GROUPS = {};

    private final Timer timer;
    private final NanoClock clock;
    private final Set<BeatingLifeline> connections = new HashSet<>();
    private final Map<String, BeatingLifeline> traced = new HashMap<>();
    private final Map<Object, HeartbeatGroup> groups = new HashMap<>();
    private final UnansweredLifelines unanswered;
    private boolean running;
    private long lastNanos;
    private long lastGroupNanos;
    private long lastBeatOfAll;

    /** The event loop's. */
    interface Timer {

        /** Runs a task so much later. */
        void later(long nanos, Runnable task);

        /** Runs a task once all sockets are read that have something now. */
        void afterReading(Runnable task);
    }

    Lifelines(Timer timer, NanoClock clock) {
        this.timer = timer;
        this.clock = clock;
        unanswered = new UnansweredLifelines(clock);
    }

    /** Asks whether the kernel at the other end of a lifeline acknowledges what is said. */
    boolean askKernel(@Nullable Channel channel) {
        return channel != null
                && channel.localAddress() instanceof InetSocketAddress local
                && channel.remoteAddress() instanceof InetSocketAddress remote
                && unanswered.ask(local, remote);
    }

    void add(BeatingLifeline connection) {
        connections.add(connection);
        if (TraceLog.isOn() && traced.size() < MAX_TRACED) {
            traced.putIfAbsent(connection.peerAddress(), connection);
        }
        if (!running) {
            running = true;
            lastNanos = clock.nanoTime();
            lastBeatOfAll = lastNanos;
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

    /** Returns whether it says more often that it lives, for the trace. */
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
        timer.later(tickNanos(), this::tick);
    }

    private long tickNanos() {
        return traced.isEmpty()
                ? groups.isEmpty() ? SilenceClock.BEAT_NANOS : HeartbeatGroup.NANOS
                : SilenceClock.BEAT_NANOS / TRACED_BEATS;
    }

    /** By the clock and not by the count of ticks: a process that starves ticks late, and its peers are not to wait. */
    private void tick() {
        try {
            long now = clock.nanoTime();
            long early = tickNanos() / 2;
            boolean groupsAreDue = now - lastGroupNanos >= HeartbeatGroup.NANOS - early;
            boolean allAreDue = now - lastNanos >= SilenceClock.BEAT_NANOS - early;
            beat(groupsAreDue, allAreDue);
            timer.afterReading(() -> look(groupsAreDue, allAreDue, now));
        } finally { // or all peers would hear nothing more
            running = !connections.isEmpty();
            if (running) {
                schedule();
            }
        }
    }

    private void beat(boolean groupsAreDue, boolean allAreDue) {
        if (groupsAreDue) {
            for (HeartbeatGroup group : groups.values().toArray(NO_GROUPS)) {
                group.beat();
            }
        }
        if (allAreDue) {
            beatAllBut(this::speaksForGroup);
        } else {
            for (BeatingLifeline connection : traced.values().toArray(NONE)) {
                connection.beat();
            }
        }
    }

    /**
     * A peer asks whether this process lives: all peers hear it over the paths in use first. So whoever has its answer,
     * and nothing over a path, knows that the path is lost; a process that did not run has answered nothing.
     */
    void beatOnDemand() {
        if (clock.nanoTime() - lastBeatOfAll >= HeartbeatGroup.NANOS) { // a thousand may ask at the same time
            beatAllBut(_ -> false);
        }
    }

    private void beatAllBut(Predicate<BeatingLifeline> beating) {
        lastBeatOfAll = clock.nanoTime();
        // a copy: those that end are taken out meanwhile
        for (BeatingLifeline connection : connections.toArray(NONE)) {
            if (!beating.test(connection)) {
                connection.beat();
            }
        }
    }

    private boolean speaksForGroup(BeatingLifeline connection) {
        Object key = connection.dialled();
        HeartbeatGroup group = key == null ? null : groups.get(key);
        return group != null && group.isFirst(connection);
    }

    private void look(boolean atGroups, boolean atAll, long now) {
        if (atGroups) {
            long passed = Math.min(now - lastGroupNanos, 2 * HeartbeatGroup.NANOS);
            lastGroupNanos = now;
            for (HeartbeatGroup group : groups.values().toArray(NO_GROUPS)) {
                group.look(passed, now);
            }
        }
        if (atAll) {
            // what lasts longer may be a machine that was stopped as a whole
            long passed = Math.min(now - lastNanos, 2 * SilenceClock.BEAT_NANOS);
            lastNanos = now;
            for (BeatingLifeline connection : connections.toArray(NONE)) {
                if (!speaksForGroup(connection)) {
                    connection.look(passed, now);
                }
            }
        }
    }

    /**
     * The part of a connection that {@link Lifelines} needs: it says that this side lives, and knows when the peer last
     * did.
     */
    interface BeatingLifeline {

        /** Says that this side lives. Event loop only. */
        void beat();

        /**
         * Looks whether the other side lived up to a moment, once all is read that had arrived by then. Event loop
         * only.
         *
         * @param passedNanos since the last look
         * @param now the moment
         */
        void look(long passedNanos, long now);

        /** The last sign of life of the peer. */
        SilenceClock silence();

        /** The process that it has dialled, and from where; null if it was dialled: the other end sets the pace. */
        @Nullable
        Object dialled();

        /** The peer's address, without its port; empty before there is a connection. */
        String peerAddress();

        /** Ends the connection with a farewell. Event loop only. */
        void letGo(Optional<EndFailure> failure);
    }
}
