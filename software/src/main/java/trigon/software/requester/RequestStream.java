package trigon.software.requester;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.memory.Buffers;
import trigon.software.memory.PayloadWindows;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.system.Memory;

/**
 * The requests of a queue pair on their way out, pulled by the socket: whenever that takes more, the encoder says what
 * comes next. Headers and short payloads go by way of a small buffer, long payloads straight from registered memory,
 * both in one gathering write. So nothing is queued up: memory is only read during {@link #ring}, and a region that is
 * closed is not read any more.
 *
 * <p>Never blocks, and allocates nothing in the steady state. Used under the queue pair's lock.
 */
final class RequestStream {

    private static final Logger log = LoggerFactory.getLogger(RequestStream.class);

    /** Payloads up to this are copied behind their header: cheaper than another element in the gathering write. */
    static final int COPY_LIMIT = 4 << 10;

    private static final int STAGING_BYTES = 16 << 10;
    private static final int MAX_STAGED = WireFormat.REQUEST_BYTES + COPY_LIMIT + WireFormat.TAIL_BYTES;

    /** Most writes in a row: who polls has other things to do. */
    private static final int WRITES_AT_ONCE = 4;

    private final ByteStream carrier;
    private final RequestEncoder encoder;
    private final TimeLimits limits;
    /** Null where no relay is on the route, or nothing is to be checked. */
    private final @Nullable OutgoingChecks checks;

    private final ByteBuffer staging = Buffers.allocate(STAGING_BYTES);
    private final ByteBuffer staged = staging.duplicate();
    private final long stagingAddress = MemorySegment.ofBuffer(staging).address();
    private final ByteBuffer[] both = {staging, staging};
    private final PayloadWindows windows = new PayloadWindows();
    /** Offset of the header that was put last. */
    private int header;

    private @Nullable SoftwareMemoryRegion payloadRegion;
    private long payloadAddress;
    private int payloadBytes;
    private int payloadLeft;
    private boolean stopped;

    RequestStream(ByteStream carrier, RequestEncoder encoder, TimeLimits limits, @Nullable OutgoingChecks checks) {
        this.carrier = carrier;
        this.encoder = encoder;
        this.limits = limits;
        this.checks = checks;
        staging.limit(0);
    }

    // ---- for the encoder

    void putRequest(int opcode, int psn, int length, long remoteAddress, int remoteKey, long operand) {
        header = staging.limit();
        WireFormat.putRequest(stagingEnd(), opcode, psn, length, remoteAddress, remoteKey, operand);
        staged(WireFormat.REQUEST_BYTES);
    }

    /** A payload of no more than {@link #COPY_LIMIT}, which is copied. */
    void putPayload(long address, int bytes) {
        Memory.copy(address, stagingEnd(), bytes);
        staged(bytes);
    }

    void putTail() {
        Memory.putByte(stagingEnd(), (byte) 0);
        staged(WireFormat.TAIL_BYTES);
    }

    /** Sends a long payload after what is staged; nothing but {@link #check} comes behind it. */
    void sendPayload(SoftwareMemoryRegion region, long address, int bytes) {
        payloadRegion = region;
        payloadAddress = address;
        payloadBytes = bytes;
        payloadLeft = bytes;
    }

    /** The request is complete but for its tail: has the peer check it, if it goes through relays. */
    void check() {
        OutgoingChecks mine = checks;
        if (mine != null) {
            boolean ofPayload = mine.begin(stagingAddress + header);
            if (ofPayload) {
                addPayload(mine);
            }
            mine.finish(stagingAddress + header, ofPayload);
        }
    }

    private void addPayload(OutgoingChecks mine) {
        SoftwareMemoryRegion region = payloadRegion;
        if (region == null) {
            mine.add(staged.limit(staging.limit()).position(header + WireFormat.REQUEST_BYTES));
            return;
        }
        for (int done = 0; done < payloadBytes; done += PayloadWindows.MAX_BYTES) {
            int part = Math.min(payloadBytes - done, PayloadWindows.MAX_BYTES);
            mine.add(windows.of(region, payloadAddress + done, part));
        }
    }

