package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.relay.topology.RecordCodec.Sealed;

/** Records of other processes that are not old yet, within {@link Limits}. One thread. */
final class KnownRecords {

    /** Processes whose end is remembered, so that nobody brings them back. */
    private static final int MAX_ENDED = 4096;

    /** A process's newest record. */
    static final class Known {

        private final Sealed sealed;
        private final NodeRecord record;
        private final InetAddress source;
        private final boolean proven;
        private final long heard;
        private long waiting; // a bit for each link on which it is to be passed on

        /**
         * One that nobody waits for.
         *
         * @param source the address that it came from
         * @param proven whether a member has made it
         * @param heard when
         */
        Known(Sealed sealed, NodeRecord record, InetAddress source, boolean proven, long heard) {
            this.sealed = sealed;
            this.record = record;
            this.source = source;
            this.proven = proven;
            this.heard = heard;
        }

        Sealed sealed() {
            return sealed;
        }

        NodeRecord record() {
            return record;
        }

        /** Returns whether a member has made it. */
        boolean isProven() {
            return proven;
        }

        /** Returns whether another record of the process is no news, whoever has made that. */
        boolean outdates(Sealed other) {
            return proven && other.sequence() <= record.sequence();
        }

        /** Returns whether another record of the process is taken, though anybody can have made that. */
        boolean yieldsTo(Sealed other) {
            return !proven && other.sequence() > record.sequence();
        }

        private boolean remember(Limits limits) {
            return limits.remember(source, sealed.length(), proven);
        }

        private void forget(Limits limits) {
            limits.forget(source, sealed.length(), proven);
        }

        boolean waitsFor(int link) {
            return (waiting & 1L << link) != 0;
        }

        /** Whoever is on that link has it. */
        void passed(int link) {
            waiting &= ~(1L << link);
        }
    }

    private final Limits limits;
    private final Map<Long, Known> known = new LinkedHashMap<>(); // the longest not heard first
    private final Set<Known> waiting = new LinkedHashSet<>();
    private final Map<Long, Long> ended = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
            return size() > MAX_ENDED;
        }
    };
    private long structure;
    private boolean changed;

    KnownRecords(Limits limits) {
        this.limits = limits;
    }

    /** The latest of the same process: the one that a member has made, or what has come by that link. */
    @Nullable
    Known of(Sealed sealed, int link) {
        Known proven = known.get(sealed.instance());
        return proven == null ? known.get(Unproven.numberOn(link, sealed.instance())) : proven;
    }

    /** Returns whether it is of a process that has ended, from before that. */
    boolean isOfEnded(NodeRecord record) {
        return record.sequence() <= ended.getOrDefault(record.instance(), Long.MIN_VALUE);
    }

    /**
     * Takes a newer record of a process, or its first one. One beyond the limits leaves the former one until that is
     * old.
     *
     * @param links a bit for each link on which it is to be passed on
     * @return whether it was taken
     */
    boolean take(Known newer, long links) {
        long instance = newer.record.instance();
        Known former = known.get(instance);
        if (former != null) {
            former.forget(limits);
        }
        if (!newer.remember(limits)) {
            if (former != null) {
                former.remember(limits);
            }
            return false;
        }
        if (former != null) {
            known.remove(instance);
            waiting.remove(former);
        }
        known.put(instance, newer);
        newer.waiting = links;
        if (links != 0) {
            waiting.add(newer);
        }
        compare(former == null ? null : former.record, newer.record);
        return true;
    }

    /** Takes note of what is different in a process's newer record. */
    void compare(@Nullable NodeRecord former, NodeRecord newer) {
        if (former == null || !newer.hasStructureOf(former)) {
            structure++;
            changed = true;
        } else {
            changed |= !newer.hasRelaysOf(former);
        }
    }

    /** Those to be passed on, in the order in which they came. */
    Collection<Known> waiting() {
        return waiting;
    }

    /** None is to be passed on any more. */
    void clearWaiting() {
        waiting.clear();
    }

    /** Forgets what was not heard for longer than that. */
    void forget(long now, long nanos) {
        Iterator<Known> oldest = known.values().iterator();
        while (oldest.hasNext()) {
            Known each = oldest.next();
            if (now - each.heard <= nanos) {
                return;
            }
            oldest.remove();
            waiting.remove(each);
            each.forget(limits);
            ended.put(each.record.instance(), each.record.sequence());
            structure++;
            changed = true;
        }
    }

    boolean isEmpty() {
        return known.isEmpty();
    }

    /** That record, and those that members have made. */
    List<NodeRecord> provenWith(NodeRecord own) {
        List<NodeRecord> records = new ArrayList<>(known.size() + 1);
        records.add(own);
        known.values().stream().filter(Known::isProven).map(Known::record).forEach(records::add);
        return records;
    }

    /** The same, and what others say of addresses that no member has. */
    List<NodeRecord> with(NodeRecord own) {
        List<NodeRecord> records = provenWith(own);
        Set<InetAddress> members = new HashSet<>();
        records.stream()
                .skip(1)
                .flatMap(record -> record.links().stream())
                .forEach(link -> members.add(link.address().address()));
        known.values().stream()
                .filter(each -> !each.proven)
                .flatMap(each -> each.record.withoutLinksAt(members).stream())
                .forEach(records::add);
        return records;
    }

    /** Another number when nodes or links are others. */
    long structure() {
        return structure;
    }

    /** Returns whether anything is different since this was asked last. */
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }
}
