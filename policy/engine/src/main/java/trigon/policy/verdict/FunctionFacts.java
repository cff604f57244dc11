package trigon.policy.verdict;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Facts of a function's instructions, over all paths. The verifier adds to it on its own thread while it follows them;
 * after that nobody does, and any thread may read it.
 */
public final class FunctionFacts {

    private final BitSet visited = new BitSet();
    private final Map<Integer, Map<Place, Touch>> touches = new HashMap<>();
    private final Map<Integer, Set<Integer>> maps = new HashMap<>();
    private int stackBytes;

    private record Place(Region region, int index) {}

    /** A path has come to an instruction. */
    public void visit(int slot) {
        visited.set(slot);
    }

    /** On one path, an instruction may touch this memory as well. */
    public void touch(int slot, Touch touch) {
        touches.computeIfAbsent(slot, s -> new HashMap<>())
                .merge(new Place(touch.region(), touch.index()), touch, Touch::union);
    }

    /** On one path, a call of a helper is about this map. */
    public void map(int slot, int map) {
        maps.computeIfAbsent(slot, s -> new TreeSet<>()).add(map);
    }

    /** On one path, the function uses this many bytes of its stack, counted from its end. */
    public void usesStack(int bytes) {
        stackBytes = Math.max(stackBytes, (bytes + 7) / 8 * 8);
    }

    /** Tells whether some path comes to an instruction. */
    public boolean isVisited(int slot) {
        return visited.get(slot);
    }

    /**
     * The memory an instruction may touch, one entry for each region and index; of a helper, what its arguments give
     * it.
     */
    public List<Touch> touches(int slot) {
        return List.copyOf(touches.getOrDefault(slot, Map.of()).values());
    }

    /** The maps that a call of a helper may be about. */
    public Set<Integer> maps(int slot) {
        return maps.getOrDefault(slot, Set.of());
    }

    /** Bytes of its stack that a function uses, a multiple of 8. */
    public int stackBytes() {
        return stackBytes;
    }

    /**
     * Memory that an instruction may read or write, over all paths.
     *
     * @param index of the map; of a stack, the function it belongs to; of the context, 0
     * @param from first byte; of a stack, from its end
     * @param to first byte after it
     */
    public record Touch(Region region, int index, long from, long to) {

        Touch union(Touch other) {
            return new Touch(region, index, Math.min(from, other.from), Math.max(to, other.to));
        }
    }

    /** The memory that an address points into. */
    public enum Region {
        CONTEXT("context"),
        STACK("stack"),
        /** A map as such, for helpers. */
        MAP("map"),
        /** A value in a map, or a global variable. */
        MAP_VALUE("map value");

        private final String text;

        Region(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
