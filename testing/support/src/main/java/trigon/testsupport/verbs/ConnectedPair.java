package trigon.testsupport.verbs;

/**
 * Two queue pairs that are connected and ready to send, with the devices and completion queues they need. Used by one
 * thread.
 *
 * @param first the end at the fabric's first place
 * @param second the end at the fabric's second place
 */
public record ConnectedPair(VerbsEnd first, VerbsEnd second) implements AutoCloseable {

    /** Opens and connects with {@link QueuePairSettings#DEFAULT}. */
    public static ConnectedPair open(VerbsFabric fabric) {
        return open(fabric, QueuePairSettings.DEFAULT);
    }

    /**
     * Opens both ends and brings their queue pairs to READY_TO_SEND.
     *
     * @param settings how the queue pairs are made
     */
    public static ConnectedPair open(VerbsFabric fabric, QueuePairSettings settings) {
        ConnectedPair pair = create(fabric, settings);
        try {
            pair.first.becomeReadyToReceive(pair.second.endpoint());
            pair.second.becomeReadyToReceive(pair.first.endpoint());
            pair.first.becomeReadyToSend();
            pair.second.becomeReadyToSend();
            return pair;
        } catch (RuntimeException | Error e) {
            pair.close();
            throw e;
        }
    }

    /** Opens both ends and leaves the queue pairs in RESET. */
    public static ConnectedPair create(VerbsFabric fabric, QueuePairSettings settings) {
        VerbsEnd first = new VerbsEnd(fabric.first(), settings);
        try {
            return new ConnectedPair(first, new VerbsEnd(fabric.second(), settings));
        } catch (RuntimeException | Error e) {
            first.close();
            throw e;
        }
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
