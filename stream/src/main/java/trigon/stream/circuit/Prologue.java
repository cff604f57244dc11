package trigon.stream.circuit;

/**
 * The first words of the two ends of a circuit, which go by TCP in any case: behind it, each hop may be upgraded.
 *
 * @param forward bytes from who asks for the circuit, 1 to 65535
 * @param back bytes from the other end, likewise
 */
public record Prologue(int forward, int back) {

    private static final int MAX = 0xFFFF;

    public Prologue {
        if (forward < 1 || forward > MAX || back < 1 || back > MAX) {
            throw new IllegalArgumentException("%d and %d bytes are not in 1..%d".formatted(forward, back, MAX));
        }
    }
}
