package trigon.software.wire;

import trigon.verbs.Gid;

/** What came first on an accepted connection. */
public sealed interface Preamble {

    /**
     * A requester names itself and the queue pair that it wants.
     *
     * @param destinationNumber queue pair number at this end
     * @param sourceNumber queue pair number at the requester's end
     * @param firstPsn PSN of its first request
     * @param source GID of the requester's port
     * @param lane 0 for the connection of the requests, else the number of a lane
     */
    record Hello(int destinationNumber, int sourceNumber, int firstPsn, Gid source, int lane) implements Preamble {

        /** Whether pieces of messages are to come, and no requests. */
        public boolean isLane() {
            return lane != 0;
        }

        @Override
        public String toString() {
            return "qp 0x%06x of %s to qp 0x%06x, psn 0x%06x, lane %d"
                    .formatted(sourceNumber, source, destinationNumber, firstPsn, lane);
        }
    }

    /** What came is no preamble of this version, or is damaged; the reason is for the log. */
    record Malformed(String reason) implements Preamble {}
}
