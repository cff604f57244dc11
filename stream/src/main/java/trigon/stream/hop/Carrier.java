package trigon.stream.hop;

/** The carrier of a hop's bytes. */
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
