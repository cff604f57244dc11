package trigon.config.setting;

/** Carrier of connections through relays. */
public enum CircuitCarrier {
    /** RDMA on each link whose two ends have it, TCP on the others. */
    AUTO,
    /** TCP. */
    TCP;

    /** As it is written in the file and in {@code TRIGON_CIRCUITS_CARRIER}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
