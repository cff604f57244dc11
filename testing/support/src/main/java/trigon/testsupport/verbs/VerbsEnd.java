package trigon.testsupport.verbs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.WorkCompletions;

/**
 * One end of a test connection: an open device with a protection domain, a completion queue for each direction and one
 * queue pair. What it registers it also closes, and the memory stays until then. Used by one thread.
 */
public final class VerbsEnd implements AutoCloseable {

    /** Access that the queue pair and memory allow unless a test says otherwise. */
    public static final Set<AccessFlag> ALL_ACCESS =
            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    private static final int BATCH = 16;
    private static final int HOP_LIMIT = 64;

    private final VerbsFabric.End place;
    private final QueuePairSettings settings;
    private final DeviceContext context;
    private final ProtectionDomain protectionDomain;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final WorkCompletions batch = new WorkCompletions(BATCH);
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final List<NativeBuffer> borrowed = new ArrayList<>();
    private final Deque<Completion> sendSeen = new ArrayDeque<>();
    private final Deque<Completion> receiveSeen = new ArrayDeque<>();
    private final PortAttributes portAttributes;
    private final Gid gid;
    private final QueuePair queuePair;

    /** Opens the device and creates a queue pair in RESET. */
    public VerbsEnd(VerbsFabric.End place, QueuePairSettings settings) {
        this.place = place;
        this.settings = settings;
        context = place.provider().open(place.deviceName());
        portAttributes = context.queryPort(place.port());
        gid = context.gidTable(place.port()).stream()
                .filter(entry -> entry.index() == place.gidIndex())
                .map(GidEntry::gid)
                .findFirst()
                .orElseThrow(() -> new AssertionError(place + " has no such GID"));
        protectionDomain = context.allocateProtectionDomain();
        sendCompletions = context.createCompletionQueue(settings.completions());
        receiveCompletions = context.createCompletionQueue(settings.completions());
        queuePair = createQueuePair();
    }

    private QueuePair createQueuePair() {
        return context.createQueuePair(
                protectionDomain,
                new QueuePairCapacity(
                        sendCompletions,
                        receiveCompletions,
                        settings.workRequests(),
                        settings.workRequests(),
                        settings.inlineBytes()));
    }

    public DeviceContext context() {
        return context;
    }

    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    public CompletionQueue sendCompletions() {
        return sendCompletions;
    }

    public CompletionQueue receiveCompletions() {
        return receiveCompletions;
    }

    public PortAttributes portAttributes() {
        return portAttributes;
    }

    /** Registers all of a buffer for everything; closed with this end. */
    public MemoryRegion register(NativeBuffer buffer) {
        return register(buffer, ALL_ACCESS);
    }

    /** Registers all of a buffer, at least a byte; closed with this end. */
    public MemoryRegion register(NativeBuffer buffer, Set<AccessFlag> access) {
        MemoryRegion region = protectionDomain.registerMemory(buffer.address(), Math.max(1, buffer.length()), access);
        regions.add(region);
        buffer.lend();
        borrowed.add(buffer);
        return region;
    }

    // ---- bringing it up

    /** The address that the other end needs. */
    public QueuePairEndpoint endpoint() {
        return new QueuePairEndpoint(
                queuePair.number(), settings.psn(), gid, portAttributes.lid(), portAttributes.activeMtu());
    }

    public QueuePairAttributes toInit() {
        return QueuePairAttributes.to(QueuePairStateCode.INIT)
                .pkeyIndex(0)
                .port(place.port())
                .accessFlags(settings.access())
                .build();
    }

    public QueuePairAttributes toReadyToReceive(QueuePairEndpoint peer) {
        int lid = portAttributes.linkLayer() == LinkLayer.ETHERNET ? 0 : peer.lid();
        return QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                .addressVector(new AddressVector(peer.gid(), place.gidIndex(), lid, 0, 0, HOP_LIMIT, place.port()))
                .pathMtu(Mtu.min(portAttributes.activeMtu(), peer.mtu()))
                .destinationNumber(peer.number())
                .receivePsn(peer.psn())
                .maxDestinationReadAtomic(settings.readAtomic())
                .minRnrTimer(settings.minRnrTimer())
                .connectionKey(settings.key().orElse(null))
                .build();
    }

    public QueuePairAttributes toReadyToSend() {
        return QueuePairAttributes.to(QueuePairStateCode.READY_TO_SEND)
                .sendPsn(settings.psn())
                .timeout(settings.timeout())
                .retryCount(settings.retryCount())
                .rnrRetry(settings.rnrRetry())
                .maxReadAtomic(settings.readAtomic())
                .build();
    }

    /** From RESET to READY_TO_RECEIVE. */
    public void becomeReadyToReceive(QueuePairEndpoint peer) {
        queuePair.modify(toInit());
        queuePair.modify(toReadyToReceive(peer));
    }

    public void becomeReadyToSend() {
        queuePair.modify(toReadyToSend());
    }

    // ---- completions

    /** The next completion of the send queue. */
    public Completion nextSend() {
        return next("a completion of the send queue", sendCompletions, sendSeen);
    }

    /** The next completion of the receive queue. */
    public Completion nextReceive() {
        return next("a completion of the receive queue", receiveCompletions, receiveSeen);
    }

    /** Tells whether a completion of the send queue is there now. */
    public boolean hasSend() {
        return poll(sendCompletions, sendSeen);
    }

    /** Tells whether a completion of the receive queue is there now. */
    public boolean hasReceive() {
        return poll(receiveCompletions, receiveSeen);
    }

    /** Tells whether that many completions of the send queue, which are not taken yet, are there. */
    public boolean hasAllSends(int count) {
        take(sendCompletions, sendSeen);
        return sendSeen.size() >= count;
    }

    private Completion next(String what, CompletionQueue queue, Deque<Completion> seen) {
        Await.until(what + " at " + place.deviceName(), () -> poll(queue, seen));
        return seen.removeFirst();
    }

    private boolean poll(CompletionQueue queue, Deque<Completion> seen) {
        if (seen.isEmpty()) {
            take(queue, seen);
        }
        return !seen.isEmpty();
    }

    private void take(CompletionQueue queue, Deque<Completion> seen) {
        int taken = queue.poll(batch);
        if (taken < 0) {
            throw new AssertionError("polling failed with errno " + -taken);
        }
        for (int i = 0; i < taken; i++) {
            seen.addLast(Completion.of(batch, i));
        }
    }

    // ---- closing

    /** Closes everything, in the order that the verbs ask for. What a test has closed already may be closed again. */
    @Override
    public void close() {
        queuePair.close();
        regions.forEach(MemoryRegion::close);
        borrowed.forEach(NativeBuffer::giveBack);
        borrowed.clear();
        sendCompletions.close();
        receiveCompletions.close();
        protectionDomain.close();
        context.close();
        batch.close();
    }
}
