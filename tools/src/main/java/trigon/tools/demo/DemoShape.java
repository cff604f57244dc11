package trigon.tools.demo;

import java.util.List;
import java.util.Locale;

/** Which nodes have cables to each other. A node is a letter, a cable the letters of its ends in their order. */
enum DemoShape {
    TRIANGLE("abc", "ab ac bc"),
    RING4("abcd", "ab bc cd ad"),
    LINE4("abcd", "ab bc cd"),
    STAR4("abcd", "ab ac ad");

    private final String nodes;
    private final String cables;

    DemoShape(String nodes, String cables) {
        this.nodes = nodes;
        this.cables = cables;
    }

    String nodes() {
        return nodes;
    }

    List<String> cables() {
        return List.of(cables.split(" ", -1));
    }

    /** The nodes by their ranks, in the orders that differ: a ring has no first rank, and the same both ways. */
    List<String> orders() {
        return nodes.length() == 3 ? List.of("abc") : List.of("abcd", "abdc", "acbd");
    }

    /** As it is typed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
