package trigon.report.path;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.model.Collective;
import trigon.report.model.Message;
import trigon.report.model.Rank;

/** Completions at each rank of a collective, in the order of time. */
final class LocalEvents {

    /** Messages on their way at a time over one connection, in NCCL. */
    private static final int DEPTH = 8;

    /**
     * A completion at a rank.
     *
     * @param isReceive whether it was received, else sent
     */
    record Done(long time, boolean isReceive, Message message) {}

    private final Map<Integer, List<Done>> byRank = new HashMap<>();
    private final Map<Integer, List<Done>> receives = new HashMap<>();

    LocalEvents(Collective collective) {
        for (Message message : collective.messages()) {
            Rank sender = message.connection().sender();
            if (sender != null && message.sent() != 0) {
                add(byRank, sender, new Done(message.sent(), false, message));
            }
            Rank receiver = message.connection().receiver();
            if (receiver != null && message.received() != 0) {
                Done done = new Done(message.received(), true, message);
                add(byRank, receiver, done);
                add(receives, receiver, done);
            }
        }
        byRank.values().forEach(list -> list.sort(Comparator.comparingLong(Done::time)));
        receives.values().forEach(list -> list.sort(Comparator.comparingLong(Done::time)));
    }

    private static void add(Map<Integer, List<Done>> to, Rank rank, Done done) {
        to.computeIfAbsent(rank.number(), _ -> new ArrayList<>()).add(done);
    }

    /** The last of all ranks; null if there is none. */
    @Nullable
    Done last() {
        return byRank.values().stream()
                .map(List::getLast)
                .max(Comparator.comparingLong(Done::time))
                .orElse(null);
    }

    /** The rank where something was finished. */
    static int rank(Done done) {
        Rank rank = done.isReceive()
                ? done.message().connection().receiver()
                : done.message().connection().sender();
        return rank == null ? -1 : rank.number();
    }

    /**
     * The message before, over the same connection, if it was still on its way when this one was posted: they go one
     * behind the other; else null.
     */
    static @Nullable Done behind(Done done) {
        Message message = done.message();
        Message former = message.connection().message(message.number() - 1);
        if (former == null) {
            return null;
        }
        long time = done.isReceive() ? former.received() : former.sent();
        long begin = done.isReceive() ? Math.max(message.posted(), message.receivePosted()) : message.posted();
        boolean before = former.collective() == message.collective() && time > begin && time <= done.time();
        return before ? new Done(time, done.isReceive(), former) : null;
    }

    /**
     * The event that a message waited for before it was tried: the last one, or the slot that a message before it had.
     */
    @Nullable
    Done before(Message message, int sender, long tried) {
        Done received = latest(receives.get(sender), tried);
        Message former = message.connection().message(message.number() - DEPTH);
        if (former != null
                && former.collective() == message.collective()
                && former.sent() != 0
                && former.sent() <= tried
                && (received == null || former.sent() > received.time())) {
            return new Done(former.sent(), false, former);
        }
        return received;
    }

    /** The message before it over the same connection, if it had been sent by then. */
    static @Nullable Done sentBefore(Message message, long tried) {
        Message former = message.connection().message(message.number() - 1);
        if (former == null || former.collective() != message.collective()) {
            return null;
        }
        return former.sent() != 0 && former.sent() <= tried ? new Done(former.sent(), false, former) : null;
    }

    private static @Nullable Done latest(@Nullable List<Done> sorted, long time) {
        if (sorted == null) {
            return null;
        }
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted.get(middle).time() <= time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == 0 ? null : sorted.get(low - 1);
    }
}
