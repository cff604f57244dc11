package trigon.software;

import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that a peer's requester has opened: first its preamble, then its requests, come in; the responses go
 * out. Owned by the event loop.
 */
final class InboundConnection extends StreamReader {

    private static final Logger log = LoggerFactory.getLogger(InboundConnection.class);

    /** How long the end of a connection may take: the last responses, and the peer's reaction to them. */
    private static final long FINISH_SECONDS = 2;

    private final SocketChannel channel;
    private final Listener listener;
    private final ScheduledFuture<?> preambleDeadline;
    private Preamble.@Nullable Hello hello;
    /** Who lets it wait. */
    private @Nullable Responder keeper;

    private @Nullable Responder responder;
    /** From the adoption on: strangers get no memory. */
    private @Nullable ResponseStream stream;

    private boolean refusing;
    private boolean finishing;

    InboundConnection(SocketChannel channel, DeviceThread thread, Listener listener, long preambleMillis) {
        super(channel, thread, WireFormat.PREAMBLE_BYTES);
        this.channel = channel;
        this.listener = listener;
        preambleDeadline = channel.eventLoop()
                .schedule(
                        () -> reject("it said nothing for " + preambleMillis + " ms"),
                        preambleMillis,
                        TimeUnit.MILLISECONDS);
    }

    /** Only after {@link #adoptedBy}. */
    ResponseStream stream() {
        ResponseStream mine = stream;
        if (mine == null) {
            throw new IllegalStateException("nobody has adopted the connection");
        }
        return mine;
    }

    /** Who is at the other end; only after the preamble. */
    Preamble.Hello hello() {
        Preamble.Hello known = hello;
        if (known == null) {
            throw new IllegalStateException("no preamble yet");
        }
        return known;
    }

    /** Waits, paused, until that responder adopts or declines it. */
    void keptBy(Responder waitedFor) {
        pause();
        keeper = waitedFor;
    }

    /** The requests belong to that responder from now on. */
    void adoptedBy(Responder owner) {
        responder = owner;
        stream = new ResponseStream(channel, thread(), this);
    }

    /** Ends it for what the peer did, with a line in the log. */
    void reject(String reason) {
        listener.rejected(channel.remoteAddress(), reason);
        close();
    }

    /** Ends it because the queue pair is not there for it: the peer may just be a moment late. */
    void decline(String reason) {
        log.debug("{} is closed: {}", channel, reason);
        close();
    }

    /** Ends it at once; nothing more is read from or written to memory. */
    void close() {
        preambleDeadline.cancel(false);
        discard();
        stopStream();
        closeChannel();
    }

    private void stopStream() {
        if (stream != null) {
            stream.stop();
        }
    }

    /** Ends it once the last responses are out, so that the peer learns what has been done; takes no more requests. */
    void finish() {
        responder = null;
        if (stream().readsMemory()) {
            close();
            return;
        }
        finishing = true;
        discard();
        stream().ring();
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
        if (stream == null) {
            return;
        }
        if (stream.mayWait()) {
            thread().ringLater(stream);
        } else {
            stream.ring();
        }
    }

    /** A refusal is queued: no request after it counts. */
    void onRefused() {
        refusing = true;
        Responder owner = responder;
        if (owner != null) {
            owner.onRefused();
        }
        discard();
    }

    void onDrained() {
        if (refusing || finishing) {
            // not from here: this runs inside a write
            channel.eventLoop().execute(this::afterDrained);
        }
    }

    private void afterDrained() {
        if (!stream().isIdle()) {
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
        stopStream();
        if (hello == null) {
            listener.closed(this);
        }
        if (keeper != null) {
            keeper.forget(this);
        }
        Responder owner = responder;
        responder = null;
        if (owner != null) {
            owner.onConnectionClosed(this);
        }
    }
}
