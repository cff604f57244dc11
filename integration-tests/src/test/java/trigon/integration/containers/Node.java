package trigon.integration.containers;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A container of the triangle. */
enum Node {
    A,
    B,
    C;

    int rank() {
        return ordinal();
    }

    /** Its host name. */
    String hostName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The node it sends to in a ring. */
    Node next() {
        return values()[(ordinal() + 1) % values().length];
    }

    List<Cable> cables() {
        return Arrays.stream(Cable.values()).filter(cable -> cable.reaches(this)).toList();
    }

    Cable cableTo(Node peer) {
        return cables().stream().filter(cable -> cable.reaches(peer)).findFirst().orElseThrow();
    }
}
