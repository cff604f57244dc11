package trigon.software;

import io.netty.channel.Channel;

/** The connection of a requester: its requests go out, the responses come in. Owned by the event loop. */
final class RequestConnection extends StreamReader {

    private final Requester requester;
    private final RequestStream stream;

    RequestConnection(Channel channel, DeviceThread thread, Requester requester) {
        super(channel, thread, WireFormat.RESPONSE_BYTES);
        this.requester = requester;
        stream = new RequestStream(channel, thread, requester);
    }

    RequestStream stream() {
        return stream;
    }

    /** Ends it: what has not been sent is dropped. */
    void close() {
        discard();
        stream.stop();
        closeChannel();
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
    void onReadComplete() {
        requester.onResponsesHandled();
    }

    @Override
    void onClosed() {
        stream.stop();
        requester.onConnectionClosed(this);
    }
}
