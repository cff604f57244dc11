package trigon.software.requester;

import java.nio.channels.SocketChannel;
import trigon.software.connection.OutboundStream;
import trigon.software.wire.WireFormat;
import trigon.system.Memory;

/** The requests of a queue pair on their way out. Used under the queue pair's lock. */
final class RequestStream extends OutboundStream {

    private static final int STAGING_BYTES = 16 << 10;

    private final RequestEncoder encoder;
    private final TimeLimits limits;

    RequestStream(SocketChannel channel, RequestEncoder encoder, TimeLimits limits) {
        super(channel, STAGING_BYTES);
        this.encoder = encoder;
        this.limits = limits;
    }

    @Override
    protected boolean hasNext() {
        return encoder.mayStartNext();
    }

    @Override
    protected void encode() {
        encoder.onAllWritten();
        while (payloadLeft() == 0 && hasStagingRoom() && encoder.mayStartNext()) {
            encoder.startNext(this);
        }
    }

    void putRequest(int opcode, int psn, int length, long remoteAddress, int remoteKey, long operand) {
        WireFormat.putRequest(stagingEnd(), opcode, psn, length, remoteAddress, remoteKey, operand);
        staged(WireFormat.REQUEST_BYTES);
    }

    void putPayload(long address, int bytes) {
        Memory.copy(address, stagingEnd(), bytes);
        staged(bytes);
    }

    void putTail() {
        Memory.putByte(stagingEnd(), (byte) 0);
        staged(WireFormat.TAIL_BYTES);
    }

    @Override
    protected void wrote() {
        limits.onProgress();
    }

    @Override
    protected void payloadLost(int missing) {
        encoder.onPayloadLost();
    }
}
