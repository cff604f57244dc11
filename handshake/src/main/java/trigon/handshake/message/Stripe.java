package trigon.handshake.message;

/**
 * The queue pairs of a connection that an offer is about. Each is offered by a handshake of its own, over its own path.
 *
 * @param attempt number of the attempt at the connection, random: all its offers have the same, and end those of others
 * @param index which one, 0 to {@code offered} - 1
 * @param offered how many are offered, 1 to {@value #MAX}; both ends know by it how messages go, however many come up
 */
public record Stripe(long attempt, int index, int offered) {

    /** The most queue pairs that a connection can have. */
    public static final int MAX = 8;

    public Stripe {
        requireCount(offered);
        if (index < 0 || index >= offered) {
            throw new IllegalArgumentException("queue pair %d is not in 0..%d".formatted(index, offered - 1));
        }
    }

    /** Returns whether messages may go in parts, over several queue pairs. */
    public boolean isOneOfSeveral() {
        return offered > 1;
    }

    static void requireCount(int stripes) {
        if (stripes < 1 || stripes > MAX) {
            throw new IllegalArgumentException("%d queue pairs is not in 1..%d".formatted(stripes, MAX));
        }
    }
}
