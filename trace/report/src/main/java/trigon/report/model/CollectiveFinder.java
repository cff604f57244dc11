package trigon.report.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.ProfilerEvents.ProfilerEvent;

/**
 * Finds the collectives by the events of NCCL's profiler or, without these, by the pauses between messages.
 */
final class CollectiveFinder {

    /** The shortest time without a message that counts as a pause. Messages between two pauses are one operation. */
    private static final long PAUSE = 200_000;

    private static final String[] NAMES = {
        "operation",
        "AllReduce",
        "Broadcast",
        "Reduce",
        "AllGather",
        "ReduceScatter",
        "Send",
        "Recv",
        "AlltoAll",
        "Gather",
        "Scatter"
    };
    private static final String[] ALGORITHMS = {
        "", "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"
    };
    private static final String[] PROTOCOLS = {"", "LL", "LL128", "Simple"};

    private final List<Rank> ranks;
    private final Collection<Connection> connections;
    private final Map<Rank, ProfilerEvents> profilers;
    private final Clocks clocks;
    private final Map<String, Collective> found = new LinkedHashMap<>();
    private final Map<ProfilerEvent, Collective> byEvent = new HashMap<>();

    CollectiveFinder(
            List<Rank> ranks, Collection<Connection> connections, Map<Rank, ProfilerEvents> profilers, Clocks clocks) {
        this.ranks = ranks;
        this.connections = connections;
        this.profilers = profilers;
        this.clocks = clocks;
    }

    boolean isProfiled() {
        return !byEvent.isEmpty();
    }

    List<Collective> find() {
        for (Rank rank : ranks) {
            findProfiled(rank, events(rank));
        }
        if (isProfiled()) {
            connections.forEach(this::assign);
        } else {
            findByPauses();
        }
        return found.values().stream()
                .sorted(Comparator.comparingLong(Collective::start))
                .toList();
    }

    private ProfilerEvents events(Rank rank) {
        ProfilerEvents events = profilers.get(rank);
        if (events == null) {
            throw new IllegalStateException(rank + " has no events");
        }
        return events;
    }

    // ---- by the profiler

    private void findProfiled(Rank rank, ProfilerEvents events) {
        Map<String, Long> messages = new HashMap<>();
        for (ProfilerEvent event : events.all()) {
            if (!event.isOperation()) {
                continue;
            }
            String name = name(NAMES, (int) event.arguments[1] & 0xFF);
            String communicator = Long.toHexString(event.values[3]);
            boolean pointToPoint = event.type == ProfilerEvents.POINT_TO_POINT;
            String what = pointToPoint ? betweenWhom(event, name) : name;
            long sequence = pointToPoint ? messages.merge(communicator + name + what, 1L, Long::sum) : event.values[2];
            Collective collective = found.computeIfAbsent(
                    communicator + " " + what + " " + sequence,
                    _ -> new Collective(pointToPoint ? "SendRecv" : name, communicator, sequence));
            collective.bytes = Math.max(collective.bytes, event.values[1]);
            collective.algorithm = algorithm(event.arguments[1]);
            collective.channels = (int) (event.arguments[1] >> 24 & 0xFF);
            collective.ranks = (int) event.values[0];
            collective.nodes = (int) (event.values[0] >>> 32);
            byEvent.put(event, collective);
            Collective.Part part = collective.part(rank.number());
            part.started = earliest(part.started, onFirst(rank, event.start));
            ProfilerEvent call = events.event(event.parent);
            if (call != null) {
                part.called = earliest(part.called, onFirst(rank, call.start));
            }
            part.ended = Math.max(part.ended, onFirst(rank, Math.max(event.stop, event.lastStop)));
        }
    }

    /** A key that sender and receiver of a program's own message share, since NCCL does not number it. */
    private static String betweenWhom(ProfilerEvent event, String name) {
        long rank = event.arguments[0];
        long peer = event.arguments[2];
        return name.equals("Send") ? rank + ">" + peer : peer + ">" + rank;
    }

    private static long earliest(long known, long time) {
        return known == 0 ? time : Math.min(known, time);
    }

    private static String algorithm(long argument) {
        String algorithm = name(ALGORITHMS, (int) (argument >> 8 & 0xFF));
        String protocol = name(PROTOCOLS, (int) (argument >> 16 & 0xFF));
        return algorithm.isEmpty() ? protocol : algorithm + "/" + protocol;
    }

    private static String name(String[] names, int code) {
        return code < names.length ? names[code] : names[0];
    }

    private long onFirst(Rank rank, long time) {
        return clocks.onFirst(rank.clock(), time);
    }

    private void assign(Connection connection) {
        for (Message message : connection.messages()) {
            Collective collective = null;
            Rank sender = connection.sender();
            if (sender != null) {
                ProfilerEvent step = events(sender).step(connection.senderStream, message.number());
                if (step != null) {
                    message.ready = step.ready == 0 ? 0 : onFirst(sender, step.ready);
                    collective = ofStep(sender, step);
                }
            }
            Rank receiver = connection.receiver();
            if (collective == null && receiver != null) {
                collective = ofStep(receiver, events(receiver).step(connection.receiverStream, message.number()));
            }
            if (collective != null) {
                message.collective = collective;
                collective.messages().add(message);
                extend(collective, message);
            }
        }
    }

    private @Nullable Collective ofStep(Rank rank, @Nullable ProfilerEvent step) {
        ProfilerEvent operation = step == null ? null : events(rank).operation(step);
        return operation == null ? null : byEvent.get(operation);
    }

    /** A rank's part lasts at least until its last message. */
    private static void extend(Collective collective, Message message) {
        Rank sender = message.connection().sender();
        if (sender != null && message.sent() != 0) {
            Collective.Part part = collective.part(sender.number());
            part.started = part.started == 0 ? message.tried() : part.started;
            part.ended = Math.max(part.ended, message.sent());
        }
        Rank receiver = message.connection().receiver();
        if (receiver != null && message.received() != 0) {
            Collective.Part part = collective.part(receiver.number());
            part.started = part.started == 0 ? message.receivePosted() : part.started;
            part.ended = Math.max(part.ended, message.received());
        }
    }

    // ---- by pauses

    private void findByPauses() {
        List<Message> all = new ArrayList<>();
        connections.forEach(connection -> connection.messages().stream()
                .filter(message -> message.posted() != 0)
                .forEach(all::add));
        all.sort(Comparator.comparingLong(CollectiveFinder::begin));
        Collective current = null;
        long quiet = Long.MIN_VALUE;
        for (Message message : all) {
            if (current == null || begin(message) - quiet > PAUSE) {
                int number = found.size();
                current = new Collective("messages", message.connection().communicator(), number);
                found.put("pause " + number, current);
            }
            quiet = Math.max(quiet, Math.max(message.sent(), message.received()));
            message.collective = current;
            current.messages().add(message);
            current.bytes = Math.max(current.bytes, message.bytes());
            Rank sender = message.connection().sender();
            if (sender != null) {
                Collective.Part part = current.part(sender.number());
                part.started = part.started == 0 ? message.tried() : Math.min(part.started, message.tried());
            }
            Rank receiver = message.connection().receiver();
            if (receiver != null && message.receivePosted() != 0) {
                Collective.Part part = current.part(receiver.number());
                part.started =
                        part.started == 0 ? message.receivePosted() : Math.min(part.started, message.receivePosted());
            }
            extend(current, message);
        }
    }

    /** When it first appeared at either end. */
    private static long begin(Message message) {
        return message.receivePosted() == 0 ? message.tried() : Math.min(message.tried(), message.receivePosted());
    }
}
