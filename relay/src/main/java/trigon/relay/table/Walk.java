package trigon.relay.table;

import java.util.List;

/**
 * A route by numbers.
 *
 * @param nodes one more than cables; the first and the last are its ends, the others relay
 * @param cables in their order
 */
public record Walk(List<Integer> nodes, List<Integer> cables) {

    public Walk {
        nodes = List.copyOf(nodes);
        cables = List.copyOf(cables);
    }

    /** The same from the other end. */
    Walk reversed() {
        return new Walk(nodes.reversed(), cables.reversed());
    }

    /** The number of nodes between its ends. */
    public int relays() {
        return cables.size() - 1;
    }
}
