package trigon.report.path;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Connection;
import trigon.report.model.Happening;
import trigon.report.model.Rank;
import trigon.report.model.Run;

/** When connections had no path: from "path lost" to "path moved", at either end. */
final class Outages {

    /**
     * A time without a path.
     *
     * @param connection its key; empty: all of the rank's
     */
    private record Outage(int rank, String connection, long from, long to) {}

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
                    if (lost != null) {
                        outages.add(new Outage(happening.rank().number(), connection, lost.time(), happening.time()));
                    }
                }
                default -> {}
            }
        }
    }

    /** How much of a time a connection had no path. */
    long within(Connection connection, long from, long to) {
        long most = 0;
        for (Outage outage : outages) {
            boolean same = (outage.connection.isEmpty() || outage.connection.equals(connection.key()))
                    && (is(outage.rank, connection.sender()) || is(outage.rank, connection.receiver()));
            if (same) {
                most = Math.max(most, Math.min(to, outage.to) - Math.max(from, outage.from));
            }
        }
        return most;
    }

    private static boolean is(int number, @Nullable Rank rank) {
        return rank != null && rank.number() == number;
    }
}
