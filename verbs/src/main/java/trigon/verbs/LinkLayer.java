package trigon.verbs;

/** What a port's link is ({@code ibv_port_attr.link_layer}). */
public enum LinkLayer {
    INFINIBAND,
    ETHERNET,
    /** The software device's: IP addresses and TCP ports. */
    TCP
}
