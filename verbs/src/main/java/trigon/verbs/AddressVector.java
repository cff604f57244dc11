package trigon.verbs;

/**
 * The route of packets to the peer's port ({@code struct ibv_ah_attr} with a global route).
 *
 * @param destination the peer port's GID
 * @param sourceGidIndex index of the local GID in the local port's table
 * @param destinationLid the peer port's LID; 0 on Ethernet
 * @param serviceLevel InfiniBand service level, 0 to 15
 * @param trafficClass 8 bits of the global route; on RoCE v2 the IP header's DSCP and ECN
 * @param hopLimit greatest number of routers on the way
 * @param port the local port, counted from 1
 */
public record AddressVector(
        Gid destination,
        int sourceGidIndex,
        int destinationLid,
        int serviceLevel,
        int trafficClass,
        int hopLimit,
        int port) {

    /** Lets RoCE packets be routed anywhere. */
    public static final int MAX_HOP_LIMIT = 255;
}
