package trigon.relay.topology;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import trigon.relay.topology.AnnouncementKey.Maker;
import trigon.relay.topology.KnownRecords.Known;
import trigon.relay.topology.RecordCodec.Sealed;
import trigon.system.InterfaceAddress;

/**
 * A process's knowledge of the others, and its announcements; no I/O. While it or a node near it
 * {@linkplain Calls needs} relays, it announces itself on each of its links. It always hears others there, and passes
 * on each record once on every link where it has not been heard. One that anybody can have made is not passed on, and
 * counts for {@linkplain Unproven neighbours} alone. What is not heard again for {@link #FORGOTTEN} is
 * forgotten. Memory is bounded, whatever comes. One thread at a time; times are {@link System#nanoTime}.
 */
public final class Topology {

    /** From one announcement to the next. */
    public static final Duration INTERVAL = Duration.ofSeconds(1);

    /** The same, at first. */
    public static final Duration FIRST_INTERVAL = Duration.ofMillis(200);

    /** The length of "at first". */
    public static final Duration AT_FIRST = Duration.ofSeconds(3);

    /** The wait of records for others, so as to go together; and so a record for each node that passes it on. */
    public static final Duration GATHER = Duration.ofMillis(5);

    /** A record that was not heard again for so long is forgotten, and so is a neighbour. */
    public static final Duration FORGOTTEN = Duration.ofSeconds(5);

    /** The largest error of a clock before its records count as recorded ones. */
    public static final Duration CLOCKS = Duration.ofMinutes(10);

    /** Addresses that are remembered as heard on a link; they announce no more than a few of them. */
    private static final int MAX_NEIGHBOURS = 1024;

    /** Nodes with another clock that are told of, where they are proven to be nodes; more: the clock is this node's. */
    static final int MAX_OTHER_CLOCKS = 64;

    /** The same where anybody can have made them up. */
    static final int MAX_OTHER_CLOCKS_UNPROVEN = 1;

    /**
     * A datagram to send.
     *
     * @param link the index of the link
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Outgoing(int link, byte[] datagram) {}

    /**
     * A node whose records are not taken.
     *
     * @param seconds how far its clock is ahead of this node's; less than 0 if it is behind
     */
    public record OtherClock(String name, long seconds) {}

    private final Origin self;
    private final List<LinkRecord> links;
    private final AnnouncementKey key;
    private final LongSupplier epochSeconds;
    private final IntSupplier loadMbps;
    private final BooleanSupplier relays;
    private final Limits limits;
    private final KnownRecords known;
    private final Unreadable unreadable = new Unreadable();
    private final List<Map<InetAddress, Long>> neighbours = new ArrayList<>();
    private long sequence;
    private final Calls calls = new Calls();
    private boolean announces;
    private long begun;
    private long nextAnnouncement;
    private long refused;
    private long otherClocks;
    private final Set<Long> nodesWithOtherClocks = new HashSet<>();
    private final List<OtherClock> otherClocksToTell = new ArrayList<>();
    private @Nullable NodeRecord lastOwn;
    private @Nullable Nodes nodes;

    /**
     * One that knows nobody.
     *
     * @param self this process
     * @param links its links, as they are announced; their neighbours are not looked at
     * @param epochSeconds the clock
     * @param loadMbps what this process relays now, in Mbit/s
     */
    public Topology(
            Origin self, List<LinkRecord> links, AnnouncementKey key, LongSupplier epochSeconds, IntSupplier loadMbps) {
        this(self, links, key, epochSeconds, loadMbps, () -> true);
    }

    /**
     * The same, for a process that relays at times.
     *
     * @param relays whether it relays now: else its links are announced without the relay's ports
     */
    public Topology(
            Origin self,
            List<LinkRecord> links,
            AnnouncementKey key,
            LongSupplier epochSeconds,
            IntSupplier loadMbps,
            BooleanSupplier relays) {
        this.self = self;
        this.links = List.copyOf(links.size() > NodeRecord.MAX_LINKS ? links.subList(0, NodeRecord.MAX_LINKS) : links);
        this.key = key;
        limits = new Limits();
        known = new KnownRecords(limits);
        this.epochSeconds = epochSeconds;
        this.loadMbps = loadMbps;
        this.relays = relays;
        this.links.forEach(_ -> neighbours.add(new TreeMap<>(Nodes.BY_ADDRESS)));
    }

    /**
     * Takes an announcement, if it is one and comes by a link of this node.
     *
     * @param now by the clock of {@link System#nanoTime}
     */
    public void received(ByteBuffer datagram, InetAddress source, long now) {
        received(datagram, source, linkTo(source), now);
    }

