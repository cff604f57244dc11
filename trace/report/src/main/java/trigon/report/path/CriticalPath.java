package trigon.report.path;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.model.Run;
import trigon.report.path.LocalEvents.Done;

/**
 * The causes of a collective's time, found backwards from its end: what was finished last was received from a message,
 * which was posted when its data were ready, for which something had to be received before, and so on to the first
 * call. The pieces follow each other without a gap, so they add up to the wall time.
 */
public final class CriticalPath {

    private final Collective collective;
    private final Outages outages;
    private final LocalEvents events;
    private final List<Segment> backwards = new ArrayList<>();
    private long reached;

    private CriticalPath(Collective collective, Outages outages) {
        this.collective = collective;
        this.outages = outages;
        events = new LocalEvents(collective);
        reached = collective.end();
    }

    /** The path of each collective, in their order. */
    public static List<List<Segment>> ofAll(Run run) {
        Outages outages = new Outages(run);
        return run.collectives().stream()
                .map(collective -> new CriticalPath(collective, outages).walk())
                .toList();
    }

    /** Nanoseconds of a path by cause, in the order of the causes. */
    public static Map<Cause, Long> byCause(List<Segment> path) {
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        path.forEach(segment -> sums.merge(segment.cause(), segment.length(), Long::sum));
        return sums;
    }

    private List<Segment> walk() {
        Done done = events.last();
        int steps = 4 * collective.messages().size() + 2;
        int rank = done == null ? firstRank() : LocalEvents.rank(done);
        if (done != null) {
            to(Cause.GPU, done.time(), rank, null); // what came last is used
        }
        while (done != null && reached > collective.start() && steps-- > 0) {
            Done former = LocalEvents.behind(done);
            if (former != null) {
                rank = LocalEvents.rank(done);
                Message behind = done.message();
                absent(done.isReceive() ? behind.receiveGap() : behind.sendGap(), former.time(), rank);
                over(behind.connection(), former.time());
                done = former;
                continue;
            }
            Message message = done.message();
            rank = senderOf(message, LocalEvents.rank(done));
            if (done.isReceive()) {
                received(message, LocalEvents.rank(done));
            } else {
                sent(message, rank);
            }
            waited(message, rank);
            done = before(message, rank);
            ready(message, rank, done == null ? Long.MIN_VALUE : done.time());
            if (done != null) {
                to(Cause.GPU, done.time(), rank, null);
            }
        }
        begin(rank);
        return List.copyOf(backwards.reversed());
    }

    /**
     * The event before a wait for a sent message, which is a wait for a new path, too; without one that is no more than
     * a moment.
     */
    private @Nullable Done before(Message message, int rank) {
        Done last = events.before(message, rank, reached);
        Done sent = LocalEvents.sentBefore(message, reached);
        boolean held = sent != null
                && (last == null || sent.time() > last.time())
                && outages.within(message.connection(), sent.message().posted(), sent.time()) > 0;
        return held ? sent : last;
    }

    private int firstRank() {
        return collective.parts().keySet().stream().findFirst().orElse(0);
    }

    private static int senderOf(Message message, int otherwise) {
        Rank sender = message.connection().sender();
        return sender == null ? otherwise : sender.number();
    }

    private void received(Message message, int receiver) {
        Connection connection = message.connection();
        long begin = message.posted() == 0 ? message.receivePosted() : message.posted();
        absent(message.receiveGap(), Math.max(begin, message.receivePosted()), receiver);
        if (message.receivePosted() > begin) { // it was there before anybody wanted it
            over(connection, message.receivePosted());
            late(begin, receiver, connection);
        } else {
            over(connection, begin);
        }
    }

    /** A receive was posted late, first of all if its rank had not even called, or was without a path itself. */
    private void late(long since, int receiver, Connection connection) {
        Collective.Part part = collective.parts().get(receiver);
        long called = part == null ? since : Math.max(since, part.called());
        Connection cut = outages.longest(receiver, collective, called, reached);
        if (cut != null) {
            long outage = outages.within(cut, called, reached);
            to(Cause.FAILOVER, Math.max(called, reached - outage), receiver, cut);
        }
        to(Cause.PEER_LATE, called, receiver, connection);
        if (called > since) {
            to(Cause.LATE_CALL, since, receiver, null);
        }
    }

