package trigon.policy.verdict;

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
