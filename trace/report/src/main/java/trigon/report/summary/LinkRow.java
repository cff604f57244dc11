package trigon.report.summary;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Connection;
import trigon.report.model.Message;
import trigon.report.model.Rank;
import trigon.report.model.Run;
import trigon.report.model.Run.Happening;
import trigon.trace.Fields;

/**
 * Messages from one rank to another over the same links. Times are nanoseconds.
 *
 * @param from the sender's rank; -1 if its trace is missing
 * @param to the receiver's
 * @param links their names
 * @param messages how many were received, or sent where the receiver's trace is missing
 * @param bytes of them
 * @param transportMedian from post to completion at the other end
 * @param transportP99 the same, 99 of 100 are no longer
 * @param waitMedian from the first try to the post
 * @param waitP99 the same
 * @param retransmissions of the links in this run, both ways, as their devices or TCP say; -1: they do not
 * @param bound how far one-way times may be off; 0: one clock; less than 0: not known
 */
public record LinkRow(
        int from,
        int to,
        String links,
        long messages,
        long bytes,
        long transportMedian,
        long transportP99,
        long waitMedian,
        long waitP99,
        long retransmissions,
        long bound) {

    /** The rows of a run, in the order of their connections. */
    public static List<LinkRow> of(Run run) {
        Map<String, List<Connection>> groups = new LinkedHashMap<>();
        for (Connection each : run.connections()) {
            groups.computeIfAbsent(each.describe(), _ -> new ArrayList<>()).add(each);
        }
        Retransmissions retransmissions = new Retransmissions(run);
        return groups.values().stream()
                .map(group -> row(run, group, retransmissions))
                .toList();
    }

    private static LinkRow row(Run run, List<Connection> group, Retransmissions retransmissions) {
        List<Long> transports = new ArrayList<>();
        List<Long> waits = new ArrayList<>();
        long messages = 0;
        long bytes = 0;
        for (Connection connection : group) {
            for (Message message : connection.messages()) {
                if (message.posted() == 0 && message.received() == 0) {
                    continue;
                }
                messages++;
                bytes += message.bytes();
                if (message.isWhole()) {
                    transports.add(message.received() - Math.max(message.posted(), message.receivePosted()));
                }
                if (message.posted() != 0) {
                    waits.add(message.posted() - message.tried());
                }
            }
        }
        transports.sort(null);
        waits.sort(null);
        Connection first = group.getFirst();
        Rank sender = first.sender();
        Rank receiver = first.receiver();
        return new LinkRow(
                sender == null ? -1 : sender.number(),
                receiver == null ? -1 : receiver.number(),
                first.links(),
                messages,
                bytes,
                at(transports, 0.5),
                at(transports, 0.99),
                at(waits, 0.5),
                at(waits, 0.99),
                retransmissions.of(first),
                sender == null || receiver == null ? -1 : run.clocks().bound(sender.clock(), receiver.clock()));
    }

    private static long at(List<Long> sorted, double part) {
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.min(sorted.size() - 1, part * sorted.size()));
    }

    /** For tables, for example {@code 0→1}. */
    public String direction() {
        return (from < 0 ? "?" : Integer.toString(from)) + "→" + (to < 0 ? "?" : Integer.toString(to));
    }

    /** Samples of TCP's and the devices' counters. */
    private static final class Retransmissions {

        private final Map<String, long[]> firstAndMost = new HashMap<>();

        Retransmissions(Run run) {
            for (Happening happening : run.happenings()) {
                switch (happening.event().what()) {
                    case "tcp" ->
                        note(
                                key(happening.rank(), happening.event().fields().get("address")),
                                happening.event().fields().number("retransmits", 0));
                    case "rdma" ->
                        note(
                                key(happening.rank(), happening.event().fields().get("device")),
                                happening.event().fields().asMap().entrySet().stream()
                                        .filter(field -> field.getKey().endsWith("err"))
                                        .mapToLong(field ->
                                                happening.event().fields().number(field.getKey(), 0))
                                        .sum());
                    default -> {}
                }
            }
        }

        private static String key(Rank rank, String name) {
            return rank.number() + " " + name;
        }

        private void note(String key, long value) {
            long[] known = firstAndMost.computeIfAbsent(key, _ -> new long[] {value, value});
            known[1] = Math.max(known[1], value);
        }

        /** TCP's begin at 0 with each connection; a device's counters stand since it was made. */
        long of(Connection connection) {
            long sender = of(connection.sender(), connection.senderFields());
            long receiver = of(connection.receiver(), connection.receiverFields());
            return sender < 0 ? receiver : sender + Math.max(0, receiver);
        }

        /**
         * Retransmissions of one end, by its own links: on one machine, a process sees the devices of others too. Where
         * a link is a device, TCP's counter at its address is that of the handshake.
         */
        private long of(@Nullable Rank rank, Fields end) {
            long sum = -1;
            if (rank != null) {
                String[] links = end.get("links").split(",", -1);
                String[] addresses = end.get("addresses").split(",", -1);
                for (int i = 0; i < links.length; i++) {
                    long[] device = firstAndMost.get(key(rank, links[i]));
                    long[] tcp = i < addresses.length ? firstAndMost.get(key(rank, addresses[i])) : null;
                    if (device != null) {
                        sum = Math.max(0, sum) + device[1] - device[0];
                    } else if (tcp != null) {
                        sum = Math.max(0, sum) + tcp[1];
                    }
                }
            }
            return sum;
        }
    }
}
