package trigon.software.responder;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.software.memory.Checksum;
import trigon.software.wire.WireFormat;

/**
 * Compares the requests of a connection with their checks, if it goes through relays and the peer wants that. Used
 * under the queue pair's lock.
 */
final class IncomingChecks {

    /** From the first request on that is checked. */
    private @Nullable Checksum checksum;

    /** The connection has had a checked request: so all that follow are. */
    private boolean checked;

    private boolean ofPayload;
    private int payloadCheck;

    /** The next connection may be another. */
    void reset() {
        checked = false;
        ofPayload = false;
    }

    /** Begins a request, whose header lies at that address; returns false if that was altered. */
    boolean begin(long at) {
        int opcode = WireFormat.requestOpcode(at);
        boolean marked = (opcode & WireFormat.CHECKED) != 0;
        if (!marked && !checked) {
            return true;
        }
        Checksum mine = checksum();
        checked = true;
        if (!marked || mine.ofHeader(at) != WireFormat.headerCheck(at)) {
            return false;
        }
        ofPayload = (opcode & WireFormat.CHECKED_PAYLOAD) != 0;
        payloadCheck = WireFormat.payloadCheck(at);
        mine.begin();
        return true;
    }

    private Checksum checksum() {
        Checksum mine = checksum;
        if (mine == null) {
            mine = new Checksum();
            checksum = mine;
        }
        return mine;
    }

    /** Returns whether the payload is to be {@linkplain #add added}. */
    boolean isOfPayload() {
        return ofPayload;
    }

    /** Some of the payload, as it is in memory. */
    void add(ByteBuffer part) {
        checksum().add(part);
    }

    /** All of the payload has come: whether it is what its sender has sent. */
    boolean isPayloadRight() {
        return !ofPayload || checksum().value() == payloadCheck;
    }
}
