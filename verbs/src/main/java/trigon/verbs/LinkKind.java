package trigon.verbs;

/** What carries the data of a link. Both ends of a connection must be of the same kind. */
public enum LinkKind {
    /** An RDMA NIC, or SoftRoCE, behind libibverbs. */
    RDMA,
    /** Trigon's software device: the verbs over TCP. */
    SOFTWARE
}
