package trigon.software.responder;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.Timer;
import trigon.software.lanes.IncomingLanes;
import trigon.software.lanes.IncomingPieces;
import trigon.software.lanes.LaneWorkers;
import trigon.software.queue.ReceiveQueue;
import trigon.verbs.QueuePairStateCode;

/**
 * The receiving half of a queue pair: its peer's connection and lanes, and who may be that. What the peer asks for is
 * carried out by {@link IncomingRequests}. Used under the queue pair's lock.
 */
public final class Responder {

    private static final Logger log = LoggerFactory.getLogger(Responder.class);

    /** Every so many calls it looks for requests, though others are expected, or a response. */
    private static final int CALLS_UNHEARD = 4;

    /** So long it may take to hear that the peer's process has ended, if it has while nobody asked for its messages. */
    private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final RespondingQueuePair queuePair;
    private final ReceiveQueue receives;
    private final WaitingConnections waiting;
    private final IncomingPieces pieces;
    private final IncomingLanes lanes;
    private final IncomingRequests requests;
    private final InboundConnection.Owner adopter = new Adopter();

    private volatile @Nullable InboundConnection connection; // others may ask whether there is one
    /** The peer's first request has come: from now on it is known which connection is the peer's. */
    private boolean started;

    private boolean refusing;
    private volatile boolean peerHasEnded; // whoever hears of it says so
    private final Timer holdTimer;
    private int firstPsn;
    /** Calls since the requests were looked at. */
    private int callsUnheard;

    /** The receiving half of a queue pair in RESET. */
    public Responder(RespondingQueuePair queuePair, ReceiveQueue receives, LaneWorkers laneWorkers) {
        this.queuePair = queuePair;
        this.receives = receives;
        waiting = new WaitingConnections(queuePair);
        pieces = new IncomingPieces(receives);
        lanes = new IncomingLanes(queuePair, laneWorkers, receives, pieces);
        requests = new IncomingRequests(queuePair, this, receives, pieces, lanes);
        holdTimer = new Timer(queuePair.lock()::locked, this::endHold);
    }

    // ---- life cycle

    /** READY_TO_RECEIVE: takes the peer's connection, if it has come already. */
    public void start(int receivePsn, int maxDestinationReadAtomic) {
        firstPsn = receivePsn;
        requests.start(receivePsn, maxDestinationReadAtomic);
        offerWaiting();
    }

    /** A connection for this queue pair, of its requests or to be a lane. It is taken, kept, or ended. */
    public void offer(InboundConnection candidate) {
        if (candidate.hello().isLane()) {
            offerLane(candidate);
        } else {
            offerForRequests(candidate);
        }
    }

    /**
     * A connection for the requests. It is taken, kept, or ended.
     *
     * <p>Until the first request, more than one can be right: after a RESET with the same numbers, a connection of the
     * time before may come in late. The dead one ends before its first request, and then the next is taken.
     */
    private void offerForRequests(InboundConnection candidate) {
        if (queuePair.isClosed()) {
            candidate.decline(queuePair + " is closed");
            return;
        }
        switch (queuePair.state()) {
            case RESET, INIT -> waiting.keep(candidate);
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> {
                if (started || !queuePair.peer().matches(candidate.hello(), requests.expectedPsn())) {
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

    /** A connection that asks to be a lane. It is taken, kept, or ended. */
    private void offerLane(InboundConnection candidate) {
        if (queuePair.isClosed() || queuePair.state() == QueuePairStateCode.ERROR) {
            candidate.decline(queuePair + " is closed, or in the error state");
        } else if (connection == null && !started) {
            waiting.keep(candidate); // it has overtaken the connection of the requests
        } else if (connection == null || !queuePair.peer().matches(candidate.hello(), firstPsn)) {
            candidate.reject("it is no lane of the peer of " + queuePair);
        } else if (!candidate.isProven(queuePair.proofs())) {
            rejectUnproven(candidate);
        } else {
            openLane(candidate);
        }
    }

    private void openLane(InboundConnection candidate) {
        int number = candidate.hello().lane();
        if (!lanes.hasRoomFor(number)) {
            candidate.reject("it is no lane of the peer of " + queuePair);
        } else if (!lanes.areUsed()) {
            candidate.decline("this process uses no lanes");
        } else {
            candidate.becomeLane(channel -> lanes.open(number, channel, () -> candidate.accept(queuePair.proofs())));
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
        lanes.stop();
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
        pieces.reset();
        endWaiting();
        started = false;
        refusing = false;
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
        if (refusing) {
            queuePair.enterError("a request was refused");
        } else if (started || queuePair.hasLostOutboundConnection()) {
            queuePair.onBroken();
        } else {
            offerWaiting();
        }
    }

    // ---- the socket

    /**
     * Takes the requests that have come on the connection; seldom while the next is more likely to come on a lane, or a
     * response is waited for and no request is, which saves a system call each time.
     *
     * @param unpolled whether nobody polls, so that there is something most likely
     */
    public void receive(boolean unpolled, boolean awaitsResponse) {
        InboundConnection current = connection;
        boolean likely = unpolled || !(lanes.areBusy() || (awaitsResponse && receives.isEmpty()));
        if (current != null && (likely || ++callsUnheard >= CALLS_UNHEARD)) {
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
            queuePair.enterError("a request was refused");
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

    /** Has the event loop look after the connection. */
    public void arm() {
        if (connection != null) {
            connection.arm();
        }
    }

    /** The event loop looks after the queue pair. */
    public void disarm() {
        if (connection != null) {
            connection.disarm();
        }
    }

    // ---- requests

    private final class Adopter implements InboundConnection.Owner {

        @Override
        public void onReady() {
            queuePair.lock().onReady();
        }

        @Override
        public void onRequest(long at) {
            if (!started) {
                started = true;
                endWaiting();
            }
            requests.onRequest(at);
        }

        @Override
        public void onPayload(long at, int bytes, boolean last) {
            requests.onPayload(at, bytes, last);
        }

        @Override
        public void onRefused() {
            refusing = true;
            requests.onRefused();
        }

        @Override
        public void onConnectionClosed(InboundConnection closed) {
            if (closed == connection) {
                onPeerGone();
            }
        }
    }

    /** A receive was posted. The posting thread. */
    public void onReceivePosted() {
        lanes.onReceivePosted();
    }

    /**
     * Whether the next message may still come from a peer that is gone: it has sent it before. Without that one, those
     * after it are of no use, though they may wait on their connections for ever. From the first question on, the
     * peer's machine is asked whether it is still there.
     */
    public boolean mayStillReceive() {
        requests.finishPieces();
        InboundConnection current = connection;
        if (current != null) {
            current.askOften();
        }
        lanes.askOften();
        boolean mayCome = (current != null && !requests.waitsForPieces()) || lanes.mayBring(requests.expectedPsn());
        return mayCome || requests.hasPieces(); // the last has come just now
    }

    /** What a request waits for may be there: it goes on, and then those after it. */
    public void goOnWaiting() {
        boolean lost = pieces.areLost(); // first: what has come before counts
        requests.goOnWaiting();
        if (lost) {
            queuePair.enterError("one of its peer's lanes has failed");
            return;
        }
        if (connection != null && connection.hasKept()) {
            connection.receive();
        }
    }

    /** Whether the peer's connection for requests is there. */
    public boolean isConnected() {
        return connection != null;
    }

    /** Whether a request has been refused, so that none after it counts. */
    boolean isRefusing() {
        return refusing;
    }

    /** The peer's connection for requests, if there is one. */
    @Nullable
    InboundConnection connection() {
        return connection;
    }
}
