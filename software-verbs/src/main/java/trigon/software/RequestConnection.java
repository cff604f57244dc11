package trigon.software;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/** The connection of a requester: its requests go out, the responses come in. Used under the queue pair's lock. */
final class RequestConnection extends Connection {

    private final SoftwareQueuePair queuePair;
    private final Requester requester;
    private final RequestStream stream;

    RequestConnection(SocketChannel channel, SoftwareQueuePair queuePair, Requester requester) throws IOException {
        super(channel, queuePair.attendant(), WireFormat.RESPONSE_BYTES);
        this.queuePair = queuePair;
        this.requester = requester;
        stream = new RequestStream(channel, requester);
    }

    RequestStream stream() {
        return stream;
    }

    /** Ends it: what has not been sent is dropped. */
    void close() {
        stream.stop();
        end("the queue pair is done with it");
    }

    @Override
    boolean hasOutput() {
        return !stream.isIdle();
    }

    @Override
    void onHeader(long at) {
        int payload = requester.onResponse(
                WireFormat.responseKind(at),
                WireFormat.responseDetail(at),
                WireFormat.responsePsn(at),
                WireFormat.responseValue(at));
        expectPayload(payload);
    }

    @Override
    void onPayload(long at, int bytes, boolean last) {
        requester.onReadData(at, bytes, last);
    }

    @Override
    void onClosed() {
        stream.stop();
        requester.onConnectionClosed(this);
        attendant().wakeUp(); // lets go of the socket
    }

    @Override
    public void onReady() {
        queuePair.turns().onReady();
    }
}
