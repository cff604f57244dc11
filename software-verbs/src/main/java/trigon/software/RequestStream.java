package trigon.software;

import java.nio.channels.SocketChannel;
import trigon.verbs.Memory;

/** The requests of a queue pair on their way out. Used under the queue pair's lock. */
final class RequestStream extends OutboundStream {

    private static final int STAGING_BYTES = 16 << 10;

    private final Requester requester;

    RequestStream(SocketChannel channel, Requester requester) {
        super(channel, STAGING_BYTES);
        this.requester = requester;
    }

    @Override
    boolean hasNext() {
        return requester.mayStartNext();
    }

    @Override
    void encode() {
        requester.onAllWritten();
        while (payloadLeft() == 0 && hasStagingRoom() && requester.mayStartNext()) {
            requester.startNext(this);
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
    void wrote() {
        requester.onProgress();
    }

    @Override
    void payloadLost(int missing) {
        requester.onPayloadLost();
    }
}
