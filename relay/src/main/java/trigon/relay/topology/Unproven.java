package trigon.relay.topology;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The part of a record that counts where anybody can have made it: what a node says of itself on a link that it shares
 * with this one. By the numbers that a record gets here, words from one link never
 * change what is known from another one, whatever process or node they say they are of.
 */
final class Unproven {

    /** The constant of SplittableRandom's generator: its multiples are far apart. */
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private Unproven() {}

    /**
     * The part of a record that counts; empty if nothing does.
     *
     * @param source the address that it came from
     * @param link the own link that it came by; less than 0: from another process of this node
     * @param own this node's links
     */
    static Optional<NodeRecord> taken(NodeRecord record, InetAddress source, int link, List<LinkRecord> own) {
        if (link < 0) {
            return Optional.of(record);
        }
        if (!record.hasLinkAt(source)) {
            return Optional.empty();
        }
        List<LinkRecord> links = record.links().stream()
                .filter(each -> own.get(link).address().contains(each.address().address())
                        || own.stream()
                                .noneMatch(other ->
                                        other.address().contains(each.address().address())))
                .toList();
        return Optional.of(new NodeRecord(
                numberOn(link, record.instance()),
                record.sequence(),
                record.epochSeconds(),
                numberOn(link, record.node()),
                record.name(),
                record.loadMbps(),
                record.call(),
                links));
    }

    /** The number by which a process or node is known that has been heard on a link. */
    static long numberOn(int link, long number) {
        return number ^ (link + 1) * GOLDEN;
    }
}
