package trigon.software.responder;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.call.Attention;
import trigon.software.call.NativePair;
import trigon.software.call.Word;
import trigon.software.connection.LocalDevice;
import trigon.software.wire.WireFormat;
import trigon.stream.loop.Timer;

/**
 * The receiving half of a queue pair, as far as Java decides: its peer's connection, and who may be that. C carries out
 * what the peer asks for. Used under the queue pair's lock.
 */
public final class Responder {

    private static final Logger log = LoggerFactory.getLogger(Responder.class);

    /** So long it may take to hear that the peer's process has ended, if it has while nobody asked for its messages. */
    private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RespondingQueuePair queuePair;
    private final NativePair pair;
    private final WaitingConnections waiting;
    private final ConnectionOwner adopter = new Adopter();
    private volatile @Nullable InboundConnection connection; // others may ask whether there is one
    private final Timer holdTimer;
    private final Timer notReadyTimer;

    /** The receiving half of a queue pair in RESET. */
    public Responder(RespondingQueuePair queuePair) {
        this.queuePair = queuePair;
        pair = queuePair.inC();
        waiting = new WaitingConnections(queuePair);
        holdTimer = new Timer(queuePair.lock()::locked, this::endHold);
        notReadyTimer = new Timer(queuePair.lock()::locked, pair::sayNotReady);
    }

    // ---- life cycle

    /** READY_TO_RECEIVE: takes the peer's connection, if it has come already. */
    public void start(int receivePsn) {
        pair.set(Word.EXPECTED_PSN, receivePsn);
        offerWaiting();
    }

    /**
     * A connection for this queue pair. It is taken, kept, or ended.
     *
     * <p>Until the first request, more than one can be right: after a RESET with the same numbers, a connection of the
     * time before may come in late. The dead one ends before its first request, and then the next is taken.
     */
    public void offer(InboundConnection candidate) {
        if (queuePair.isClosed()) {
            candidate.decline(queuePair + " is closed");
            return;
        }
        switch (queuePair.state()) {
            case RESET, INIT -> waiting.keep(candidate);
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> {
                if (pair.has(Word.STAGE)
                        || !queuePair.peer().matches(candidate.hello(), (int) pair.get(Word.EXPECTED_PSN))) {
                    candidate.reject("it is not the peer of " + queuePair);
                } else if (!candidate.isProven(queuePair.proofs())) {
                    rejectUnproven(candidate);
                } else if (connection != null) {
                    waiting.keep(candidate);
                } else {
                    adopt(candidate);
                }
            }
            case ERROR -> candidate.decline(queuePair + " is in the error state");
        }
    }

    private void rejectUnproven(InboundConnection candidate) {
        candidate.reject(
                queuePair.proofs().areAskedFor()
                        ? "it does not know the key of the connection of " + queuePair + ", so it is not the peer"
                        : "it has a key for the connection of " + queuePair + ", which has none");
    }

    private void offerWaiting() {
        for (InboundConnection candidate : waiting.takeAll()) {
            offer(candidate);
        }
    }

    private void adopt(InboundConnection peer) {
        connection = peer;
        try {
            peer.adoptedBy(adopter);
            peer.accept(queuePair.proofs());
        } catch (OutOfMemoryError e) {
            connection = null;
            peer.reject("there is no memory for its buffers: " + e.getMessage());
            return;
        } catch (IOException e) {
            connection = null;
            peer.decline("it cannot be told that it is taken: " + e.getMessage());
            return;
        }
        peer.open();
        log.debug("{} is connected from {}", queuePair, peer.hello());
        offerWaiting();
    }

    /** Takes no more requests: C has left the connection. Responses that need no memory still get out. */
    public void stop() {
        InboundConnection current = connection;
        connection = null;
        queuePair.device().eventLoop().cancel(holdTimer);
        queuePair.device().eventLoop().cancel(notReadyTimer);
        if (current != null) {
            current.finish();
        }
    }

    /** Closes the connections that wait to be taken. */
    public void endWaiting() {
        for (InboundConnection candidate : waiting.takeAll()) {
            candidate.decline(queuePair + " was closed or reset, or another is its peer");
        }
    }

    /** The connection has ended. As on an RDMA NIC, no request of the receiving side fails because its peer is gone. */
    public void onEnded(int attention) {
        InboundConnection current = connection;
        connection = null;
        if (current != null) {
            if ((attention & Attention.REJECTED) != 0) {
                current.reject("it broke the protocol on " + queuePair);
            } else if ((attention & (Attention.HEADER | Attention.PAYLOAD)) != 0) {
                onAltered(current, (attention & Attention.HEADER) != 0 ? "header" : "payload");
            } else {
                current.end("its other side closed it");
            }
        }
        if (pair.has(Word.STAGE) || pair.has(Word.LOST)) {
            queuePair.onBroken();
        } else {
            offerWaiting();
        }
    }

    /** With the queue pair goes the path, and who has another sends the message again. */
    private void onAltered(InboundConnection current, String part) {
        LocalDevice device = queuePair.device();
        device.altered().warn(device.settings(), queuePair.peer().address().getAddress(), current.address(), part);
        current.decline("a relay has altered what came on it");
    }

    // ---- what C asks for

    /** The peer waits for a receive, and is told so until it has one. */
    public void repeatNotReady() {
        queuePair.device().eventLoop().schedule(notReadyTimer, WireFormat.NOT_READY_REPEAT_NANOS);
    }

    /** A message has waited for its receive for long; its sender may have ended in the meantime. */
    public void holdAcknowledgements() {
        queuePair.device().eventLoop().schedule(holdTimer, HOLD_NANOS);
    }

    private void endHold() {
        pair.set(Word.ACK_HELD, 0);
        pair.answer();
    }

    // ---- requests

    private final class Adopter implements ConnectionOwner {

        @Override
        public void onReady() {
            queuePair.lock().onReady();
        }

        @Override
        public void locked(Runnable action) {
            queuePair.lock().locked(action);
        }

        @Override
        public void onOpen(InboundConnection opened) {
            if (opened == connection) {
                pair.adopt(Objects.requireNonNull(opened.inC()));
            }
        }

        @Override
        public void onDeviceClosed() {
            queuePair.lock().locked(pair::loseInbound);
        }

        @Override
        public void onConnectionClosed(InboundConnection closed) {
            if (closed == connection) {
                onEnded(0);
            }
        }
    }

    /**
     * Returns whether the next message may still come from a peer that is gone: it has sent it before. Without that
     * one, those after it are of no use, though they may wait on their connections for ever. From the first question
     * on, the peer's machine is asked whether it is still there.
     */
    public boolean mayStillReceive() {
        InboundConnection current = connection;
        if (current != null) {
            current.askOften();
        }
        return current != null;
    }

    /** Returns whether the peer's connection for requests is there. */
    public boolean isConnected() {
        return connection != null;
    }

    /** The peer's connection for requests, if there is one. */
    public @Nullable InboundConnection connection() {
        return connection;
    }
}
