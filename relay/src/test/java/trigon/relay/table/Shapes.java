package trigon.relay.table;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/** Maps of well-known shapes, all of whose cables are alike. */
final class Shapes {

    static final int STEP = 22;

    private final TreeSet<NetworkMap.Cable> cables =
            new TreeSet<>(Comparator.comparingInt(NetworkMap.Cable::one).thenComparingInt(NetworkMap.Cable::other));

    private Shapes join(int one, int other) {
        if (one != other) {
            cables.add(new NetworkMap.Cable(Math.min(one, other), Math.max(one, other), STEP));
        }
        return this;
    }

    private NetworkMap of(int nodes) {
        return new NetworkMap(nodes, new BitSet(), new ArrayList<>(cables));
    }

    static NetworkMap torus(int... sizes) {
        Shapes shape = new Shapes();
        int nodes = 1;
        for (int size : sizes) {
            nodes *= size;
        }
        for (int node = 0; node < nodes; node++) {
            int stride = 1;
            for (int size : sizes) {
                int at = node / stride % size;
                shape.join(node, node + ((at + 1) % size - at) * stride);
                stride *= size;
            }
        }
        return shape.of(nodes);
    }

    static NetworkMap line(int nodes) {
        Shapes shape = new Shapes();
        for (int node = 1; node < nodes; node++) {
            shape.join(node - 1, node);
        }
        return shape.of(nodes);
    }

    static NetworkMap hypercube(int dimensions) {
        Shapes shape = new Shapes();
        for (int node = 0; node < 1 << dimensions; node++) {
            for (int bit = 0; bit < dimensions; bit++) {
                shape.join(node, node ^ 1 << bit);
            }
        }
        return shape.of(1 << dimensions);
    }

    /** Groups whose nodes are all joined, and a cable between each two groups. */
    static NetworkMap dragonfly(int groups, int size) {
        Shapes shape = new Shapes();
        for (int group = 0; group < groups; group++) {
            for (int node = 0; node < size; node++) {
                for (int other = node + 1; other < size; other++) {
                    shape.join(group * size + node, group * size + other);
                }
            }
            for (int other = group + 1; other < groups; other++) {
                int here = (other - group - 1) * size / (groups - 1);
                int there = (groups - (other - group) - 1) * size / (groups - 1);
                shape.join(group * size + here, other * size + there);
            }
        }
        return shape.of(groups * size);
    }

    /** Hubs on a centre, and nodes on each hub. */
    static NetworkMap stars(int hubs, int leaves) {
        Shapes shape = new Shapes();
        int next = 1;
        for (int i = 0; i < hubs; i++) {
            int hub = next++;
            shape.join(0, hub);
            for (int leaf = 0; leaf < leaves; leaf++) {
                shape.join(hub, next++);
            }
        }
        return shape.of(next);
    }

    /** A map of any number of nodes and cables. */
    static NetworkMap random(java.util.Random random, int most) {
        int nodes = 2 + random.nextInt(most - 1);
        List<NetworkMap.Cable> cables = new ArrayList<>();
        int count = random.nextInt(3 * nodes);
        int steps = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            int one = random.nextInt(nodes);
            int other = random.nextInt(nodes);
            if (one != other) {
                int step = random.nextInt(10) == 0 ? random.nextInt(31) : STEP - random.nextInt(steps);
                cables.add(new NetworkMap.Cable(Math.min(one, other), Math.max(one, other), step));
            }
        }
        BitSet idle = new BitSet();
        for (int node = 0; node < nodes; node++) {
            idle.set(node, random.nextInt(8) == 0);
        }
        return new NetworkMap(nodes, idle, cables);
    }
}
