package trigon.qpstate;

import java.util.Objects;
import java.util.Set;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.qpstate.QueuePairState.Name;
import trigon.trace.TraceLog;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * Walks one queue pair through its states. Owns it: nothing else modifies or closes it.
 *
 * <p>An illegal transition is refused before a verb is called. Every transition is one line of the log and one flight
 * recorder event, {@code trigon.QueuePairTransition}. A verb that fails takes the lifecycle to {@link
 * QueuePairState.Error}, from where only {@link #reset} and {@link #close} lead on; the failure is thrown as well.
 *
 * <p>Transitions exclude each other and may block: control threads only. {@link #state} is safe and cheap anywhere.
 */
public final class QueuePairLifecycle implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(QueuePairLifecycle.class);

    private final QueuePair queuePair;
    private final String deviceName;
    private final QueuePairParameters parameters;

    /** Written under this object's monitor. */
    private volatile QueuePairState state = new QueuePairState.Reset();

    /**
     * Takes over a queue pair in state RESET.
     *
     * @param deviceName for the log
     * @param parameters what it does about loss and slow peers
     */
    public QueuePairLifecycle(QueuePair queuePair, String deviceName, QueuePairParameters parameters) {
        this.queuePair = Objects.requireNonNull(queuePair, "queuePair");
        this.deviceName = Objects.requireNonNull(deviceName, "deviceName");
        this.parameters = Objects.requireNonNull(parameters, "parameters");
    }

    /** The state it was brought to. The device may have gone to ERROR since; completions tell. */
    public QueuePairState state() {
        return state;
    }

    /** For the data path: posting only. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /**
     * RESET to INIT: binds it to a port. Receives may be posted from here on.
     *
     * @param port the device's port, from 1
     * @param pkeyIndex index into the port's table of partition keys; 0 is the default partition
     * @param access what the peer may do through the queue pair
     * @throws IllegalTransitionException if it is not in RESET
     * @throws VerbsException if the verb fails
     */
    public synchronized void initialize(int port, int pkeyIndex, Set<AccessFlag> access) {
        QueuePairTransition transition = require(Name.INIT);
        QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairStateCode.INIT)
                .port(port)
                .pkeyIndex(pkeyIndex)
                .accessFlags(access)
                .build();
        modify(transition, attributes, new QueuePairState.Init(port, pkeyIndex, access));
    }

    /**
     * INIT to READY_TO_RECEIVE: connects it to the peer's queue pair. May block to resolve the peer's address.
     *
     * @param remote the peer's end; its PSN is the first that is expected
     * @param pathMtu the smaller of both ends' MTUs
     * @param route how packets get to the peer's port
     * @param key what the peer is to prove that it knows, where the device can ask for that; null for no such proof
     * @throws IllegalTransitionException if it is not in INIT
     * @throws VerbsException if the verb fails; ETIMEDOUT, ENETUNREACH, EHOSTUNREACH: the peer cannot be reached
     */
    public synchronized void readyToReceive(
            QueuePairEndpoint remote, Mtu pathMtu, AddressVector route, @Nullable ConnectionKey key) {
        QueuePairTransition transition = require(Name.READY_TO_RECEIVE);
        QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                .addressVector(route)
                .pathMtu(pathMtu)
                .destinationNumber(remote.number())
                .receivePsn(remote.psn())
                .maxDestinationReadAtomic(parameters.maxDestinationReadAtomic())
                .minRnrTimer(parameters.minRnrTimer())
                .connectionKey(key)
                .build();
        modify(transition, attributes, new QueuePairState.ReadyToReceive(remote, pathMtu));
    }

    /**
     * READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @param sendPsn the first packet sequence number sent, 24 bits: the one the peer was told
     * @throws IllegalTransitionException if it is not in READY_TO_RECEIVE
     * @throws VerbsException if the verb fails
     */
    public synchronized void readyToSend(int sendPsn) {
        QueuePairTransition transition = require(Name.READY_TO_SEND);
        if (!(state instanceof QueuePairState.ReadyToReceive receiving)) {
            throw new AssertionError("the table leads to READY_TO_SEND from " + state);
        }
        QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairStateCode.READY_TO_SEND)
                .sendPsn(sendPsn)
                .timeout(parameters.timeout())
                .retryCount(parameters.retryCount())
                .rnrRetry(parameters.rnrRetry())
                .maxReadAtomic(parameters.maxReadAtomic())
                .build();
        modify(transition, attributes, new QueuePairState.ReadyToSend(receiving.remote(), receiving.pathMtu()));
    }

    /**
     * To ERROR, for that cause: outstanding requests complete with WR_FLUSHED. Does nothing where it is in ERROR (the
     * first cause stays) or closed, so that late failures are harmless. Throws nothing: a verb that fails here is added
     * to the cause as suppressed.
     */
    public synchronized void fail(Throwable cause) {
        QueuePairState before = state;
        if (before instanceof QueuePairState.Error || before instanceof QueuePairState.Closed) {
            return;
        }
        QueuePairTransition transition = require(Name.ERROR);
        QueuePairState after = new QueuePairState.Error(cause);
        if (before instanceof QueuePairState.Reset) {
            // nothing can be outstanding, and Linux takes RESET to INIT or RESET only (ib_modify_qp_is_ok)
            perform(transition, after, () -> {});
            return;
        }
        try {
            modify(transition, QueuePairAttributes.to(QueuePairStateCode.ERROR).build(), after);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
            state = after;
        }
    }

    /**
     * Back to RESET from any state but closed: outstanding requests are dropped without a completion.
     *
     * @throws IllegalTransitionException if it is closed
     * @throws VerbsException if the verb fails
     */
    public synchronized void reset() {
        QueuePairTransition transition = require(Name.RESET);
        modify(transition, QueuePairAttributes.to(QueuePairStateCode.RESET).build(), new QueuePairState.Reset());
    }

    /**
     * Destroys the queue pair from any state. Closing twice is allowed.
     *
     * @throws VerbsException if the device refuses; it can be closed again then
     */
    @Override
    public synchronized void close() {
        if (state instanceof QueuePairState.Closed) {
            return;
        }
        perform(require(Name.CLOSED), new QueuePairState.Closed(), queuePair::close);
    }

    private QueuePairTransition require(Name to) {
        Name from = state.name();
        return QueuePairTransition.between(from, to)
                .orElseThrow(() -> new IllegalTransitionException(toString(), from, to));
    }

    private void modify(QueuePairTransition transition, QueuePairAttributes attributes, QueuePairState after) {
        if (!attributes.mask().equals(transition.attributes())) {
            throw new AssertionError("%s to %s needs %s, not %s"
                    .formatted(transition.from(), transition.to(), transition.attributes(), attributes.mask()));
        }
        perform(transition, after, () -> queuePair.modify(attributes));
    }

    private void perform(QueuePairTransition transition, QueuePairState after, Runnable verb) {
        QueuePairState before = state;
        QueuePairTransitionEvent event = begunEvent();
        try {
            verb.run();
        } catch (RuntimeException e) {
            state = before instanceof QueuePairState.Error ? before : new QueuePairState.Error(e);
            commit(event, before, state, after);
            trace(before, state);
            LOGGER.warn("{} {} -> ERROR on the way to {}: {}", this, before.name(), transition.to(), e.toString());
            throw e;
        }
        state = after;
        commit(event, before, after, after);
        trace(before, after);
        if (LOGGER.isDebugEnabled()) {
            LOGGER.debug("{} {} -> {}{}", this, before.name(), after.name(), details(before, after));
        }
    }

    /**
     * Null where nobody has ever asked for a recording: the class alone would start the recorder, which takes 90 ms.
     */
    private static @Nullable QueuePairTransitionEvent begunEvent() {
        if (!FlightRecorder.isInitialized()) {
            return null;
        }
        QueuePairTransitionEvent event = new QueuePairTransitionEvent();
        event.begin();
        return event;
    }

    private void commit(
            @Nullable QueuePairTransitionEvent event,
            QueuePairState before,
            QueuePairState reached,
            QueuePairState wanted) {
        if (event == null) {
            return;
        }
        event.end();
        if (event.shouldCommit()) {
            event.device = deviceName;
            event.number = queuePair.number();
            event.from = before.name().name();
            event.to = reached.name().name();
            event.peer = peer(before, wanted);
            event.commit();
        }
    }

    private void trace(QueuePairState before, QueuePairState reached) {
        TraceLog.event(
                "transition",
                "device",
                deviceName,
                "qp",
                queuePair.number(),
                "from",
                before.name(),
                "to",
                reached.name());
    }

    private static String details(QueuePairState before, QueuePairState reached) {
        String peer = peer(before, reached);
        String ofPeer = peer.isEmpty() ? "" : " peer " + peer;
        return switch (reached) {
            case QueuePairState.ReadyToReceive receiving ->
                ofPeer + " mtu " + receiving.pathMtu().bytes();
            case QueuePairState.Error error -> ofPeer + ": " + error.cause();
            case QueuePairState.Init init -> " port " + init.port();
            case QueuePairState.ReadyToSend _, QueuePairState.Reset _, QueuePairState.Closed _ -> ofPeer;
        };
    }

    /** The peer that a transition is about; empty where none is known yet. */
    private static String peer(QueuePairState before, QueuePairState after) {
        String next = peer(after);
        return next.isEmpty() ? peer(before) : next;
    }

    private static String peer(QueuePairState state) {
        return switch (state) {
            case QueuePairState.ReadyToReceive receiving -> describe(receiving.remote());
            case QueuePairState.ReadyToSend sending -> describe(sending.remote());
            case QueuePairState.Reset _, QueuePairState.Init _, QueuePairState.Error _, QueuePairState.Closed _ -> "";
        };
    }

    private static String describe(QueuePairEndpoint peer) {
        return "qp 0x%06x gid %s".formatted(peer.number(), peer.gid());
    }

    /** As in the log: number and device. */
    @Override
    public String toString() {
        return "qp 0x%06x %s".formatted(queuePair.number(), deviceName);
    }
}
