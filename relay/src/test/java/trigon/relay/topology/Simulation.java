package trigon.relay.topology;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import trigon.config.cluster.ClusterKey;
import trigon.system.InterfaceAddress;

/**
 * Nodes with cables and switches between them, in simulated time; each delays datagrams by 0.1 to 1 ms, and may lose
 * some.
 */
final class Simulation {

    static final long MILLI = 1_000_000;

    /** A node that says nothing looks up so often, as if something woke it. */
    private static final long IDLE = 1000 * MILLI;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Arrival(long time, long order, int node, InetAddress source, byte[] datagram) {}

    private record Tick(long time, int node) {}

    private record End(int node, InetAddress address) {}

    /** Of a node that counts for nothing but what it says: it hears so many on its switch, the second of it first. */
    private static final int HEARD_BY_EXTRAS = LinkRecord.MAX_NEIGHBOURS + 3;

    final List<Topology> nodes = new ArrayList<>();
    private final List<List<InterfaceAddress>> addresses = new ArrayList<>();
    private final Map<String, List<End>> cables = new TreeMap<>();
    private final List<Map<Integer, String>> cableOf = new ArrayList<>();
    private final PriorityQueue<Arrival> arrivals = new PriorityQueue<>(
            (a, b) -> a.time != b.time ? Long.compare(a.time, b.time) : Long.compare(a.order, b.order));
    private final Random random;
    private final double loss;
    private final Map<String, Boolean> cut = new HashMap<>();
    private final List<Tick> nextTick = new ArrayList<>();
    private final TreeSet<Tick> ticks =
            new TreeSet<>(Comparator.comparingLong(Tick::time).thenComparingInt(Tick::node));
    private final AnnouncementKey key;
    private final List<List<LinkRecord>> links = new ArrayList<>();
    private int extrasFrom = Integer.MAX_VALUE;
    long now;
    long datagrams;
    long bytes;

    /** What the calls of those took that are no extras. */
    long processorNanos;

    private long order;
    private long lastInstance = 1000;

    /**
     * A network.
     *
     * @param count of nodes
     * @param joined nodes with a cable of their own, or on a switch of their own if they are more than two
     */
    Simulation(int count, List<int[]> joined, double loss, long seed, AnnouncementKey key) {
        random = new Random(seed);
        this.loss = loss;
        this.key = key;
        for (int i = 0; i < count; i++) {
            links.add(new ArrayList<>());
            addresses.add(new ArrayList<>());
            cableOf.add(new HashMap<>());
        }
        for (int cable = 0; cable < joined.size(); cable++) {
            int[] ends = joined.get(cable);
            boolean isCable = ends.length == 2;
            String name = isCable ? ends[0] + "-" + ends[1] : "switch " + cable;
            for (int i = 0; i < ends.length; i++) {
                InetAddress address = isCable
                        ? address(10, 100 + cable / 250, cable % 250, i + 1)
                        : address(10, 1 + cable, i / 250, i % 250 + 1);
                plug(name, ends[i], address, isCable ? 24 : 16);
            }
        }
        for (int i = 0; i < count; i++) {
            nodes.add(process(i));
            Tick first = new Tick((long) (random.nextDouble() * 200 * MILLI), i);
            nextTick.add(first);
            ticks.add(first);
        }
    }

    private Topology process(int node) {
        Origin origin = new Origin(lastInstance++, node, "n" + node);
        Topology process = new Topology(origin, links.get(node), key, () -> now / 1_000_000_000, () -> 0);
        process.needRelays(true);
        return process;
    }

    /** From that node on, nodes are extras: in memory and time, they cost next to nothing. Before anything runs. */
    void extrasFrom(int node) {
        extrasFrom = node;
    }

    /** A new process on a node, in the place of the former one; returns its number. */
    long restart(int node) {
        nodes.set(node, process(node));
        tickAt(node, now);
        return lastInstance - 1;
    }

    private void plug(String cable, int node, InetAddress address, int prefix) {
        InterfaceAddress own = new InterfaceAddress(address, prefix);
        cableOf.get(node).put(links.get(node).size(), cable);
        links.get(node).add(LinkRecord.silent(own, 5000, 100_000));
        addresses.get(node).add(own);
        cables.computeIfAbsent(cable, _ -> new ArrayList<>()).add(new End(node, address));
    }

    /** RDMA carries hops over the cable between two nodes. Before anything runs. */
    void rdma(int a, int b) {
        for (int node : new int[] {a, b}) {
            links.get(node)
                    .replaceAll(link -> cableOf(node, link).equals(a + "-" + b)
                            ? new LinkRecord(link.address(), link.relayPort(), link.speedMbps(), true, List.of(), false)
                            : link);
            nodes.set(node, process(node));
        }
    }

    private String cableOf(int node, LinkRecord link) {
        return cableOf.get(node).getOrDefault(links.get(node).indexOf(link), "");
    }