    /**
     * The same, where it is known by which link it came: of a link-local source, nothing else says so.
     *
     * @param by the index of the link; less than 0 for none
     */
    public void received(ByteBuffer datagram, InetAddress source, int by, long now) {
        boolean ownNode =
                links.stream().anyMatch(link -> link.address().address().equals(source));
        int link = ownNode ? -1 : by;
        if (!ownNode && link < 0) {
            refused++;
            return;
        }
        if (!ownNode && RecordCodec.isOfOtherVersion(datagram)) {
            unreadable.hear(source, Incompatibility.OTHER_VERSION, now);
        }
        List<Sealed> records = RecordCodec.unpack(datagram);
        if (records.isEmpty()) {
            refused++;
        }
        for (Sealed sealed : records) {
            received(sealed, source, link, now);
        }
    }

    private int linkTo(InetAddress source) {
        for (int i = 0; i < links.size(); i++) {
            if (links.get(i).address().contains(source)) {
                return i;
            }
        }
        return -1;
    }

    private void received(Sealed sealed, InetAddress source, int link, long now) {
        if (sealed.instance() == self.instance()) {
            return;
        }
        Known former = known.of(sealed, link);
        if (former != null && sealed.isSame(former.sealed())) {
            if (link >= 0) {
                former.passed(link);
                noteOwnWord(former.record(), source, link, now); // of two cables to a node, one's copy comes second
            }
            return;
        }
        if (former != null && former.outdates(sealed)) {
            return;
        }
        Maker maker = limits.take(source, now) ? key.maker(sealed.body(), sealed.proof()) : Maker.UNTOLD;
        if (maker == Maker.STRANGER && link >= 0) {
            unreadable.hear(source, key.isClusterKey() ? Incompatibility.OTHER_KEY : Incompatibility.NO_KEY_HERE, now);
        }
        boolean isOfMember = maker == Maker.MEMBER;
        boolean counts = isOfMember || (maker == Maker.ANYBODY && (former == null || former.yieldsTo(sealed)));
        Optional<NodeRecord> read = (counts ? RecordCodec.decode(sealed.body()) : Optional.<NodeRecord>empty())
                .flatMap(record -> isOfMember ? Optional.of(record) : Unproven.taken(record, source, link, links))
                .filter(record -> checkClock(record, isOfMember));
        long passOn = link < 0 || !isOfMember ? 0 : ((1L << links.size()) - 1) & ~(1L << link);
        if (read.isEmpty() || !known.take(new Known(sealed, read.get(), source, isOfMember, now), passOn)) {
            refused++;
            return;
        }
        calls.hear(read.get().call(), now);
        noteOwnWord(read.get(), source, link, now);
    }

    /** Counts the maker of a record as a neighbour, if it has sent it itself; passing a record on makes none. */
    private void noteOwnWord(NodeRecord record, InetAddress source, int link, long now) {
        if (link < 0 || !record.hasLinkAt(source)) {
            return;
        }
        Map<InetAddress, Long> there = neighbours.get(link);
        if (there.containsKey(source) || there.size() < MAX_NEIGHBOURS) {
            there.put(source, now);
        }
    }

    /** Returns true if a record is neither recorded nor of a process that has ended; notes clocks that differ. */
    private boolean checkClock(NodeRecord record, boolean isOfMember) {
        long ahead = record.epochSeconds() - epochSeconds.getAsLong();
        if (Math.abs(ahead) > CLOCKS.toSeconds()) {
            otherClocks++;
            int most = isOfMember ? MAX_OTHER_CLOCKS : MAX_OTHER_CLOCKS_UNPROVEN;
            if (nodesWithOtherClocks.size() < most && nodesWithOtherClocks.add(record.node())) {
                otherClocksToTell.add(new OtherClock(record.name(), ahead));
            }
            return false;
        }
        return !known.isOfEnded(record);
    }

    /**
     * Sets whether this process needs relays. Until it does, it announces itself only while somebody near does.
     *
     * @param now what holds from now on
     */
    public void needRelays(boolean now) {
        calls.need(now);
    }

