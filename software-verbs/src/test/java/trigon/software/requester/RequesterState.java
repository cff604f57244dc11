package trigon.software.requester;

/** What tests ask of a requester; racy outside of its queue pair's lock. */
public final class RequesterState {

    private RequesterState() {}

    /** Whether long messages go in pieces by now. */
    public static boolean hasLanes(Requester requester) {
        return requester.lanes.areReady();
    }

    /** How many messages are on their way on lanes. */
    public static int onLanes(Requester requester) {
        return requester.outstanding.inPieces();
    }
}
