package trigon.software.requester;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import trigon.software.connection.DataConnection;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.loop.Timer;

/**
 * The connection of a requester: its requests go out, the responses come in. Used under the queue pair's lock, and the
 * event loop's from {@link #close} on.
 */
final class RequestConnection extends DataConnection {

    /** Whose requests go out on it. Called under the queue pair's lock, but for what says otherwise. */
    interface Owner {

        /** Handles a response; the arguments are as in {@link WireFormat#putResponse}. */
        void onResponse(int kind, int detail, int psn);

        /** It has ended, once. By the event loop and without the lock, if it was {@linkplain #close closed} before. */
        void onConnectionClosed(RequestConnection closed);
    }

    /** The longest that the peer may take to read what there is. By then it has heard that this end has gone. */
    private static final long FINISH_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RequestingQueuePair queuePair;
    private final Owner owner;
    private final RequestStream stream;
    private final Timer deadline = new Timer(() -> end("the peer has not ended it in time"));

    /** It is the event loop's, and of no use to the queue pair any more. */
    private volatile boolean finishing;

    RequestConnection(
            SocketChannel channel, ByteStream carrier, RequestingQueuePair queuePair, Owner owner, RequestStream stream)
            throws IOException {
        super(channel, queuePair.device().eventLoop(), WireFormat.RESPONSE_BYTES);
        carryBy(carrier);
        this.queuePair = queuePair;
        this.owner = owner;
        this.stream = stream;
    }

    RequestStream stream() {
        return stream;
    }

    /**
     * Ends it: what has not been given to the socket is dropped. The rest is to arrive, so acknowledgements are taken
     * until the peer has ended it, too: a socket that is closed answers them with a reset, and the kernel drops what it
     * has not sent.
     */
    void close() {
        stream.stop();
        if (!isEnded()) {
            discard();
            finishing = true;
            eventLoop().execute(this::startFinishing);
        }
    }

    private void startFinishing() {
        if (isEnded()) {
            return;
        }
        eventLoop().schedule(deadline, FINISH_NANOS);
        try {
            carrier().shutdownOutput();
        } catch (IOException e) {
            end(e.toString());
            return;
        }
        goOnFinishing();
    }

    private void goOnFinishing() {
        listen();
        receive();
        if (!isEnded()) {
            disarm();
            arm();
        }
    }

    @Override
    protected boolean hasOutput() {
        return !stream.isIdle();
    }

    @Override
    protected int bytesUnderWay() {
        return carrier().isSelectable() ? stream.payloadBytes() : 0;
    }

    @Override
    protected void onHeader(long at) {
        owner.onResponse(WireFormat.responseKind(at), WireFormat.responseDetail(at), WireFormat.responsePsn(at));
    }

    @Override
    protected void onPayload(long at, int bytes, boolean last) {
        throw new IllegalStateException("responses have no payload");
    }

    @Override
    protected void onClosed() {
        eventLoop().cancel(deadline);
        stream.stop();
        owner.onConnectionClosed(this);
        leaveSelectors();
    }

    @Override
    public void onReady() {
        if (finishing) {
            goOnFinishing();
        } else {
            queuePair.lock().onReady();
        }
    }
}
