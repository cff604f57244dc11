package trigon.software;

import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection that a peer's requester has opened: first its preamble, then its requests, come in; the responses go
 * out. Owned by the event loop.
 */
final class InboundConnection extends StreamReader {

    /** How long the end of a connection may take: the last responses, and the peer's reaction to them. */
    private static final long FINISH_SECONDS = 2;

    private final SocketChannel channel;
    private final Listener listener;
    private final ResponseStream stream;
    private final ScheduledFuture<?> preambleDeadline;
    private Preamble.@Nullable Hello hello;
    private @Nullable Responder responder;
    private boolean finishing;

    InboundConnection(SocketChannel channel, ReceiveStaging staging, Listener listener, long preambleMillis) {
        super(channel, staging, WireFormat.PREAMBLE_BYTES);
        this.channel = channel;
        this.listener = listener;
        stream = new ResponseStream(channel, this);
        preambleDeadline = channel.eventLoop()
                .schedule(
                        () -> reject("it said nothing for " + preambleMillis + " ms"),
                        preambleMillis,
                        TimeUnit.MILLISECONDS);
    }

    ResponseStream stream() {
        return stream;
    }

    /** Who is at the other end; only after the preamble. */
    Preamble.Hello hello() {
        Preamble.Hello known = hello;
        if (known == null) {
            throw new IllegalStateException("no preamble yet");
        }
        return known;
    }

    /** Who is at the other end; null before the preamble. */
    Preamble.@Nullable Hello helloOrNull() {
        return hello;
    }

    /** The requests belong to that responder from now on. */
    void adoptedBy(Responder owner) {
        responder = owner;
    }

    /** Ends it with a line in the log. */
    void reject(String reason) {
        listener.rejected(channel.remoteAddress(), reason);
        close();
    }

    /** Ends it at once; nothing more is read from or written to memory. */
    void close() {
        preambleDeadline.cancel(false);
        discard();
        stream.stop();
        closeChannel();
    }

    /** Ends it once the last responses are out, so that the peer learns what has been done; takes no more requests. */
    void finish() {
        responder = null;
        if (stream.readsMemory()) {
            close();
            return;
        }
        finishing = true;
        discard();
        stream.ring();
        var _ = channel.eventLoop().schedule(this::closeChannel, FINISH_SECONDS, TimeUnit.SECONDS);
        afterDrained();
    }

    @Override
    void onHeader(long at) {
        Responder owner = responder;
        if (owner != null) {
            owner.onRequest(at);
            return;
        }
        preambleDeadline.cancel(false);
        expectHeaders(WireFormat.REQUEST_BYTES);
        switch (WireFormat.preamble(at)) {
            case Preamble.Malformed malformed -> reject(malformed.reason());
            case Preamble.Hello named -> {
                hello = named;
                listener.identified(this, named);
            }
        }
    }

    @Override
    void onPayload(long at, int bytes, boolean last) {
        Responder owner = responder;
        if (owner != null) {
            owner.onPayload(at, bytes, last);
        }
    }

    @Override
    void onReadComplete() {
        stream.ring();
    }

    /** A refusal is queued: no request after it counts. */
    void onRefused() {
        Responder owner = responder;
        if (owner != null) {
            owner.onRefused();
        }
        discard();
    }

    void onDrained() {
        // not from here: this runs inside a write
        channel.eventLoop().execute(this::afterDrained);
    }

    private void afterDrained() {
        if (!stream.isIdle()) {
            return;
        }
        Responder owner = responder;
        if (finishing) {
            var _ = channel.shutdownOutput();
        } else if (owner != null) {
            owner.onResponsesOut();
        }
    }

    @Override
    void onClosed() {
        preambleDeadline.cancel(false);
        stream.stop();
        listener.closed(this);
        Responder owner = responder;
        responder = null;
        if (owner != null) {
            owner.onConnectionClosed(this);
        }
    }
}