    /** Returns what is to be said now. */
    public List<Outgoing> tick(long now) {
        boolean called = calls.isCalled(now);
        if (called && !announces) {
            begun = now;
            nextAnnouncement = now;
        }
        announces = called;
        forget(now);
        boolean due = announces && now - nextAnnouncement >= 0;
        if (!due && known.waiting().isEmpty()) {
            return List.of();
        }
        Optional<Sealed> own = due ? Optional.of(RecordCodec.seal(announce(now), key)) : Optional.empty();
        List<Outgoing> outgoing = new ArrayList<>();
        for (int link = 0; link < links.size(); link++) {
            List<Sealed> there = new ArrayList<>();
            own.ifPresent(there::add);
            for (Known each : known.waiting()) {
                if (each.waitsFor(link)) {
                    there.add(each.sealed());
                }
            }
            for (byte[] datagram : RecordCodec.pack(there)) {
                outgoing.add(new Outgoing(link, datagram));
            }
        }
        known.clearWaiting();
        return outgoing;
    }

    private NodeRecord announce(long now) {
        nextAnnouncement = now + (now - begun < AT_FIRST.toNanos() ? FIRST_INTERVAL : INTERVAL).toNanos();
        sequence++;
        return own(calls.call(now));
    }

    private NodeRecord own(int call) {
        List<LinkRecord> now = new ArrayList<>();
        for (int i = 0; i < links.size(); i++) {
            Map<InetAddress, Long> there = neighbours.get(i);
            LinkRecord link = links.get(i);
            // a link-local subnet is on every link, so that all in it cannot count as heard on one
            boolean crowded =
                    there.size() > LinkRecord.MAX_NEIGHBOURS && !link.address().isLinkLocal();
            List<InetAddress> heard = crowded
                    ? List.of()
                    : there.keySet().stream().limit(LinkRecord.MAX_NEIGHBOURS).toList();
            now.add(new LinkRecord(
                    link.address(),
                    relays.getAsBoolean() ? link.relayPort() : 0,
                    link.speedMbps(),
                    link.rdma(),
                    heard,
                    crowded));
        }
        return new NodeRecord(
                self.instance(),
                sequence,
                epochSeconds.getAsLong(),
                self.node(),
                self.name(),
                Math.max(0, loadMbps.getAsInt()),
                call,
                now);
    }

    private void forget(long now) {
        known.forget(now, FORGOTTEN.toNanos());
        unreadable.forget(now, FORGOTTEN.toNanos());
        neighbours.forEach(there -> there.values().removeIf(heard -> now - heard > FORGOTTEN.toNanos()));
    }

    /** Returns whether there are records to be passed on, a moment after they came. */
    public boolean hasWaiting() {
        return !known.waiting().isEmpty();
    }

    /**
     * When {@link #tick} is to be called next, even if nothing comes; empty if it need not be, since nothing is
     * announced and nothing known.
     */
    public OptionalLong nextTick(long now) {
        if (calls.isCalled(now)) {
            return OptionalLong.of(announces ? nextAnnouncement : now);
        }
        boolean knowsNobody = known.isEmpty() && neighbours.stream().allMatch(Map::isEmpty);
        return knowsNobody ? OptionalLong.empty() : OptionalLong.of(now + FIRST_INTERVAL.toNanos());
    }

    /** The nodes that are known now, this process included; the same object as long as nothing has changed. */
    public Nodes nodes() {
        NodeRecord own = own(0);
        known.compare(lastOwn, own);
        lastOwn = own;
        Nodes now = nodes;
        Map<InetAddress, Incompatibility> complaints = unreadable.without(neighbours);
        boolean shared = key.isShared();
        if (known.takeChanged()
                || now == null
                || now.isComplete() != shared
                || !now.unreadable().equals(complaints)) {
            now = new Nodes(self.node(), known.with(own), known.structure(), complaints);
            now = shared ? now.ofMembers(known.provenWith(own)) : now;
            nodes = now;
        }
        return now;
    }

    /** The same as it was announced, this process's first. */
    List<NodeRecord> records() {
        return known.with(own(0));
    }

    /** Its links' addresses, by the index of {@link Outgoing}. */
    public List<InterfaceAddress> addresses() {
        return links.stream().map(LinkRecord::address).toList();
    }

    /** Datagrams and records that were not taken. */
    public long refused() {
        return refused;
    }

    /** Records that were not taken since there are so many. */
    public long overLimit() {
        return limits.exceeded();
    }

    /** The source of the first record that was not taken since there were so many; once. */
    public Optional<InetAddress> overLimitToTell() {
        return limits.toTell();
    }

    /** Records that were not taken since their clock, or this one, is far off. */
    public long otherClocks() {
        return otherClocks;
    }

    /** Nodes with other clocks that were not among those before; each is here once. */
    public List<OtherClock> otherClocksToTell() {
        if (otherClocksToTell.isEmpty()) {
            return List.of();
        }
        List<OtherClock> now = List.copyOf(otherClocksToTell);
        otherClocksToTell.clear();
        return now;
    }
}
