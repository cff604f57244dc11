package trigon.verbs;

/** The carrier of a link's data. Both ends of a connection must be of the same kind. */
public enum LinkKind {
    /** An RDMA NIC, or SoftRoCE, behind libibverbs. */
    RDMA,
    /** Trigon's software device: the verbs over TCP. */
    SOFTWARE
}
