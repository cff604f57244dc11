package trigon.software.requester;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import trigon.software.call.NativeConnection;
import trigon.software.connection.DataConnection;
import trigon.stream.ByteStream;
import trigon.stream.loop.Timer;

/**
 * The connection of a requester: its requests go out, the responses come in. C's while the queue pair has it, and the
 * event loop's from {@link #close} on.
 */
final class RequestConnection extends DataConnection {

    /** The longest that the peer may take to read what there is. By then it has heard that this end has gone. */
    private static final long FINISH_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final RequestingQueuePair queuePair;
    private final Timer deadline = new Timer(() -> end("the peer has not ended it in time"));

    /** It is the event loop's, and of no use to the queue pair any more. */
    private volatile boolean finishing;

    /**
     * A connection that C is about to be given.
     *
     * @param checks one in so many long payloads is checked; 0: there is no relay, or nothing is
     * @throws OutOfMemoryError if there is no memory for its buffers
     */
    RequestConnection(SocketChannel channel, ByteStream carrier, RequestingQueuePair queuePair, int checks)
            throws IOException {
        super(channel, queuePair.device().eventLoop());
        this.queuePair = queuePair;
        giveToC(NativeConnection.outbound(channel, carrier, checks));
        carryBy(carrier);
    }

    /**
     * Ends it, which C has no more: what has not been given to the socket is dropped. The rest is to arrive, so
     * acknowledgements are taken until the peer has ended it, too: a socket that is closed answers them with a reset,
     * and the kernel drops what it has not sent.
     */
    void close() {
        if (!isEnded()) {
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
        listen(1);
        discardInput();
        if (!isEnded()) {
            armAnew(false);
        }
    }

    @Override
    protected void onClosed() {
        eventLoop().cancel(deadline);
    }

    @Override
    public void onReady() {
        if (finishing) {
            goOnFinishing();
        } else {
            queuePair.lock().onReady();
        }
    }

    @Override
    public void onLoopEnd(SelectableChannel channel) {
        queuePair.lock().locked(() -> {
            if (!finishing) {
                queuePair.inC().loseOutbound();
            }
        });
        end("the device is closed");
    }
}
