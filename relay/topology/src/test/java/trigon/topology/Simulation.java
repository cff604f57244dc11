package trigon.topology;

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
import java.util.TreeMap;
import java.util.TreeSet;
import trigon.config.cluster.ClusterKey;
import trigon.system.InterfaceAddress;

/** Nodes with cables between them, in simulated time; each cable delays datagrams by 0.1 to 1 ms, and may lose some. */
final class Simulation {

    static final long MILLI = 1_000_000;

    /** A node that says nothing looks up so often, as if something woke it. */
    private static final long IDLE = 1000 * MILLI;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Arrival(long time, long order, int node, InetAddress source, byte[] datagram) {}

    private record Tick(long time, int node) {}

    private record End(int node, InetAddress address) {}

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
    long now;
    long datagrams;
    long bytes;
    private long order;

    /**
     * A network.
     *
     * @param count of nodes
     * @param joined pairs of nodes with a cable of their own; or a single pair {0, -1}: all on one switch
     */
    Simulation(int count, List<int[]> joined, double loss, long seed, AnnouncementKey key) {
        random = new Random(seed);
        this.loss = loss;
        List<List<LinkRecord>> links = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            links.add(new ArrayList<>());
            addresses.add(new ArrayList<>());
            cableOf.add(new HashMap<>());
        }
        int cable = 0;
        for (int[] pair : joined) {
            if (pair[1] < 0) {
                for (int i = 0; i < count; i++) {
                    plug(links, "switch", i, address(10, 1, i / 250, i % 250 + 1), 16);
                }
            } else {
                String name = pair[0] + "-" + pair[1];
                plug(links, name, pair[0], address(10, 100 + cable / 250, cable % 250, 1), 24);
                plug(links, name, pair[1], address(10, 100 + cable / 250, cable % 250, 2), 24);
                cable++;
            }
        }
        for (int i = 0; i < count; i++) {
            nodes.add(new Topology(
                    new Origin(1000 + i, i, "n" + i), links.get(i), key, () -> now / 1_000_000_000, () -> 0));
            nodes.getLast().needRelays(true);
            Tick first = new Tick((long) (random.nextDouble() * 200 * MILLI), i);
            nextTick.add(first);
            ticks.add(first);
        }
    }

    private void plug(List<List<LinkRecord>> links, String cable, int node, InetAddress address, int prefix) {
        InterfaceAddress own = new InterfaceAddress(address, prefix);
        cableOf.get(node).put(links.get(node).size(), cable);
        links.get(node).add(LinkRecord.silent(own, 5000, 100_000));
        addresses.get(node).add(own);
        cables.computeIfAbsent(cable, _ -> new ArrayList<>()).add(new End(node, address));
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
                to.received(ByteBuffer.wrap(arrival.datagram), arrival.source, now);
                long due = to.hasWaiting() ? now + 10 * MILLI : to.nextTick(now).orElse(Long.MAX_VALUE);
                tickAt(arrival.node, Math.min(nextTick.get(arrival.node).time, due));
            }
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
        for (Topology.Outgoing outgoing : topology.tick(now)) {
            String cable = cableOf.get(node).get(outgoing.link());
            datagrams++;
            bytes += outgoing.datagram().length;
            if (cut.containsKey(cable)) {
                continue;
            }
            InetAddress source = addresses.get(node).get(outgoing.link()).address();
            for (End end : cables.getOrDefault(cable, List.of())) {
                if (end.node != node && random.nextDouble() >= loss) {
                    long delay = (long) (MILLI * (0.1 + 0.9 * random.nextDouble()));
                    arrivals.add(new Arrival(now + delay, order++, end.node, source, outgoing.datagram()));
                }
            }
        }
        tickAt(node, Math.max(now + 1, topology.nextTick(now).orElse(now + IDLE)));
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
}