    private void sent(Message message, int sender) {
        absent(message.sendGap(), message.posted(), sender);
        over(message.connection(), message.posted());
    }

    /** The end of a wait in which the thread did not ask. */
    private void absent(long gap, long notBefore, int rank) {
        if (gap > 0) {
            to(Cause.PROXY, Math.max(notBefore, reached - gap), rank, null);
        }
    }

    private void over(Connection connection, long from) {
        Cause cause = connection.isRelayed() ? Cause.RELAY : Cause.TRANSPORT;
        Rank receiver = connection.receiver();
        int rank = receiver == null ? -1 : receiver.number();
        if (outages.within(connection, from, reached) > 0) {
            // what was under way on a path that was lost came to nothing, also before anybody noticed the loss
            to(cause, outages.end(connection, from, reached), rank, connection);
            to(Cause.FAILOVER, from, rank, connection);
        } else {
            to(cause, from, rank, connection);
        }
    }

    /** From the post back to the first try. */
    private void waited(Message message, int sender) {
        long tried = message.tried();
        if (tried == 0 || tried >= message.posted()) {
            return;
        }
        Connection connection = message.connection();
        long outage = outages.within(connection, tried, message.posted());
        if (outage > 0) {
            to(Cause.FAILOVER, Math.max(tried, reached - outage), sender, connection);
        }
        if (message.receivePosted() > tried) {
            to(Cause.CREDIT, message.receivePosted(), sender, connection);
            Rank receiver = connection.receiver();
            late(tried, receiver == null ? sender : receiver.number(), connection);
        } else {
            to(Cause.CREDIT, tried, sender, connection);
        }
    }

    /** From the first try back to when NCCL had the data, where the profiler says so. */
    private void ready(Message message, int sender, long notBefore) {
        if (message.ready() != 0 && message.ready() < reached) {
            to(Cause.PROXY, Math.max(message.ready(), notBefore), sender, null);
        }
    }

    private void begin(int rank) {
        Collective.Part part = collective.parts().get(rank);
        if (part != null && part.called() < reached) {
            to(Cause.LAUNCH, part.called(), rank, null);
        }
        to(part == null ? Cause.UNKNOWN : Cause.LATE_CALL, collective.start(), rank, null);
    }

    /** All from there to what has been reached is of that cause. */
    private void to(Cause cause, long from, int rank, @Nullable Connection connection) {
        long begin = Math.max(from, collective.start());
        if (begin < reached) {
            backwards.add(new Segment(cause, begin, reached, rank, connection));
            reached = begin;
        }
    }

    /** Pieces that are next to each other and of the same cause and place become one. */
    public static List<Segment> merged(List<Segment> path) {
        List<Segment> merged = new ArrayList<>();
        for (Segment segment : path) {
            Segment last = merged.isEmpty() ? null : merged.getLast();
            if (last != null
                    && last.cause() == segment.cause()
                    && last.place().equals(segment.place())
                    && last.to() == segment.from()) {
                merged.set(
                        merged.size() - 1,
                        new Segment(last.cause(), last.from(), segment.to(), last.rank(), last.connection()));
            } else {
                merged.add(segment);
            }
        }
        return Collections.unmodifiableList(merged);
    }

    /**
     * A piece of a critical path: nothing else had to be waited for then.
     *
     * @param cause what the time went to
     * @param from begin, on the run's clock
     * @param to end
     * @param rank where, or who was late
     * @param connection whose message; null if it was none
     */
    public record Segment(
            Cause cause,
            long from,
            long to,
            int rank,
            @Nullable Connection connection) {

        /** Time from its begin to its end, in nanoseconds. */
        public long length() {
            return to - from;
        }

        /** The connection, for causes between ranks; else the rank. */
        public String place() {
            return switch (cause) {
                case TRANSPORT, RELAY, FAILOVER, CREDIT -> connection == null ? "rank " + rank : connection.describe();
                case LATE_CALL, LAUNCH, GPU, PEER_LATE, PROXY, UNKNOWN -> "rank " + rank;
            };
        }
    }
}
