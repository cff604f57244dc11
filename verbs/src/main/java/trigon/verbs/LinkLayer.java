package trigon.verbs;

/** The type of a port's link ({@code ibv_port_attr.link_layer}). */
public enum LinkLayer {
    INFINIBAND,
    ETHERNET,
    /** The software device's: IP addresses and TCP ports. */
    TCP
}