    static InetAddress address(int... bytes) {
        try {
            return InetAddress.getByAddress(
                    new byte[] {(byte) bytes[0], (byte) bytes[1], (byte) bytes[2], (byte) bytes[3]});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    void cut(int a, int b) {
        cut.put(a + "-" + b, true);
    }

    void mend(int a, int b) {
        cut.remove(a + "-" + b);
    }

    InterfaceAddress address(int node, int link) {
        return addresses.get(node).get(link);
    }

    /** A stranger's datagram at a node. */
    void inject(int node, InetAddress source, byte[] datagram) {
        arrivals.add(new Arrival(now, order++, node, source, datagram));
    }

    /** Runs until that time, in milliseconds. */
    void runUntil(long millis) {
        long end = millis * MILLI;
        while (true) {
            Tick next = ticks.first();
            Arrival arrival = arrivals.peek();
            boolean isTick = arrival == null || next.time <= arrival.time;
            long time = isTick || arrival == null ? next.time : arrival.time;
            if (time > end) {
                now = end;
                return;
            }
            now = time;
            if (isTick || arrival == null) {
                tick(next.node);
            } else {
                arrivals.remove();
                Topology to = nodes.get(arrival.node);
                long begin = System.nanoTime();
                to.received(ByteBuffer.wrap(arrival.datagram), arrival.source, now);
                took(arrival.node, System.nanoTime() - begin);
                long due = to.hasWaiting()
                        ? now + Topology.GATHER.toNanos()
                        : to.nextTick(now).orElse(Long.MAX_VALUE);
                tickAt(arrival.node, Math.min(nextTick.get(arrival.node).time, due));
            }
        }
    }

    /** A call that takes longer was interrupted by something else on the machine. */
    private void took(int node, long nanos) {
        if (node < extrasFrom) {
            processorNanos += Math.min(nanos, MILLI);
        }
    }

    private void tickAt(int node, long time) {
        ticks.remove(nextTick.get(node));
        Tick next = new Tick(time, node);
        nextTick.set(node, next);
        ticks.add(next);
    }

    private void tick(int node) {
        Topology topology = nodes.get(node);
        long begin = System.nanoTime();
        List<Topology.Outgoing> all = topology.tick(now);
        took(node, System.nanoTime() - begin);
        for (Topology.Outgoing outgoing : all) {
            String cable = cableOf.get(node).get(outgoing.link());
            if (node < extrasFrom) {
                datagrams++;
                bytes += outgoing.datagram().length;
            }
            if (cut.containsKey(cable)) {
                continue;
            }
            InetAddress source = addresses.get(node).get(outgoing.link()).address();
            List<End> ends = cables.getOrDefault(cable, List.of());
            for (int i = 0; i < ends.size(); i++) {
                End end = ends.get(i);
                if (end.node != node && hears(end.node, ends, node) && random.nextDouble() >= loss) {
                    long delay = (long) (MILLI * (0.1 + 0.9 * random.nextDouble()));
                    arrivals.add(new Arrival(now + delay, order++, end.node, source, outgoing.datagram()));
                }
            }
        }
        tickAt(node, Math.max(now + 1, topology.nextTick(now).orElse(now + IDLE)));
    }

    private boolean hears(int node, List<End> ends, int sender) {
        return node < extrasFrom
                || ends.subList(1, Math.min(ends.size(), HEARD_BY_EXTRAS)).stream()
                        .anyMatch(end -> end.node == sender);
    }

    /** From now on only these need relays; at first all nodes do. */
    void onlyNeededBy(Integer... some) {
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).needRelays(List.of(some).contains(i));
        }
    }

    static AnnouncementKey clusterKey() {
        return new AnnouncementKey(Optional.of(new ClusterKey(Path.of("/key"), new byte[32])));
    }

    static AnnouncementKey noKey() {
        return new AnnouncementKey(Optional.empty());
    }

    static List<int[]> ring(int count) {
        List<int[]> joined = line(count);
        joined.add(new int[] {0, count - 1});
        return joined;
    }

    /** One switch for all nodes, and no other link. */
    static List<int[]> switched(int count) {
        return List.of(IntStream.range(0, count).toArray());
    }

    /** Rows and columns whose ends are joined. */
    static List<int[]> torus(int rows, int columns) {
        List<int[]> joined = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                int here = row * columns + column;
                joined.add(new int[] {here, row * columns + (column + 1) % columns});
                joined.add(new int[] {here, (row + 1) % rows * columns + column});
            }
        }
        return joined;
    }

    /** A node in the middle, with a switch on each of its links. */
    static List<int[]> starOfSwitches(int count, int links) {
        List<int[]> joined = new ArrayList<>();
        for (int i = 0; i < links; i++) {
            int first = i + 1;
            joined.add(IntStream.concat(
                            IntStream.of(0), IntStream.iterate(first, node -> node < count, node -> node + links))
                    .toArray());
        }
        return joined;
    }

    static List<int[]> line(int count) {
        List<int[]> joined = new ArrayList<>();
        for (int i = 0; i + 1 < count; i++) {
            joined.add(new int[] {i, i + 1});
        }
        return joined;
    }

    static List<int[]> star(int count) {
        List<int[]> joined = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            joined.add(new int[] {0, i});
        }
        return joined;
    }

    static List<int[]> mesh(int count) {
        List<int[]> joined = new ArrayList<>();
        for (int a = 0; a < count; a++) {
            for (int b = a + 1; b < count; b++) {
                joined.add(new int[] {a, b});
            }
        }
        return joined;
    }

    /** The routes from a node to an address, each once. */
    static List<Route> routes(Nodes from, InetAddress to) {
        return new TableRoutes(() -> from).to(at(to), 0).stream().distinct().toList();
    }

    /** A node that is known by an address alone. */
    static Node at(InetAddress address) {
        InterfaceAddress whole = new InterfaceAddress(address, address.getAddress().length * Byte.SIZE);
        return new Node(0, "", List.of(new Node.Link(whole, Integer.MAX_VALUE, false, Set.of(), false, List.of())));
    }
}