    private long stagingEnd() {
        return stagingAddress + staging.limit();
    }

    private void staged(int bytes) {
        staging.limit(staging.limit() + bytes);
    }

    private boolean hasStagingRoom() {
        return staging.capacity() - staging.limit() >= MAX_STAGED;
    }

    // ---- for the requester

    /** Gives the socket what there is and it takes; but no payload that a mover is to move. */
    void ring() {
        try {
            for (int i = 0; i < WRITES_AT_ONCE && hasWork(); i++) {
                if (isWritten()) {
                    encode();
                }
                if (isLeftToMover() || !write()) {
                    break;
                }
            }
        } catch (IOException e) {
            // the reading side meets the same, after the last that the peer has said, and ends the connection
            stop();
            letPeerEnd(e);
        }
    }

    private boolean isLeftToMover() {
        return payloadLeft > 0 && carrier.isSelectable() && encoder.isLeftToMover(payloadBytes);
    }

    private void encode() {
        staging.clear().limit(0);
        encoder.onAllWritten();
        while (payloadLeft == 0 && hasStagingRoom() && encoder.mayStartNext()) {
            encoder.startNext(this);
        }
    }

    /**
     * The socket may be well, and what was to be sent not to be had: memory that was unmapped, but not deregistered.
     */
    private void letPeerEnd(IOException cause) {
        log.debug("{} takes nothing more: {}", carrier, cause.toString());
        try {
            carrier.shutdownOutput();
        } catch (IOException e) {
            log.debug("{} has ended already: {}", carrier, e.toString());
        }
    }

    /** Sends nothing more and forgets the payload. */
    void stop() {
        stopped = true;
        dropPayload();
        staging.clear().limit(0);
    }

    private void dropPayload() {
        payloadRegion = null;
        payloadLeft = 0;
    }

    /** Length of the payload of which some has not been written; 0 if there is none. */
    int payloadBytes() {
        return payloadLeft > 0 ? payloadBytes : 0;
    }

    /** Returns whether all that there is has been given to the socket. */
    boolean isIdle() {
        return !hasWork();
    }

    /** Returns whether what has been encoded has been given to the socket. */
    boolean isWritten() {
        return !stopped && !staging.hasRemaining() && payloadLeft == 0;
    }

    /** The same, but for some of the payload that was encoded last. */
    boolean isWrittenButForPayload() {
        return !stopped && !staging.hasRemaining() && payloadLeft > 0;
    }

    private boolean hasWork() {
        return !stopped && (staging.hasRemaining() || payloadLeft > 0 || encoder.mayStartNext());
    }

    /** Returns whether the socket took all that it was offered. */
    private boolean write() throws IOException {
        SoftwareMemoryRegion region = payloadRegion;
        if (region != null && !region.isOpen()) {
            dropPayload();
            encoder.onPayloadLost();
            region = null;
        }
        int chunk = region == null ? 0 : Math.min(payloadLeft, PayloadWindows.MAX_BYTES);
        int offered = staging.remaining() + chunk;
        if (offered == 0) {
            return true;
        }
        long written = region == null ? carrier.write(staging) : writeBoth(region, chunk);
        if (written > 0) {
            limits.onProgress();
        }
        return written == offered;
    }

    private long writeBoth(SoftwareMemoryRegion region, int chunk) throws IOException {
        ByteBuffer payload = windows.of(region, payloadAddress, chunk);
        both[1] = payload;
        long written = carrier.write(both, staging.hasRemaining() ? 0 : 1, staging.hasRemaining() ? 2 : 1);
        both[1] = staging;
        int taken = chunk - payload.remaining();
        payloadAddress += taken;
        payloadLeft -= taken;
        if (payloadLeft == 0) {
            payloadRegion = null;
        }
        return written;
    }
}
