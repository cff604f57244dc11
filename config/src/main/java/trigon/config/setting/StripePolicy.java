package trigon.config.setting;

/** Over how many of the links that lead to the same peer a connection goes. */
public enum StripePolicy {
    /** All on RDMA links; one on software links, where NCCL's connections take turns. */
    AUTO,
    /** One. */
    ONE,
    /** All that lead there as directly as the best. */
    ALL;

    /** Tells whether a connection over RDMA links, or over software links, takes all of them. */
    public boolean allOn(boolean rdma) {
        return switch (this) {
            case AUTO -> rdma;
            case ONE -> false;
            case ALL -> true;
        };
    }

    /** As it is written in the file and in {@code TRIGON_STRIPES}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
