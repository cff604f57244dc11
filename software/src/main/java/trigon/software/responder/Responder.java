package trigon.software.responder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.LocalDevice;
import trigon.software.queue.ReceiveQueue;
import trigon.stream.loop.Timer;
import trigon.verbs.AccessFlag;

/**
 * The receiving half of a queue pair: its peer's connection, and who may be that. What the peer asks for is
 * carried out by {@link IncomingRequests}. Used under the queue pair's lock.
 */
public final class Responder {

    /** The stage of the peer's requests, which tells what the end of its connection means. */
    private enum RequestStage {
        /** None has come, so the peer may still be on another connection. */
        NONE,
        /** The first has come: its connection is the peer's. */
        TAKEN,
        /** One was refused; nothing after it counts. */
        REFUSED,
        /** A relay has altered one; nothing after it counts. */
        ALTERED
    }

    private static final Logger log = LoggerFactory.getLogger(Responder.class);

    private static final String REFUSAL = "a request was refused";

    /** Every so many calls it looks for requests, though others are expected, or a response. */
    private static final int CALLS_UNHEARD = 4;

    /** So long it may take to hear that the peer's process has ended, if it has while nobody asked for its messages. */
    private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RespondingQueuePair queuePair;
    private final ReceiveQueue receives;
    private final WaitingConnections waiting;
    private final IncomingRequests requests;
    private final ConnectionOwner adopter = new Adopter();

    private volatile @Nullable InboundConnection connection; // others may ask whether there is one
    private RequestStage requestStage = RequestStage.NONE;
    private volatile boolean peerHasEnded; // whoever hears of it says so
    private final Timer holdTimer;
    /** Calls since the requests were looked at. */
    private int callsUnheard;

    /** The receiving half of a queue pair in RESET. */
    public Responder(RespondingQueuePair queuePair, ReceiveQueue receives) {
        this.queuePair = queuePair;
        this.receives = receives;
        waiting = new WaitingConnections(queuePair);
        requests = new IncomingRequests(queuePair, this, receives);
        holdTimer = new Timer(queuePair.lock()::locked, this::endHold);
    }

    // ---- life cycle

