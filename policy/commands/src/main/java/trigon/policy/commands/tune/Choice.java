package trigon.policy.commands.tune;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How NCCL runs a collective.
 *
 * @param algorithm NCCL's number
 * @param protocol NCCL's number
 */
record Choice(int algorithm, int protocol, int channels) implements Comparable<Choice> {

    private static final List<String> ALGORITHMS =
            List.of("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT");
    private static final List<String> PROTOCOLS = List.of("LL", "LL128", "Simple");

    private static final Comparator<Choice> ORDER = Comparator.comparingInt(Choice::channels)
            .thenComparingInt(Choice::algorithm)
            .thenComparingInt(Choice::protocol);

    /** Reads a report's {@code Ring/Simple}; empty for another text. */
    static Optional<Choice> of(String algorithm, int channels) {
        String[] parts = algorithm.split("/", -1);
        return Optional.of(
                        new Choice(ALGORITHMS.indexOf(parts[0]), PROTOCOLS.indexOf(parts[parts.length - 1]), channels))
                .filter(choice -> choice.algorithm >= 0 && choice.protocol >= 0 && channels > 0);
    }

    /** The fewest channels first. */
    @Override
    public int compareTo(Choice other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return "%s/%s/%d".formatted(ALGORITHMS.get(algorithm), PROTOCOLS.get(protocol), channels);
    }
}
