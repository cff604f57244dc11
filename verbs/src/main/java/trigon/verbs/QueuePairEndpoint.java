package trigon.verbs;

/**
 * The description of a queue pair for the other end, so that both can be connected.
 *
 * @param number queue pair number, 24 bits
 * @param psn the first packet sequence number it sends, 24 bits
 * @param gid GID of the port
 * @param lid LID of the port; 0 on Ethernet
 * @param mtu active MTU of the port; the path's is the smaller of both ends'
 */
public record QueuePairEndpoint(int number, int psn, Gid gid, int lid, Mtu mtu) {

    public QueuePairEndpoint {
        requireBits("queue pair number", number, 24);
        requireBits("packet sequence number", psn, 24);
        requireBits("LID", lid, 16);
    }

    /** The same with packets of at most that size. */
    public QueuePairEndpoint limitedTo(Mtu most) {
        return new QueuePairEndpoint(number, psn, gid, lid, Mtu.min(mtu, most));
    }

    private static void requireBits(String what, int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException(what + " " + value + " does not fit " + bits + " bits");
        }
    }

    @Override
    public String toString() {
        return "qp 0x%06x psn 0x%06x gid %s lid %d mtu %d".formatted(number, psn, gid, lid, mtu.bytes());
    }
}