    /** READY_TO_RECEIVE: takes the peer's connection, if it has come already. */
    public void start(int receivePsn) {
        requests.start(receivePsn);
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
                if (requestStage != RequestStage.NONE
                        || !queuePair.peer().matches(candidate.hello(), requests.expectedPsn())) {
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
        try {
            peer.adoptedBy(adopter);
            peer.accept(queuePair.proofs());
        } catch (OutOfMemoryError e) {
            peer.reject("there is no memory for its buffers: " + e.getMessage());
            return;
        } catch (IOException e) {
            peer.decline("it cannot be told that it is taken: " + e.getMessage());
            return;
        }
        connection = peer;
        log.debug("{} is connected from {}", queuePair, peer.hello());
        offerWaiting();
        queuePair.workLater(); // it may have said more already
        queuePair.lock().arm();
    }

    /** Takes no more requests. Responses that need no memory still get out. */
    public void stop() {
        InboundConnection current = connection;
        connection = null;
        queuePair.device().eventLoop().cancel(holdTimer);
        if (current != null) {
            current.stream().holdAcknowledgement(false);
            current.finish();
        }
        requests.drop();
    }

    /** Completes all receives that are left as flushed. */
    public void flush() {
        while (!receives.isEmpty()) {
            requests.flushOldest();
        }
    }

    /** RESET: forgets everything, without completions. */
    public void reset() {
        stop();
        receives.clear();
        endWaiting();
        requestStage = RequestStage.NONE;
        peerHasEnded = false;
    }

    /** Closes the connections that wait to be taken. */
    public void endWaiting() {
        for (InboundConnection candidate : waiting.takeAll()) {
            candidate.decline(queuePair + " was closed or reset, or another is its peer");
        }
    }

    private void onPeerGone() {
        // as on an RDMA NIC, no request of the receiving side fails because its peer is gone
        connection = null;
        requests.drop();
        switch (requestStage) {
            case NONE -> {
                if (queuePair.hasLostOutboundConnection()) {
                    queuePair.onBroken();
                } else {
                    offerWaiting();
                }
            }
            case TAKEN -> queuePair.onBroken();
            case REFUSED -> queuePair.enterError(REFUSAL);
            case ALTERED -> queuePair.enterError("a relay has altered a message");
        }
    }

    /**
     * Ends the queue pair, since a message was altered. The queue pair fails before the receive of that is complete;
     * with it goes the path, and who has another sends the message again.
     *
     * @param part of the message
     */
    void onAltered(String part) {
        InboundConnection current = connection;
        if (current != null) {
            LocalDevice device = queuePair.device();
            device.altered().warn(device.settings(), queuePair.peer().address().getAddress(), current.address(), part);
            requestStage = RequestStage.ALTERED;
            current.decline("a relay has altered what came on it");
        }
    }

    // ---- the socket

    /**
     * Takes the requests that have come on the connection; seldom while none is expected, or rather a response, which
     * saves a system call each time.
     *
     * @param unpolled whether nobody polls, so that there is something most likely
     */
    public void receive(boolean unpolled, boolean awaitsResponse) {
        InboundConnection current = connection;
        boolean likely =
                unpolled || !receives.isEmpty() || (!awaitsResponse && queuePair.allows(AccessFlag.REMOTE_WRITE));
        if (current != null && !current.isUpgrading() && (likely || ++callsUnheard >= CALLS_UNHEARD)) {
            callsUnheard = 0;
            current.receive();
        }
    }

    /**
     * Sends the responses.
     *
     * @param all also an acknowledgement that could wait for more
     * @param now by {@link System#nanoTime}
     */
    public void send(boolean all, long now) {
        InboundConnection current = connection;
        if (current == null) {
            return;
        }
        ResponseStream stream = current.stream();
        if (peerHasEnded) {
            stream.dropAcknowledgement();
        }
        if (all || !stream.mayWait(now)) {
            stream.ring();
        }
        if (current.isRefusing() && stream.isIdle()) {
            queuePair.enterError(REFUSAL);
        }
    }

    /** A message has waited for its receive for long; its sender may have ended in the meantime. */
    void holdAcknowledgements() {
        InboundConnection current = connection;
        if (current != null) {
            current.stream().holdAcknowledgement(true);
            queuePair.device().eventLoop().schedule(holdTimer, HOLD_NANOS);
        }
    }

    private void endHold() {
        InboundConnection current = connection;
        if (current != null) {
            current.stream().holdAcknowledgement(false);
            send(true, System.nanoTime());
        }
    }

    /** {@link trigon.verbs.QueuePair#stopAcknowledging}. Any thread. */
    public void stopAcknowledging() {
        peerHasEnded = true;
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
        public void onRequest(long at) {
            if (requestStage == RequestStage.NONE) {
                requestStage = RequestStage.TAKEN;
                endWaiting();
            }
            requests.onRequest(at);
        }

        @Override
        public void onPayload(long at, int bytes, boolean last) {
            requests.onPayload(at, bytes, last);
        }

        @Override
        public @Nullable ByteBuffer inPlace(int bytes) {
            return requests.inPlace(bytes);
        }

        @Override
        public void onPayloadInPlace(int bytes, boolean last) {
            requests.onPayloadInPlace(bytes, last);
        }

        @Override
        public boolean isLeftToMover(int bytes) {
            return queuePair.lock().isLeftToMover(bytes);
        }

        @Override
        public void onRefused() {
            requestStage = RequestStage.REFUSED;
            requests.onRefused();
        }

        @Override
        public void onConnectionClosed(InboundConnection closed) {
            if (closed == connection) {
                onPeerGone();
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

    /** Goes on with a request whose target may be there: it goes on, and then those after it. */
    public void goOnWaiting() {
        requests.goOnWaiting();
        if (connection != null && connection.hasKept()) {
            connection.receive();
        }
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
