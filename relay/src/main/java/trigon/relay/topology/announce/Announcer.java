package trigon.relay.topology.announce;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.relay.topology.Nodes;
import trigon.relay.topology.Topology;
import trigon.stream.loop.EventLoop;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;

/**
 * Announces a process while relays are needed, and hears the others: by multicast with TTL 1 on each link, and by
 * unicast to addresses that are known. Its thread, {@value #THREAD_NAME}, is a daemon, and is not there before it is
 * {@linkplain #start started} or a need for relays is told. What it learns is {@link #nodes}, for any thread.
 */
public final class Announcer implements AutoCloseable {

    /** The thread that announces and listens, as thread dumps name it. */
    public static final String THREAD_NAME = "trigon-topology";

    private static final Logger log = LoggerFactory.getLogger(Announcer.class);

    /** Addresses of the ranges for one's own use, RFC 2365, and of one link, RFC 4291. */
    private static final String GROUP = "239.192.84.71";

    private static final String GROUP_6 = "ff12::5447";

    /** After too many datagrams. */
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Datagrams that are looked at in a second; more are a flood, and the kernel drops them. */
    private static final int MAX_A_SECOND = 20_000;

    /** Datagrams of one channel that are taken in a row: then it is the others' turn. */
    private static final int MAX_IN_A_ROW = 64;

    private static final int MAX_BYTES = 8 << 10;

    /** A receiver's group: of IPv4 on any interface, which is 0 then; equal addresses may differ in their zones. */
    private record Group(InetAddress address, int interfaceIndex) {}

    private final Topology topology;
    private final List<List<InetSocketAddress>> destinations = new ArrayList<>();
    private final List<Integer> interfaces;
    private final List<@Nullable DatagramChannel> senders = new ArrayList<>();
    private final Map<Group, DatagramChannel> receivers = new HashMap<>();
    private final Consumer<Nodes> onChange;
    private final ByteBuffer datagram = ByteBuffer.allocate(MAX_BYTES);
    private final EventLoop loop = new EventLoop(THREAD_NAME, "relays can no longer be found", NanoClock.SYSTEM);
    private final int port;
    private boolean gathers;
    private long gathersSince;
    private int inThisSecond;
    private long second = System.nanoTime();
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile Nodes nodes;
    private volatile boolean needsRelays;

    /**
     * Opens one. What comes waits in the kernel's queues until it is started.
     *
     * @param topology this process's; the announcer's from now on
     * @param port UDP, the same on all nodes
     * @param interfaces indices of the links' network interfaces, in the topology's order; 0 for unknown
     * @param others addresses of other nodes that are told by unicast
     * @param onChange hears what is known, twenty times a second at most, on the announcer's thread
     */
    public Announcer(
            Topology topology, int port, List<Integer> interfaces, List<InetAddress> others, Consumer<Nodes> onChange) {
        this.topology = topology;
        this.port = port;
        this.interfaces = List.copyOf(interfaces);
        this.onChange = onChange;
        nodes = topology.nodes();
        List<InterfaceAddress> links = topology.addresses();
        for (int i = 0; i < links.size(); i++) {
            open(links.get(i), interfaces.get(i), others);
        }
        loop.watch(new Turn());
    }

    /** Has its thread made, unless there is one: from now on it listens, and announces while relays are needed. */
    public void start() {
        loop.wakeUp();
    }

    /** The channels that it hears others by: the first datagram that comes there is what it is to be started for. */
    public List<SelectableChannel> channels() {
        List<SelectableChannel> all = new ArrayList<>(receivers.values());
        senders.stream().filter(Objects::nonNull).forEach(all::add);
        return all;
    }

