package trigon.software.requester;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.software.memory.Checksum;
import trigon.software.wire.WireFormat;

/**
 * The checks of requests on one connection that goes through relays: a relay reads and writes payloads in its memory,
 * where no checksum of TCP or of a NIC protects them. Used under the queue pair's lock.
 */
final class OutgoingChecks {

    /** The longest payload that is always checked: checking it costs less than sending it. */
    private static final int ALWAYS_BYTES = 4 << 10;

    private final int oneIn;
    private final Checksum checksum = new Checksum();

    /** Payloads so far that are not always checked. */
    private int longOnes;

    private OutgoingChecks(int oneIn) {
        this.oneIn = oneIn;
    }

    /** Checks one in so many of the longer payloads; null if that is 0, as nothing is checked then. */
    static @Nullable OutgoingChecks of(int oneIn) {
        return oneIn == 0 ? null : new OutgoingChecks(oneIn);
    }

    /** The request whose header lies at that address is checked; whether its payload is, too, which is added next. */
    boolean begin(long header) {
        int length = WireFormat.requestLength(header);
        boolean ofPayload = length > 0 && isSend(header) && takeTurn(length);
        WireFormat.addToOpcode(
                header, ofPayload ? WireFormat.CHECKED | WireFormat.CHECKED_PAYLOAD : WireFormat.CHECKED);
        checksum.begin();
        return ofPayload;
    }

    private static boolean isSend(long header) {
        return WireFormat.isSend(WireFormat.plainOpcode(WireFormat.requestOpcode(header)));
    }

    /** Counts a payload; returns true if it is one of those to be checked. */
    private boolean takeTurn(int length) {
        return length <= ALWAYS_BYTES || longOnes++ % oneIn == 0;
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
