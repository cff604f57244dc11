package trigon.software.responder;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.memory.Buffers;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;

/**
 * The responses of a queue pair on their way out: the latest acknowledgement, that there is no receive, then a refusal.
 * Never blocks. Used under the queue pair's lock.
 */
final class ResponseStream {

    private static final Logger log = LoggerFactory.getLogger(ResponseStream.class);

    /** Messages that may be left unacknowledged for a moment: little against what a peer has under way. */
    private static final int LATE_MESSAGES = 8;

    /** And for so long: a write of its own for each would cost more than the rest of a short message. */
    private static final long LATE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** One of each kind. */
    private static final int MAX_AT_ONCE = 3;

    private ByteStream carrier;
    private final ByteBuffer staging = Buffers.allocate(MAX_AT_ONCE * WireFormat.RESPONSE_BYTES);
    private final long stagingAddress = MemorySegment.ofBuffer(staging).address();
    private boolean stopped;

    private boolean ackPending;
    private long ackPendingSince;
    private int ackPsn;
    private int ackMessages;
    private boolean ackSoon;
    private boolean ackHeld;
    private boolean notReadyPending;
    private int notReadyPsn;
    private int notReadyCode;
    private boolean nakPending;
    private int nakPsn;
    private int nakReason;

    ResponseStream(ByteStream carrier) {
        this.carrier = carrier;
        staging.limit(0);
    }

    /** Something else carries it from now on. */
    void carryBy(ByteStream other) {
        carrier = other;
    }

    /**
     * A message is done, and all before it are.
     *
     * @param soon whether its end is waited for
     */
    void acknowledge(int psn, boolean soon) {
        ackPsn = psn;
        if (!ackPending) {
            ackPending = true;
            ackPendingSince = System.nanoTime();
        }
        ackMessages++;
        ackSoon |= soon;
        notReadyPending = false;
    }

    void notReady(int psn, int timerCode) {
        notReadyPsn = psn;
        notReadyCode = timerCode;
        notReadyPending = true;
    }

    /**
     * A refusal, which is the last response.
     *
     * @param reason one of {@link WireFormat}'s reasons of a NAK
     */
    void refuse(int psn, int reason) {
        nakPsn = psn;
        nakReason = reason;
        nakPending = true;
        notReadyPending = false;
    }

    /** Sets whether an acknowledgement is not sent for now. */
    void holdAcknowledgement(boolean on) {
        ackHeld = on;
    }

    /** Nobody is there to whom it would say anything. */
    void dropAcknowledgement() {
        ackPending = false;
        ackMessages = 0;
        ackSoon = false;
    }

    /** Returns whether nothing is to be sent but an acknowledgement that may wait for a moment. */
    boolean mayWait(long now) {
        return !notReadyPending
                && !nakPending
                && !staging.hasRemaining()
                && (!ackPending || (ackMessages < LATE_MESSAGES && !ackSoon && now - ackPendingSince < LATE_NANOS));
    }

    /** Returns whether all that there is has been given to the socket. */
    boolean isIdle() {
        return stopped || !(staging.hasRemaining() || isAckDue() || notReadyPending || nakPending);
    }

    private boolean isAckDue() {
        return ackPending && !ackHeld;
    }

    /** Gives the socket what there is and it takes. */
    void ring() {
        if (isIdle()) {
            return;
        }
        if (!staging.hasRemaining()) {
            staging.clear().limit(0);
            encode();
        }
        try {
            carrier.write(staging);
        } catch (IOException e) {
            // the reading side meets the same, after the last that the peer has said, and ends the connection
            log.debug("{} takes nothing more: {}", carrier, e.toString());
            stop();
        }
    }

    private void encode() {
        if (isAckDue()) {
            dropAcknowledgement();
            put(WireFormat.ACK, 0, ackPsn);
        }
        if (notReadyPending) {
            notReadyPending = false;
            put(WireFormat.RECEIVER_NOT_READY, notReadyCode, notReadyPsn);
        }
        if (nakPending) {
            nakPending = false;
            put(WireFormat.NAK, nakReason, nakPsn);
        }
    }

    private void put(int kind, int detail, int psn) {
        WireFormat.putResponse(stagingAddress + staging.limit(), kind, detail, psn);
        staging.limit(staging.limit() + WireFormat.RESPONSE_BYTES);
    }

    /** Sends nothing more. */
    void stop() {
        stopped = true;
        staging.clear().limit(0);
    }
}
