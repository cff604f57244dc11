package trigon.verbs;

import java.util.Set;

/** One attribute that {@code ibv_modify_qp(3)} can set ({@code enum ibv_qp_attr_mask}). */
public enum QueuePairAttribute {
    STATE(1),
    ACCESS_FLAGS(1 << 3),
    PKEY_INDEX(1 << 4),
    PORT(1 << 5),
    ADDRESS_VECTOR(1 << 7),
    PATH_MTU(1 << 8),
    TIMEOUT(1 << 9),
    RETRY_COUNT(1 << 10),
    RNR_RETRY(1 << 11),
    RECEIVE_PSN(1 << 12),
    MAX_READ_ATOMIC(1 << 13),
    MIN_RNR_TIMER(1 << 15),
    SEND_PSN(1 << 16),
    MAX_DESTINATION_READ_ATOMIC(1 << 17),
    DESTINATION_NUMBER(1 << 20);

    private final int bit;

    QueuePairAttribute(int bit) {
        this.bit = bit;
    }

    /** The bit in {@code enum ibv_qp_attr_mask}. */
    public int bit() {
        return bit;
    }

    /** All bits of the set, or-ed. */
    public static int bits(Set<QueuePairAttribute> attributes) {
        int bits = 0;
        for (QueuePairAttribute attribute : attributes) {
            bits |= attribute.bit;
        }
        return bits;
    }
}
