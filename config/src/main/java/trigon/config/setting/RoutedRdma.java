package trigon.config.setting;

/** Whether RDMA goes over routes that have a gateway. */
public enum RoutedRdma {
    /** It does not; TCP does. */
    OFF,
    /** It does. */
    ON;

    /** As it is written in the file and in {@code TRIGON_ROUTES_RDMA}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