    private void open(InterfaceAddress link, int interfaceIndex, List<InetAddress> others) {
        List<InetSocketAddress> to = new ArrayList<>();
        destinations.add(to);
        DatagramChannel sender = null;
        try {
            sender = channel(link.address());
            sender.bind(new InetSocketAddress(InterfaceAddress.inZone(link.address(), interfaceIndex), port));
            register(sender);
            others.stream()
                    .filter(other -> link.contains(other) && !other.equals(link.address()))
                    .forEach(other -> to.add(new InetSocketAddress(other, port)));
        } catch (IOException e) {
            log.warn("cannot announce this node on {}: {}", link, e.toString());
        }
        senders.add(sender);
        if (sender != null) {
            joinGroup(link, interfaceIndex, sender, to);
        }
    }

    private void register(DatagramChannel channel) throws IOException {
        loop.prepare(channel, SelectionKey.OP_READ, () -> receive(channel));
    }

    private static DatagramChannel channel(InetAddress address) throws IOException {
        DatagramChannel channel = DatagramChannel.open(
                address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true); // other processes of the node
        return channel;
    }

    private void joinGroup(
            InterfaceAddress link, int interfaceIndex, DatagramChannel sender, List<InetSocketAddress> to) {
        try {
            NetworkInterface network = interfaceIndex > 0
                    ? NetworkInterface.getByIndex(interfaceIndex)
                    : NetworkInterface.getByInetAddress(link.address());
            if (network == null || !network.supportsMulticast()) {
                noMulticast(link, network == null ? "it has no interface now" : network.getName() + " does not do it");
                return;
            }
            Group group = group(link, network);
            receiver(group).join(group.address(), network);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_IF, network);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1);
            sender.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true); // other processes of the node
            to.add(new InetSocketAddress(group.address(), port));
        } catch (IOException | RuntimeException e) {
            noMulticast(link, e.toString());
        }
    }

    private static void noMulticast(InterfaceAddress link, String why) {
        log.info("no multicast on {}: nodes there are found only if the cluster file names them: {}", link, why);
    }

    /** The kernel binds to a link-local group of IPv6 with its interface only; one of IPv4 is heard on all of them. */
    private static Group group(InterfaceAddress link, NetworkInterface network) throws IOException {
        if (link.address() instanceof Inet4Address) {
            return new Group(InetAddress.ofLiteral(GROUP), 0);
        }
        byte[] bytes = InetAddress.ofLiteral(GROUP_6).getAddress();
        return new Group(Inet6Address.getByAddress(null, bytes, network.getIndex()), network.getIndex());
    }

    private DatagramChannel receiver(Group group) throws IOException {
        DatagramChannel there = receivers.get(group);
        if (there != null) {
            return there;
        }
        DatagramChannel receiver = channel(group.address());
        try {
            receiver.bind(new InetSocketAddress(group.address(), port));
            register(receiver);
        } catch (IOException | RuntimeException e) {
            receiver.close();
            throw e;
        }
        receivers.put(group, receiver);
        return receiver;
    }

    public Nodes nodes() {
        return nodes;
    }

    /** The same, for a process that needs a route through relays: from now on it announces itself, and so do others. */
    public Nodes nodesToRelay() {
        if (!needsRelays) {
            needsRelays = true;
            loop.wakeUp();
        }
        return nodes;
    }

    /** This process needs no relays any more. */
    public void needNoRelays() {
        needsRelays = false;
    }

    /** Turns of the event loop: what is due is announced, and what is known is published. */
    private final class Turn implements EventLoop.Watched {

        @Override
        public long look() {
            long now = System.nanoTime();
            if (topology.hasWaiting()) {
                if (!gathers) {
                    gathers = true;
                    gathersSince = now;
                }
                long left = gathersSince + Topology.GATHER.toNanos() - now;
                if (left > 0) {
                    return left;
                }
            }
            gathers = false;
            topology.needRelays(needsRelays);
            topology.tick(now).forEach(Announcer.this::send);
            topology.otherClocksToTell().forEach(Announcer::tell);
            topology.overLimitToTell().ifPresent(Announcer::tellOfLimit);
            publish();
            OptionalLong next = topology.hasWaiting() ? OptionalLong.of(now) : topology.nextTick(now);
            return next.isEmpty() ? Long.MAX_VALUE : Math.clamp(next.getAsLong() - now, 1, LONGEST_NANOS);
        }

        @Override
        public void onEnd() {
            ended.countDown();
        }

        @Override
        public String toString() {
            return "the announcer";
        }
    }

    /** Returns whether it is closed, or a failure has ended it, which the log tells. */
    public boolean hasEnded() {
        return ended.getCount() == 0;
    }

    private static void tell(Topology.OtherClock other) {
        log.warn(
                "announcements of node {} are not taken: its clock is {} s {} this node's, so no relay is found through"
                        + " it; set the clocks of both nodes, by NTP",
                other.name(),
                Math.abs(other.seconds()),
                other.seconds() > 0 ? "ahead of" : "behind");
    }

    private static void tellOfLimit(InetAddress source) {
        log.warn(
                "too many announcements: those beyond the limit are dropped, starting with one from {}; if these"
                        + " are not your nodes, give yours the cluster key (TRIGON_CLUSTER_KEY_FILE)",
                InterfaceAddress.text(source));
    }

    private void publish() {
        Nodes now = topology.nodes();
        nodes = now;
        onChange.accept(now);
    }

    private void send(Topology.Outgoing outgoing) {
        DatagramChannel sender = senders.get(outgoing.link());
        if (sender == null) {
            return;
        }
        for (InetSocketAddress destination : destinations.get(outgoing.link())) {
            try {
                sender.send(ByteBuffer.wrap(outgoing.datagram()), destination);
            } catch (IOException e) { // no link, no room, nobody there: the next one comes in a second
                log.trace("nothing announced to {}: {}", destination, e.toString());
            }
        }
    }

    private void receive(DatagramChannel channel) {
        try {
            for (int i = 0; i < MAX_IN_A_ROW && countOrRest(); i++) {
                datagram.clear();
                if (!(channel.receive(datagram) instanceof InetSocketAddress source)) {
                    return;
                }
                datagram.flip();
                received(source.getAddress());
            }
        } catch (IOException e) { // an ICMP error of an earlier datagram
            log.trace("nothing heard at {}: {}", channel, e.toString());
        }
    }

    /** Takes a datagram; of a link-local source, the kernel says by which interface it came. */
    private void received(InetAddress source) {
        long now = System.nanoTime();
        int zone = source instanceof Inet6Address address ? address.getScopeId() : 0;
        if (zone == 0) {
            topology.received(datagram, withoutZone(source), now);
            return;
        }
        List<InterfaceAddress> links = topology.addresses();
        int by = -1;
        for (int i = 0; i < links.size() && by < 0; i++) {
            by = links.get(i).isLinkLocal() && interfaces.get(i) == zone ? i : -1;
        }
        topology.received(datagram, withoutZone(source), by, now);
    }

    private static InetAddress withoutZone(InetAddress address) {
        int bits = address.getAddress().length * Byte.SIZE;
        return new InterfaceAddress(address, bits).address();
    }

    /** Counts a datagram; returns false, after a rest, if there are too many in this second. */
    private boolean countOrRest() {
        long now = System.nanoTime();
        if (now - second > Duration.ofSeconds(1).toNanos()) {
            second = now;
            inThisSecond = 0;
        }
        boolean flood = ++inThisSecond > MAX_A_SECOND;
        if (flood) {
            LockSupport.parkNanos(REST_NANOS);
        }
        return !flood;
    }

    /** Ends the thread; the others forget this process after some seconds. Closing twice is allowed. */
    @Override
    public void close() {
        loop.close();
        for (DatagramChannel sender : senders) {
            try {
                if (sender != null) {
                    sender.close(); // one that could not be bound is not the event loop's
                }
            } catch (IOException e) {
                log.debug("{} cannot be closed", sender, e);
            }
        }
    }
}
