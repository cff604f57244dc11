package trigon.integration.containers;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A container of the triangle. */
enum Node {
    A(0),
    B(1),
    C(2);

    private final int rank;

    Node(int rank) {
        this.rank = rank;
    }

    int rank() {
        return rank;
    }

    String hostName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The node it sends to in a ring. */
    Node next() {
        return switch (this) {
            case A -> B;
            case B -> C;
            case C -> A;
        };
    }

    List<Cable> cables() {
        return Arrays.stream(Cable.values())
                .filter(cable -> cable.reaches(this))
                .toList();
    }

    Cable cableTo(Node peer) {
        return cables().stream()
                .filter(cable -> cable.reaches(peer))
                .findFirst()
                .orElseThrow();
    }
}
