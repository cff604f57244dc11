package trigon.config.setting;

/** Use of routes with a gateway by RDMA. */
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
