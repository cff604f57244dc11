package trigon.report.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Run.Happening;
import trigon.report.read.Stream;
import trigon.report.read.Stream.Records;
import trigon.report.read.TraceContents;
import trigon.report.read.TraceContents.Event;
import trigon.report.read.TraceFolder;
import trigon.trace.Fields;
import trigon.trace.RecordKind;

/** Puts the traces of processes together: ranks, clocks, the two ends of each message, collectives. */
public final class RunBuilder {

    private final List<Rank> ranks = new ArrayList<>();
    private final Map<String, Connection> connections = new LinkedHashMap<>();
    private final Map<Rank, ProfilerEvents> profilers = new HashMap<>();
    private final List<String> problems;

    private RunBuilder(TraceFolder folder) {
        problems = new ArrayList<>(folder.problems());
    }

    /** The run that these traces are of. */
    public static Run build(TraceFolder folder) {
        RunBuilder builder = new RunBuilder(folder);
        builder.nameRanks(folder.processes());
        return builder.build();
    }

    private void nameRanks(List<TraceContents> traces) {
        Map<String, Integer> machines = new LinkedHashMap<>();
        List<TraceContents> sorted = traces.stream()
                .sorted(Comparator.comparingLong(
                                (TraceContents trace) -> trace.process().number("rank", 1 << 30))
                        .thenComparing(trace -> trace.process().get("host"))
                        .thenComparingLong(trace -> trace.process().number("pid", 0)))
                .toList();
        Set<Integer> numbers = new HashSet<>();
        int free = 0;
        for (TraceContents trace : sorted) {
            Fields process = trace.process();
            int machine = machines.computeIfAbsent(process.get("boot"), _ -> machines.size());
            int said = Math.clamp(process.number("rank", -1), -1, Integer.MAX_VALUE);
            boolean isTaken = numbers.contains(said);
            if (said >= 0 && isTaken) {
                problems.add(trace.file() + " says that it is rank " + said
                        + ", as another file does: are these traces from one run?");
            }
            while (numbers.contains(free)) {
                free++;
            }
            int number = said >= 0 && !isTaken ? said : free;
            numbers.add(number);
            ranks.add(new Rank(number, process.get("host"), machine, trace));
        }
        ranks.sort(Comparator.comparingInt(Rank::number));
    }

    private Run build() {
        for (Rank rank : ranks) {
            rank.trace().streams().forEach((number, stream) -> addComm(rank, number, stream));
            markRelayed(rank);
            profilers.put(rank, new ProfilerEvents(rank.trace()));
        }
        long missing = connections.values().stream()
                .filter(each -> each.sender() == null || each.receiver() == null)
                .count();
        if (missing > 0) {
            problems.add(missing + " of " + connections.size() + " connections have only one end in these traces:"
                    + " were all nodes' folders given?");
        }
        Clocks clocks = clocks();
        onOneClock(clocks);
        CollectiveFinder finder = new CollectiveFinder(ranks, connections.values(), profilers, clocks);
        List<Collective> collectives = finder.find();
        List<Happening> happenings = new ArrayList<>();
        for (Rank rank : ranks) {
            for (Event event : rank.trace().events()) {
                if (!SignsOfLife.isOne(event)) {
                    happenings.add(new Happening(rank, clocks.onFirst(rank.clock(), event.time()), event));
                }
            }
        }
        happenings.sort(Comparator.comparingLong(Happening::time));
        return new Run(
                ranks,
                List.copyOf(connections.values()),
                collectives,
                happenings,
                clocks,
                finder.isProfiled(),
                problems);
    }

    private void addComm(Rank rank, int number, Stream stream) {
        Fields fields = stream.fields();
        boolean sends = fields.get("kind").equals("send");
        if (!sends && !fields.get("kind").equals("receive")) {
            return;
        }
        Connection connection = connections.computeIfAbsent(fields.get("connection"), Connection::new);
        if (sends) {
            connection.sender = rank;
            connection.senderStream = number;
            connection.senderFields = fields;
        } else {
            connection.receiver = rank;
            connection.receiverStream = number;
            connection.receiverFields = fields;
        }
        Records records = stream.records();
        for (int i = 0; i < records.size(); i++) {
            long message = records.subject(i);
            RecordKind kind = RecordKind.of(records.kind(i)).orElse(null);
            if (message >= 0 && kind != null) {
                take(connection.messageOf(message), kind, records, i);
            }
        }
    }

