package trigon.software.requester;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.software.CircuitChecks;
import trigon.software.memory.Checksum;
import trigon.software.wire.WireFormat;

/** The checks of requests on one connection that goes through relays. Used under the queue pair's lock. */
final class OutgoingChecks {

    private final boolean ofAll;
    private final Checksum checksum = new Checksum();

    /** Payloads so far that are not always checked. */
    private int longOnes;

    private OutgoingChecks(boolean ofAll) {
        this.ofAll = ofAll;
    }

    /** Null if nothing is checked. */
    static @Nullable OutgoingChecks of(CircuitChecks which) {
        return which == CircuitChecks.NONE ? null : new OutgoingChecks(which == CircuitChecks.ALL);
    }

    /** The request whose header lies at that address is checked; whether its payload is, too, which is added next. */
    boolean begin(long header) {
        int length = WireFormat.requestLength(header);
        boolean ofPayload = length > 0 && isSend(header) && (ofAll || isDue(length));
        WireFormat.addToOpcode(
                header, ofPayload ? WireFormat.CHECKED | WireFormat.CHECKED_PAYLOAD : WireFormat.CHECKED);
        checksum.begin();
        return ofPayload;
    }

    private static boolean isSend(long header) {
        return WireFormat.isSend(WireFormat.plainOpcode(WireFormat.requestOpcode(header)));
    }

    private boolean isDue(int length) {
        return length <= CircuitChecks.ALWAYS_BYTES || longOnes++ % CircuitChecks.ONE_IN == 0;
    }

    /** Some of the payload. */
    void add(ByteBuffer part) {
        checksum.add(part);
    }

    /** Puts the checks into the header. */
    void finish(long header, boolean ofPayload) {
        if (ofPayload) {
            WireFormat.putPayloadCheck(header, checksum.value());
        }
        WireFormat.putHeaderCheck(header, checksum.ofHeader(header));
    }
}
