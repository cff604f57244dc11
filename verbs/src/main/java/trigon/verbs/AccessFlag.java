package trigon.verbs;

import java.util.Set;

/** A permission of a memory region, or of a queue pair ({@code enum ibv_access_flags}). */
public enum AccessFlag {
    LOCAL_WRITE(1),
    REMOTE_WRITE(1 << 1),
    REMOTE_READ(1 << 2),
    RELAXED_ORDERING(1 << 20);

    private final int bit;

    AccessFlag(int bit) {
        this.bit = bit;
    }

    /** The bit in {@code enum ibv_access_flags}. */
    public int bit() {
        return bit;
    }

    /** All bits of the set, or-ed. */
    public static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        for (AccessFlag flag : flags) {
            bits |= flag.bit;
        }
        return bits;
    }
}
