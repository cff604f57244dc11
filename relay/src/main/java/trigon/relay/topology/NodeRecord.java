package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A process's announcement.
 *
 * @param instance a random number of the process
 * @param sequence more with each announcement
 * @param epochSeconds its clock
 * @param node what its node is told apart by: processes of one node have the same
 * @param name of the node, for people; at most {@link #MAX_NAME} characters
 * @param loadMbps what it relays now, in Mbit/s
 * @param call how many nodes on, from one to its neighbour, others are to announce themselves as well; see
 *     {@link Calls}
 * @param links at most {@link #MAX_LINKS}
 */
public record NodeRecord(
        long instance,
        long sequence,
        long epochSeconds,
        long node,
        String name,
        int loadMbps,
        int call,
        List<LinkRecord> links) {

    /** Longer names are cut. */
    public static final int MAX_NAME = 63;

    /** More are not announced. */
    public static final int MAX_LINKS = 16;

    public NodeRecord {
        links = List.copyOf(links.size() > MAX_LINKS ? links.subList(0, MAX_LINKS) : links);
        name = name.length() > MAX_NAME ? name.substring(0, MAX_NAME) : name;
    }

    /** One that calls nobody. */
    NodeRecord(
            long instance,
            long sequence,
            long epochSeconds,
            long node,
            String name,
            int loadMbps,
            List<LinkRecord> links) {
        this(instance, sequence, epochSeconds, node, name, loadMbps, 0, links);
    }

    /** Returns whether one of its links has that address. */
    boolean hasLinkAt(InetAddress address) {
        return links.stream().anyMatch(link -> link.address().address().equals(address));
    }

    /** The same with what it has elsewhere; empty if that is nothing. */
    Optional<NodeRecord> withoutLinksAt(Set<InetAddress> addresses) {
        List<LinkRecord> left = links.stream()
                .filter(link -> !addresses.contains(link.address().address()))
                .toList();
        if (left.size() == links.size()) {
            return Optional.of(this);
        }
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of(new NodeRecord(instance, sequence, epochSeconds, node, name, loadMbps, call, left));
    }

    /** Returns whether node and links are those of another one, whatever relays there. */
    boolean hasStructureOf(NodeRecord other) {
        if (node != other.node || !name.equals(other.name) || links.size() != other.links.size()) {
            return false;
        }
        for (int i = 0; i < links.size(); i++) {
            if (!links.get(i).isLike(other.links.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether its relays are those of another one with the same structure, and have as much to do. */
    boolean hasRelaysOf(NodeRecord other) {
        for (int i = 0; i < links.size(); i++) {
            if (links.get(i).relayPort() != other.links.get(i).relayPort()) {
                return false;
            }
        }
        return loadMbps == other.loadMbps;
    }
}
