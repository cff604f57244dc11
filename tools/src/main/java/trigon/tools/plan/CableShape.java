package trigon.tools.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** A well-known way to cable nodes, and its sizes: for example {@code ring8} and {@code torus4x4x4}. */
enum CableShape {
    /** Each has a cable to the next, and the last to the first. */
    RING(1),
    LINE(1),
    /** One has a cable to each other. */
    STAR(1),
    MESH(1),
    /** Rings in two or three directions. */
    TORUS(2, 3),
    /** So many directions of two nodes each. */
    HYPERCUBE(1),
    /** So many groups of so many nodes: meshes with a cable between each two of them. */
    DRAGONFLY(2),
    /** So many hubs, which have a cable to a centre and to so many nodes each. */
    STARS(2);

    private static final Pattern TEXT = Pattern.compile("([a-z]+):?([0-9]{1,4}(?:x[0-9]{1,4}){0,2})");

    private final int fewest;
    private final int most;

    CableShape(int sizes) {
        this(sizes, sizes);
    }

    CableShape(int fewest, int most) {
        this.fewest = fewest;
        this.most = most;
    }

    /**
     * A shape with its sizes.
     *
     * @param cables each has the numbers of two nodes, the lower one first
     */
    record Sized(int nodes, List<int[]> cables) {}

    /**
     * Reads a shape.
     *
     * @throws IllegalArgumentException if it is none
     */
    static Sized parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (matcher.matches()) {
            int[] sizes = Arrays.stream(matcher.group(2).split("x", -1))
                    .mapToInt(Integer::parseInt)
                    .toArray();
            for (CableShape shape : values()) {
                boolean isIt = shape.name().equalsIgnoreCase(matcher.group(1))
                        && sizes.length >= shape.fewest
                        && sizes.length <= shape.most;
                if (isIt && shape.nodes(sizes) >= 2 && shape.nodes(sizes) <= Cabling.MAX_NODES) {
                    return new Sized((int) shape.nodes(sizes), shape.cables(sizes));
                }
            }
        }
        throw new IllegalArgumentException(
                ("--shape is %s: must be ring, line, star or mesh and a number of nodes, such"
                                + " as ring8; torus4x4, torus4x4x4, hypercube6, dragonfly9x4 (groups, nodes of each) or"
                                + " stars7x8 (hubs, nodes of each); with 2 to %d nodes")
                        .formatted(text, Cabling.MAX_NODES));
    }

    private long nodes(int[] sizes) {
        long product = Arrays.stream(sizes).asLongStream().reduce(1, (one, other) -> one * other);
        return switch (this) {
            case HYPERCUBE -> sizes[0] > 10 ? Long.MAX_VALUE : 1L << sizes[0];
            case STARS -> 1 + sizes[0] + product;
            case TORUS -> Arrays.stream(sizes).allMatch(size -> size > 1) ? product : 0;
            case RING, LINE, STAR, MESH, DRAGONFLY -> product;
        };
    }

    private List<int[]> cables(int[] sizes) {
        List<int[]> cables = new ArrayList<>();
        boolean[][] joined = new boolean[(int) nodes(sizes)][(int) nodes(sizes)];
        join(sizes, (one, other) -> {
            int low = Math.min(one, other);
            int high = Math.max(one, other);
            if (low < high && !joined[low][high]) {
                joined[low][high] = true;
                cables.add(new int[] {low, high});
            }
        });
        return cables;
    }

    private void join(int[] sizes, BiConsumer<Integer, Integer> join) {
        switch (this) {
            case RING, TORUS -> joinTorus(sizes, join);
            case LINE -> {
                for (int node = 1; node < sizes[0]; node++) {
                    join.accept(node - 1, node);
                }
            }
            case STAR -> {
                for (int node = 1; node < sizes[0]; node++) {
                    join.accept(0, node);
                }
            }
            case MESH -> joinAll(0, sizes[0], join);
            case HYPERCUBE -> joinTorus(IntStream.range(0, sizes[0]).map(_ -> 2).toArray(), join);
            case DRAGONFLY -> joinGroups(sizes[0], sizes[1], join);
            case STARS -> joinStars(sizes[0], sizes[1], join);
        }
    }

    private static void joinAll(int from, int to, BiConsumer<Integer, Integer> join) {
        for (int one = from; one < to; one++) {
            for (int other = one + 1; other < to; other++) {
                join.accept(one, other);
            }
        }
    }

    private static void joinTorus(int[] sizes, BiConsumer<Integer, Integer> join) {

        int nodes = Arrays.stream(sizes).reduce(1, (one, other) -> one * other);
        for (int node = 0; node < nodes; node++) {
            int stride = 1;
            for (int size : sizes) {
                int at = node / stride % size;
                join.accept(node, node + ((at + 1) % size - at) * stride);
                stride *= size;
            }
        }
    }

    private static void joinGroups(int groups, int size, BiConsumer<Integer, Integer> join) {
        for (int group = 0; group < groups; group++) {
            joinAll(group * size, (group + 1) * size, join);
            for (int other = group + 1; other < groups; other++) {
                int here = (other - group - 1) * size / (groups - 1);
                int there = (groups - other + group - 1) * size / (groups - 1);
                join.accept(group * size + here, other * size + there);
            }
        }
    }

    private static void joinStars(int hubs, int size, BiConsumer<Integer, Integer> join) {
        for (int hub = 0; hub < hubs; hub++) {
            int first = 1 + hub * (1 + size);
            join.accept(0, first);
            for (int node = 1; node <= size; node++) {
                join.accept(first, first + node);
            }
        }
    }
}
