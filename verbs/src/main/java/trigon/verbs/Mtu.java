package trigon.verbs;

/** Path MTU ({@code enum ibv_mtu}): payload bytes of one packet. */
public enum Mtu {
    MTU_256(1, 256),
    MTU_512(2, 512),
    MTU_1024(3, 1024),
    MTU_2048(4, 2048),
    MTU_4096(5, 4096);

    private final int code;
    private final int bytes;

    Mtu(int code, int bytes) {
        this.code = code;
        this.bytes = bytes;
    }

    /** The value in {@code enum ibv_mtu}. */
    public int code() {
        return code;
    }

    /** Payload bytes of one packet. */
    public int bytes() {
        return bytes;
    }

    /** The MTU of that {@code enum ibv_mtu} value. */
    public static Mtu ofCode(int code) {
        for (Mtu mtu : values()) {
            if (mtu.code == code) {
                return mtu;
            }
        }
        throw new IllegalArgumentException("no ibv_mtu has the value " + code);
    }

    /** The smaller of the two: what a path between two ports carries. */
    public static Mtu min(Mtu one, Mtu other) {
        return one.code <= other.code ? one : other;
    }
}
