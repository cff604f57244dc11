package trigon.verbs;

/**
 * State of a port ({@code struct ibv_port_attr}, the part that is used here).
 *
 * @param state whether the port can carry data
 * @param activeMtu MTU in force
 * @param maxMessageSize longest message, in bytes
 * @param lid local identifier; on the software device, the TCP port its queue pairs are reached at
 * @param linkLayer what the link is
 * @param speedMbps data rate in Mbit/s: lanes times rate per lane
 */
public record PortAttributes(
        PortState state, Mtu activeMtu, long maxMessageSize, int lid, LinkLayer linkLayer, int speedMbps) {}
