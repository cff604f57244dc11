package trigon.report.path;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Collective;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.model.Run;
import trigon.report.model.Run.Happening;

/** When connections had no path: from "failover" to "path moved", at either end. */
final class Outages {

    /**
     * A time without a path.
     *
     * @param connection its key; empty: all of the rank's
     */
    private record Outage(int rank, String connection, long from, long to) {}

    /** The field of "path moved" that says how long there was none: it is noticed before it is acted upon. */
    private static final String PAUSE = "pause";

    private final List<Outage> outages = new ArrayList<>();

    Outages(Run run) {
        Map<String, Happening> open = new HashMap<>();
        for (Happening happening : run.happenings()) {
            String connection = happening.event().fields().get("connection");
            String key = happening.rank().number() + " " + connection;
            switch (happening.event().what()) {
                case "path lost", "failover" -> open.putIfAbsent(key, happening);
                case "path moved" -> {
                    Happening lost = open.remove(key);
                    long to = happening.time();
                    long from = to - happening.event().fields().number(PAUSE, 0);
                    from = lost == null ? from : Math.min(from, lost.time());
                    outages.add(new Outage(happening.rank().number(), connection, from, to));
                }
                default -> {}
            }
        }
    }

    /** Nanoseconds of a time in which a connection had no path. */
    long within(Connection connection, long from, long to) {
        return of(connection)
                .mapToLong(outage -> Math.max(0, Math.min(to, outage.to) - Math.max(from, outage.from)))
                .max()
                .orElse(0);
    }

    /** When a connection had a path again, of a time in which it {@linkplain #within had none}; at most its end. */
    long end(Connection connection, long from, long to) {
        return of(connection)
                .filter(outage -> outage.from < to && outage.to > from)
                .mapToLong(outage -> Math.min(to, outage.to))
                .max()
                .orElse(to);
    }

    private Stream<Outage> of(Connection connection) {
        return outages.stream()
                .filter(outage -> (outage.connection.isEmpty() || outage.connection.equals(connection.key()))
                        && (is(outage.rank, connection.sender()) || is(outage.rank, connection.receiver())));
    }

    /** The connection of a rank, among a collective's, that had no path for the longest within a time; null: none. */
    @Nullable
    Connection longest(int rank, Collective collective, long from, long to) {
        if (outages.stream().noneMatch(outage -> outage.from < to && outage.to > from)) {
            return null;
        }
        return collective.messages().stream()
                .map(Message::connection)
                .distinct()
                .filter(each -> is(rank, each.sender()) || is(rank, each.receiver()))
                .filter(each -> within(each, from, to) > 0)
                .max(Comparator.comparingLong(each -> within(each, from, to)))
                .orElse(null);
    }

    private static boolean is(int number, @Nullable Rank rank) {
        return rank != null && rank.number() == number;
    }
}
