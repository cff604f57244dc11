package trigon.software.wire;

import trigon.verbs.Gid;

/** The first bytes of an accepted connection. */
public sealed interface Preamble {

    /**
     * A requester names itself and the queue pair that it wants.
     *
     * @param destinationNumber queue pair number at this end
     * @param sourceNumber queue pair number at the requester's end
     * @param firstPsn PSN of its first request
     * @param source GID of the requester's port
     * @param upgrades whether the hops of a relayed connection are upgraded once it is accepted
     */
    record Hello(int destinationNumber, int sourceNumber, int firstPsn, Gid source, boolean upgrades)
            implements Preamble {

        @Override
        public String toString() {
            return "qp 0x%06x of %s to qp 0x%06x, psn 0x%06x"
                    .formatted(sourceNumber, source, destinationNumber, firstPsn);
        }
    }

    /** Something that is no preamble of this version, or is damaged; the reason is for the log. */
    record Malformed(String reason) implements Preamble {}
}
