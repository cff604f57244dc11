package trigon.transport.failover.search;

/** Outcome of a check whether packets of the full size pass over a path. */
public enum PathCheck {
    PASSED,
    /** They are lost, and smaller ones pass. */
    NARROW,
    /** Nothing was answered in time. That says nothing of sizes; the lifelines tell whether the peer is there. */
    SILENT
}
