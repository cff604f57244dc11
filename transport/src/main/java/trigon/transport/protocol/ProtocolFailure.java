package trigon.transport.protocol;

import trigon.nccl.NcclResult;
import trigon.system.Errno;

/** Failure that ended a session's protocol at this end. */
public sealed interface ProtocolFailure {

    /**
     * The device refused a work request.
     *
     * @param path the number of the path
     * @param verb what was called
     * @param errno what it returned
     */
    record Refused(int path, String verb, int errno) implements ProtocolFailure {}

    /**
     * A message and its receive do not fit.
     *
     * @param message its number
     */
    record Mismatch(long message, int size, int tag, int capacity, int receiveTag) implements ProtocolFailure {

        @Override
        public int path() {
            return 0;
        }
    }

    /**
     * The device has completed what was not asked for: a peer that does not keep to the protocol sends more than fits.
     *
     * @param message the number of the oldest message that is not done
     * @param said what the completion says of its size
     */
    record Unasked(long message, int said) implements ProtocolFailure {

        @Override
        public int path() {
            return 0;
        }
    }

    /** The number of the path on which it showed. */
    int path();

    default NcclResult result() {
        return switch (this) {
            case Refused _ -> NcclResult.SYSTEM_ERROR;
            case Unasked _ -> NcclResult.REMOTE_ERROR;
            case Mismatch _ -> NcclResult.INVALID_USAGE;
        };
    }

    /** For the log and the peer. */
    default String words() {
        return switch (this) {
            case Refused(var _, String verb, int errno) -> verb + " failed with " + Errno.name(errno);
            case Unasked(long message, int said) ->
                "the peer says of message %d that it has %s bytes, which nobody has asked for"
                        .formatted(message, Integer.toUnsignedString(said));
            case Mismatch(long message, int size, int tag, int capacity, int receiveTag) ->
                "message %d of %d bytes with tag %d meets a receive of %d bytes with tag %d"
                        .formatted(message, size, tag, capacity, receiveTag);
        };
    }
}
