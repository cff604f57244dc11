package trigon.stream.hop;

/** What carries the bytes of a hop. */
public enum Carrier {
    TCP(0),
    RDMA(1);

    private final byte code;

    Carrier(int code) {
        this.code = (byte) code;
    }

    /** On the wire. */
    byte code() {
        return code;
    }
}
