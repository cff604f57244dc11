package trigon.testsupport.verbs;

/** A part of the contract; runs on a fabric. */
public interface OnFabric {

    /** The longest message of the contract's tests: any adapter takes it. */
    int LONGEST = 1 << 20;

    /** The fabric of an instance's tests. */
    VerbsFabric fabric();

    /** Settings of the queue pairs; slow devices override them with a longer timeout. */
    default QueuePairSettings settings() {
        return QueuePairSettings.DEFAULT;
    }

    /**
     * Tells whether requests may stay without completion when one fails locally, until the queue pair is moved to
     * ERROR. On SoftRoCE they do (Linux 6.1) if a retry of one before it had begun, which a requester in the error
     * state does not carry out; a late acknowledgement or a lost packet begins one, and emulated machines have both.
     */
    default boolean mayStrandRequests() {
        return false;
    }
}
