package trigon.software.requester;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import trigon.software.connection.DataConnection;
import trigon.software.wire.WireFormat;

/** The connection of a requester: its requests go out, the responses come in. Used under the queue pair's lock. */
final class RequestConnection extends DataConnection {

    private final RequestingQueuePair queuePair;
    private final Requester requester;
    private final RequestStream stream;

    RequestConnection(SocketChannel channel, RequestingQueuePair queuePair, Requester requester, RequestStream stream)
            throws IOException {
        super(channel, queuePair.device().eventLoop(), WireFormat.RESPONSE_BYTES);
        this.queuePair = queuePair;
        this.requester = requester;
        this.stream = stream;
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
    protected boolean hasOutput() {
        return !stream.isIdle();
    }

    @Override
    protected void onHeader(long at) {
        int payload = requester.onResponse(
                WireFormat.responseKind(at),
                WireFormat.responseDetail(at),
                WireFormat.responsePsn(at),
                WireFormat.responseValue(at));
        expectPayload(payload);
    }

    @Override
    protected void onPayload(long at, int bytes, boolean last) {
        requester.onReadData(at, bytes, last);
    }

    @Override
    protected void onClosed() {
        stream.stop();
        requester.onConnectionClosed(this);
        eventLoop().wakeUp(); // lets go of the socket
    }

    @Override
    public void onReady() {
        queuePair.lock().onReady();
    }
}
