package trigon.entry.loopback;

import org.jspecify.annotations.Nullable;

/**
 * Makes compiled code meet null: HotSpot's implicit null checks are SIGSEGVs, which a host program's handler must not
 * see.
 */
final class NullChecks {

    private static final int ROUNDS = 20_000;
    private static final int SIZE = 64;

    private NullChecks() {}

    private static final class Node {
        int value = 1;

        @Nullable
        Node next;
    }

    /** Compiles a walk over nodes, then lets it run into the end of the list again and again. */
    static void run() {
        Node[] nodes = new Node[SIZE];
        for (int i = 0; i < SIZE; i++) {
            nodes[i] = new Node();
        }
        long caught = 0;
        for (int round = 0; round < ROUNDS; round++) {
            caught += walk(nodes, SIZE);
        }
        for (int round = 0; round < 200; round++) {
            caught += walk(nodes, SIZE + 1);
        }
        if (caught == 0) {
            throw new IllegalStateException("met no null");
        }
    }

    @SuppressWarnings({"NullAway", "CatchAndPrintStackTrace"})
    private static int walk(Node[] nodes, int steps) {
        int sum = 0;
        Node node = nodes[0];
        try {
            for (int i = 0; i < steps; i++) {
                nodes[Math.min(i, SIZE - 1)].next = i + 1 < SIZE ? nodes[i + 1] : null;
                sum += node.value;
                node = node.next;
            }
            return sum > 0 ? 0 : 1;
        } catch (NullPointerException expected) {
            return 1;
        }
    }
}
