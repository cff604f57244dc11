package trigon.config.setting;

/** Links that may carry data. */
public enum LinkPolicy {
    /** RDMA where both ends have it, the software device elsewhere. */
    AUTO,
    /** RDMA only: a peer that cannot be reached by it is an error. */
    RDMA,
    /** The software device only. */
    SOFTWARE;

    /** As it is written in the file and in {@code TRIGON_LINKS}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
