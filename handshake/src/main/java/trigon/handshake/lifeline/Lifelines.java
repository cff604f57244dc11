package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import trigon.system.NanoClock;
import trigon.trace.TraceLog;

/**
 * All channels of a process with established connections. One timer for all of them, which runs while there are any:
 * once a second each says that it lives and looks how long its peer was silent; where somebody wants to know that soon,
 * four times, at the pace of the end that has dialled. In a traced process one for each peer's address says it ten
 * times a second, and the trace says when: what is said and heard tells how far two machines' clocks are apart. Event
 * loop only.
 */
final class Lifelines {

    /** Times in a second, with a trace. */
    static final int TRACED_BEATS = 10;

    /** From one sign of life to the next where somebody wants to know soon that there is none. */
    static final long HURRIED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Channels that are traced: with more peers there are enough messages both ways. */
    private static final int MAX_TRACED = 8;

    private static final BeatingChannel[] NONE = {};

    private final Timer timer;
    private final NanoClock clock;
    private final Set<BeatingChannel> channels = new HashSet<>();
    private final Map<String, BeatingChannel> traced = new HashMap<>();
    private final Set<BeatingChannel> hurried = new HashSet<>();
    private final UnansweredLifelines unanswered;
    private final StoppedPeers stopped = new StoppedPeers();
    private boolean running;
    private long lastNanos;
    private long lastHurriedNanos;
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

    /** Asks whether the kernel at the other end of a channel acknowledges what is said. */
    boolean askKernel(@Nullable Channel channel) {
        return channel != null
                && channel.localAddress() instanceof InetSocketAddress local
                && channel.remoteAddress() instanceof InetSocketAddress remote
                && unanswered.ask(local, remote);
    }

    StoppedPeers stopped() {
        return stopped;
    }

    void add(BeatingChannel channel) {
        channels.add(channel);
        if (TraceLog.isOn() && traced.size() < MAX_TRACED) {
            traced.putIfAbsent(channel.peerAddress(), channel);
        }
        if (!running) {
            running = true;
            lastNanos = clock.nanoTime();
            lastBeatOfAll = lastNanos;
            schedule();
        }
    }

    void remove(BeatingChannel channel) {
        channels.remove(channel);
        traced.remove(channel.peerAddress(), channel);
        hurried.remove(channel);
    }

    /** Somebody wants to know soon when a peer is silent there. */
    void hurry(BeatingChannel channel) {
        if (hurried.isEmpty()) {
            lastHurriedNanos = clock.nanoTime();
        }
        hurried.add(channel);
    }

    /** Returns whether it says more often that it lives, for the trace. */
    boolean isTraced(BeatingChannel channel) {
        return traced.containsValue(channel);
    }

    /** A channel says that this side lives, now. */
    void traceSaid(BeatingChannel of, @Nullable Channel channel, long count) {
        if (channel != null && traced.containsValue(of)) {
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
        for (BeatingChannel channel : channels.toArray(NONE)) {
            channel.letGo();
        }
    }

    private void schedule() {
        timer.later(tickNanos(), this::tick);
    }

    private long tickNanos() {
        return traced.isEmpty()
                ? hurried.isEmpty() ? SilenceClock.BEAT_NANOS : HURRIED_NANOS
                : SilenceClock.BEAT_NANOS / TRACED_BEATS;
    }

    /** By the clock and not by the count of ticks: a process that starves ticks late, and its peers are not to wait. */
    private void tick() {
        try {
            long now = clock.nanoTime();
            long early = tickNanos() / 2;
            boolean hurriedAreDue = !hurried.isEmpty() && now - lastHurriedNanos >= HURRIED_NANOS - early;
            boolean allAreDue = now - lastNanos >= SilenceClock.BEAT_NANOS - early;
            beat(hurriedAreDue, allAreDue);
            timer.afterReading(() -> look(hurriedAreDue, allAreDue, now));
        } finally { // or all peers would hear nothing more
            running = !channels.isEmpty();
            if (running) {
                schedule();
            }
        }
    }

    private void beat(boolean hurriedAreDue, boolean allAreDue) {
        if (hurriedAreDue) {
            for (BeatingChannel channel : hurried.toArray(NONE)) {
                if (channel.isDialled()) { // the other end answers
                    channel.beat();
                }
            }
        }
        if (allAreDue) {
            beatAllBut(channel -> hurriedAreDue && channel.isDialled() && hurried.contains(channel));
        } else {
            for (BeatingChannel channel : traced.values().toArray(NONE)) {
                channel.beat();
            }
        }
    }

    /**
     * A peer asks whether this process lives: all peers hear it over the paths in use first. So whoever has its answer,
     * and nothing over a path, knows that the path is lost; a process that did not run has answered nothing.
     */
    void beatOnDemand() {
        if (clock.nanoTime() - lastBeatOfAll >= HURRIED_NANOS) { // a thousand may ask at the same time
            beatAllBut(_ -> false);
        }
    }

    /** The key of the job is another one: all peers are told. */
    void tellKey() {
        for (BeatingChannel channel : channels.toArray(NONE)) {
            channel.tellKey();
        }
    }

    private void beatAllBut(Predicate<BeatingChannel> beating) {
        lastBeatOfAll = clock.nanoTime();
        // a copy: those that end are taken out meanwhile
        for (BeatingChannel channel : channels.toArray(NONE)) {
            if (!beating.test(channel)) {
                channel.beat();
            }
        }
    }

    private void look(boolean atHurried, boolean atAll, long now) {
        // what lasts longer may be a machine that was stopped as a whole
        if (atHurried) {
            // less than nothing where the first one has begun to hurry since that moment
            long passed = Math.clamp(now - lastHurriedNanos, 0L, 2 * HURRIED_NANOS);
            lastHurriedNanos = Math.max(lastHurriedNanos, now);
            for (BeatingChannel channel : hurried.toArray(NONE)) {
                channel.look(passed, now);
            }
        }
        if (atAll) {
            long passed = Math.min(now - lastNanos, 2 * SilenceClock.BEAT_NANOS);
            lastNanos = now;
            for (BeatingChannel channel : channels.toArray(NONE)) {
                if (!hurried.contains(channel)) {
                    channel.look(passed, now);
                }
            }
        }
    }

    /** The part of a {@link PeerChannel} that says that this side lives, and knows when the peer last did. */
    interface BeatingChannel {

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

        /** Tells the peer the key of the job. Event loop only. */
        void tellKey();

        /** Returns whether this side has dialled it, and sets the pace. */
        boolean isDialled();

        /** The peer's address, without its port; empty before there is a connection. */
        String peerAddress();

        /** Ends its connections with a farewell. Event loop only. */
        void letGo();
    }
}
