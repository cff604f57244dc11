package trigon.topology;

import java.util.List;

/**
 * What a process announces.
 *
 * @param instance a random number of the process
 * @param sequence more with each announcement
 * @param epochSeconds its clock
 * @param node what its node is told apart by: processes of one node have the same
 * @param name of the node, for people; at most {@link #MOST_NAME} characters
 * @param loadMbps what it relays now, in Mbit/s
 * @param links at most {@link #MOST_LINKS}
 */
public record NodeRecord(
        long instance, long sequence, long epochSeconds, long node, String name, int loadMbps, List<LinkRecord> links) {

    /** Longer names are cut. */
    public static final int MOST_NAME = 63;

    /** More are not announced. */
    public static final int MOST_LINKS = 16;

    public NodeRecord {
        links = List.copyOf(links.size() > MOST_LINKS ? links.subList(0, MOST_LINKS) : links);
        name = name.length() > MOST_NAME ? name.substring(0, MOST_NAME) : name;
    }
}
