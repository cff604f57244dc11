package trigon.software.responder;

import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.software.connection.OutboundStream;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.wire.DeviceLimits;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;

/**
 * The responses of a queue pair on their way out: data of READs in the order of the requests,
 * then the latest acknowledgement, then a refusal. Used under the queue pair's lock.
 */
final class ResponseStream extends OutboundStream {

    /**
     * READ data goes out in pieces of this size with a header each, so that a refusal can take the place of the rest.
     */
    private static final int READ_PIECE = 256 << 10;

    private static final int STAGING_BYTES = 8 << 10;

    /** What may be left unacknowledged for a moment: little against what a peer has under way. */
    private static final int LATE_MESSAGES = 8;

    /** And for so long: a write of its own for each would cost more than the rest of a short message. */
    private static final long LATE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private static final int QUEUE = DeviceLimits.MAX_READ_ATOMIC;

    private final InboundConnection connection;
    private final int[] psns = new int[QUEUE];
    private final long[] addresses = new long[QUEUE];
    private final int[] left = new int[QUEUE];
    private final @Nullable SoftwareMemoryRegion[] regions = new SoftwareMemoryRegion[QUEUE];
    private int first;
    private int count;

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
    private int padding;
    private int readPsn;

    ResponseStream(SocketChannel channel, InboundConnection connection) {
        super(channel, STAGING_BYTES);
        this.connection = connection;
    }

    /** Whether one more READ or atomic can be answered. */
    boolean hasRoom(int limit) {
        return count < limit;
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

    /** The region may be null only where the length is 0. */
    void readData(int psn, @Nullable SoftwareMemoryRegion region, long address, int length) {
        int at = (first + count) % QUEUE;
        psns[at] = psn;
        regions[at] = region;
        addresses[at] = address;
        left[at] = length;
        count++;
        // answering this one acknowledges all before it
        acknowledged();
    }

    /** Whether an acknowledgement is not sent for now. */
    void holdAcknowledgement(boolean on) {
        ackHeld = on;
    }

    /** Nobody is there to whom it would say anything. */
    void dropAcknowledgement() {
        acknowledged();
    }

    private void acknowledged() {
        ackPending = false;
        ackMessages = 0;
        ackSoon = false;
    }

    private void remove() {
        regions[first] = null;
        first = (first + 1) % QUEUE;
        count--;
    }

    /** Whether nothing is to be sent but an acknowledgement that may wait for a moment. */
    boolean mayWait(long now) {
        return isOnlyAck()
                && isWritten()
                && (!ackPending || (ackMessages < LATE_MESSAGES && !ackSoon && now - ackPendingSince < LATE_NANOS));
    }

    private boolean isOnlyAck() {
        return padding == 0 && count == 0 && !notReadyPending && !nakPending;
    }

    /** Whether registered memory is still to be read for answers. */
    boolean readsMemory() {
        return count > 0 || payloadLeft() > 0;
    }

    private boolean isAckDue() {
        return ackPending && !ackHeld;
    }

    @Override
    protected boolean hasNext() {
        return padding > 0 || count > 0 || isAckDue() || notReadyPending || nakPending;
    }

    @Override
    protected void encode() {
        while (payloadLeft() == 0 && hasStagingRoom() && hasNext()) {
            if (padding > 0) {
                pad();
            } else if (count > 0) {
                encodeOldest();
            } else if (isAckDue()) {
                acknowledged();
                put(WireFormat.ACK, 0, ackPsn, 0);
            } else if (notReadyPending) {
                notReadyPending = false;
                put(WireFormat.RECEIVER_NOT_READY, notReadyCode, notReadyPsn, 0);
            } else {
                nakPending = false;
                put(WireFormat.NAK, nakReason, nakPsn, 0);
            }
        }
    }

    private void encodeOldest() {
        SoftwareMemoryRegion region = regions[first];
        int piece = Math.min(left[first], READ_PIECE);
        if (piece > 0 && (region == null || !region.isOpen())) {
            readPsn = psns[first];
            sourceLost();
            return;
        }
        readPsn = psns[first];
        put(WireFormat.READ_DATA, 0, readPsn, piece);
        long address = addresses[first];
        addresses[first] = address + piece;
        left[first] -= piece;
        if (piece > 0 && piece <= COPY_LIMIT) {
            Memory.copy(address, stagingEnd(), piece);
            staged(piece);
        } else if (piece > 0 && region != null) {
            sendPayload(region, address, piece);
        }
        if (left[first] == 0) {
            remove();
        }
    }

    /** Keeps the stream in step although the promised bytes may not be read any more. */
    private void pad() {
        int bytes = Math.min(padding, COPY_LIMIT);
        Memory.fill(stagingEnd(), bytes, (byte) 0);
        staged(bytes);
        padding -= bytes;
    }

    private void put(int kind, int detail, int psn, long value) {
        WireFormat.putResponse(stagingEnd(), kind, detail, psn, value);
        staged(WireFormat.RESPONSE_BYTES);
    }

    @Override
    protected void payloadLost(int missing) {
        padding = missing;
        sourceLost();
    }

    /**
     * The source of the READ that is being answered was deregistered: it is refused, and what came after it dropped.
     */
    private void sourceLost() {
        while (count > 0) {
            remove();
        }
        ackPending = false;
        refuse(readPsn, WireFormat.REMOTE_ACCESS);
        connection.onRefused();
    }
}