    /** Marks the connections that other nodes pass on, which their sender alone knows. */
    private void markRelayed(Rank rank) {
        Map<String, String> relays = new HashMap<>();
        for (Event event : rank.trace().events()) {
            if (event.what().equals("relayed")) {
                relays.put(event.fields().get("qp"), event.fields().get("by"));
            }
        }
        for (Connection connection : relays.isEmpty() ? List.<Connection>of() : connections.values()) {
            String relay = relays.get(connection.senderFields.get("qps"));
            if (relay != null && rank.equals(connection.sender)) {
                connection.senderFields = connection.senderFields.with("relay", relay);
            }
        }
    }

    private static void take(Message message, RecordKind kind, Records records, int index) {
        long time = records.time(index);
        switch (kind) {
            case SEND_WAITS -> message.waits = time;
            case SEND_POSTED -> {
                message.posted = time;
                message.bytes = records.value(index);
            }
            case SEND_DONE -> {
                message.sent = time;
                message.sendGap = records.argument(index);
            }
            case RECEIVE_POSTED -> message.receivePosted = time;
            case RECEIVE_DONE -> {
                message.received = time;
                message.bytes = records.value(index);
                message.receiveGap = records.argument(index);
            }
            case CALL_FAILED, EVENT_START, EVENT_DETAIL, EVENT_STOP, EVENT_STATE -> {}
        }
    }

    private Clocks clocks() {
        Map<Integer, Rank> machines = new TreeMap<>();
        ranks.forEach(rank -> machines.putIfAbsent(rank.clock(), rank));
        int count = machines.size();
        long[] rough = new long[Math.max(1, count)];
        long[] ofDay = new long[Math.max(1, count)];
        machines.forEach((machine, rank) -> {
            Fields process = rank.trace().process();
            ofDay[machine] = process.number("time", 0) - process.number("real", 0);
        });
        for (int machine = 0; machine < count; machine++) {
            rough[machine] = ofDay[machine] - ofDay[0];
        }
        SignsOfLife signs = SignsOfLife.of(ranks);
        long begin = signs.earliest(rough);
        long end = signs.latest(rough);
        for (Connection connection : connections.values()) {
            for (Message message : connection.messages()) {
                if (message.posted != 0 && connection.sender != null) {
                    long time = message.posted - rough[connection.sender.clock()];
                    begin = Math.min(begin, time);
                    end = Math.max(end, time);
                }
            }
        }
        Clocks clocks = new Clocks(rough, begin == Long.MAX_VALUE ? 0 : begin, end == Long.MIN_VALUE ? 0 : end);
        connections.values().forEach(connection -> bound(clocks, connection));
        signs.bound(clocks);
        clocks.solve();
        return clocks;
    }

    private static void bound(Clocks clocks, Connection connection) {
        Rank sender = connection.sender();
        Rank receiver = connection.receiver();
        if (sender == null || receiver == null || sender.clock() == receiver.clock()) {
            return;
        }
        boolean rendezvous = connection.protocol().equals("RENDEZVOUS");
        for (Message message : connection.messages()) {
            if (message.isWhole()) {
                clocks.happenedAfter(sender.clock(), message.posted, receiver.clock(), message.received);
            }
            if (rendezvous && message.sent != 0 && message.receivePosted != 0) {
                // the receiver's word that it may come was there before it went
                clocks.happenedAfter(receiver.clock(), message.receivePosted, sender.clock(), message.sent);
            }
        }
    }

    private void onOneClock(Clocks clocks) {
        for (Connection connection : connections.values()) {
            int sender = clockOf(connection.sender());
            int receiver = clockOf(connection.receiver());
            for (Message message : connection.messages()) {
                message.waits = moved(clocks, sender, message.waits);
                message.posted = moved(clocks, sender, message.posted);
                message.sent = moved(clocks, sender, message.sent);
                message.receivePosted = moved(clocks, receiver, message.receivePosted);
                message.received = moved(clocks, receiver, message.received);
            }
        }
    }

    private static int clockOf(@Nullable Rank rank) {
        return rank == null ? 0 : rank.clock();
    }

    private static long moved(Clocks clocks, int machine, long time) {
        return time == 0 ? 0 : clocks.onFirst(machine, time);
    }
}
