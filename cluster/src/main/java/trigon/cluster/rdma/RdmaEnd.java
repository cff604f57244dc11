package trigon.cluster.rdma;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import trigon.config.QueuePairConfig;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.routing.LocalLink;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * One end of a transfer: a queue pair of its own, memory that it sends from, and memory that the peer writes. One
 * thread at a time; its calls may block as long as the device's do. Closed once, the last thing first.
 */
final class RdmaEnd implements AutoCloseable {

    private static final int QUEUE_DEPTH = 64;
    private static final int PAGE = 4096;

    /** 67 ms, and six times more: a cable takes microseconds, a pause of the fabric's some milliseconds. */
    private static final int TIMEOUT = 14;

    private static final int RETRIES = 6;
    private static final int SHORTEST_RNR_TIMER = 12;
    /** Size of a WRITE that is not cut to the size of a packet. */
    static final int LONG_PIECE = 64 << 10;

    private static final long POLL_NANOS = 20_000;

    /**
     * Outcome of writing.
     *
     * @param status of the first failure; SUCCESS without one
     * @param errno of posting or polling; 0 without one
     * @param complete true if all was acknowledged in time
     * @param bytes that were acknowledged
     */
    record Written(WorkCompletionStatus status, int errno, boolean complete, long bytes, long nanos) {}

    /**
     * Bytes of the pattern that did not come.
     *
     * @param wrong number of other bytes
     * @param first the place of the first
     */
    record Checked(long wrong, long first) {}

    private final LocalLink link;
    private final QueuePairConfig config;
    private final Deque<Runnable> closing = new ArrayDeque<>();
    private final DeviceContext device;
    private final PortAttributes port;
    private final CompletionQueue completions;
    private final WorkCompletions batch = new WorkCompletions(QUEUE_DEPTH);
    private final QueuePairLifecycle lifecycle;
    private final MemorySegment source;
    private final MemorySegment target;
    private final MemoryRegion sourceRegion;
    private final MemoryRegion targetRegion;
    private final int psn;

    /**
     * Opens the device and creates the queue pair, which is in RESET then.
     *
     * @param bytes of each of both memories
     * @param psn of the first packet that it sends, 24 bits
     * @throws VerbsException if the device refuses; nothing is left open then
     */
    RdmaEnd(VerbsProvider provider, LocalLink link, QueuePairConfig config, int bytes, int psn) {
        this.link = link;
        this.config = config;
        this.psn = psn;
        try {
            closing.push(batch::close);
            Arena arena = Arena.ofShared();
            closing.push(arena::close);
            source = arena.allocate(bytes, PAGE);
            target = arena.allocate(bytes, PAGE);
            device = provider.open(link.deviceName());
            closing.push(device::close);
            port = device.queryPort(link.port());
            ProtectionDomain domain = device.allocateProtectionDomain();
            closing.push(domain::close);
            sourceRegion = domain.registerMemory(source.address(), bytes, EnumSet.of(AccessFlag.LOCAL_WRITE));
            closing.push(sourceRegion::close);
            targetRegion = domain.registerMemory(
                    target.address(), bytes, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
            closing.push(targetRegion::close);
            completions = device.createCompletionQueue(2 * QUEUE_DEPTH);
            closing.push(completions::close);
            QueuePair queuePair =
                    device.createQueuePair(domain, new QueuePairCapacity(completions, completions, QUEUE_DEPTH, 1, 0));
            lifecycle = new QueuePairLifecycle(
                    queuePair,
                    link.deviceName(),
                    new QueuePairParameters(TIMEOUT, RETRIES, RETRIES, SHORTEST_RNR_TIMER, 1, 1));
            closing.push(lifecycle::close);
        } catch (RuntimeException e) {
            closeAll(e);
            throw e;
        }
    }

    /** RESET to INIT, bound to the port of the link. */
    void initialize() {
        lifecycle.initialize(link.port(), device.partitionKeyIndex(link.port()), EnumSet.of(AccessFlag.REMOTE_WRITE));
    }

    /** End of the queue pair that the peer connects to. */
    QueuePairEndpoint endpoint() {
        return new QueuePairEndpoint(lifecycle.queuePair().number(), psn, link.gid(), port.lid(), port.activeMtu());
    }

    /** Memory that the peer may write. */
    MemoryRegion target() {
        return targetRegion;
    }

    /** The entry of the GID table that is used, as the device has it; its type may be another than the peer's. */
    String gidType() {
        return device.gidTable(link.port()).stream()
                .filter(entry -> entry.index() == link.gidIndex())
                .findFirst()
                .map(GidEntry::type)
                .map(type -> switch (type) {
                    case INFINIBAND -> "InfiniBand";
                    case ROCE_V1 -> "RoCE v1";
                    case ROCE_V2 -> "RoCE v2";
                })
                .orElse("none");
    }

    LocalLink link() {
        return link;
    }

    Mtu pathMtu(QueuePairEndpoint peer) {
        return Mtu.min(port.activeMtu(), peer.mtu());
    }

    /** INIT to READY_TO_RECEIVE, on the way to that peer. */
    void readyToReceive(QueuePairEndpoint peer) {
        AddressVector route = new AddressVector(
                peer.gid(),
                link.gidIndex(),
                peer.lid(),
                config.serviceLevel(),
                config.trafficClass().orElse(0),
                AddressVector.MAX_HOP_LIMIT,
                link.port());
        lifecycle.readyToReceive(peer, pathMtu(peer), route, null);
    }

    /** READY_TO_RECEIVE to READY_TO_SEND; only once the peer is ready to receive. */
    void readyToSend() {
        lifecycle.readyToSend(psn);
    }

    /** Puts the pattern of a seed into what is sent, and its complement into what another one is to come. */
    void prepare(long sentSeed, long expectedSeed) {
        MemorySegment.copy(pattern(sentSeed), 0, source, ValueLayout.JAVA_BYTE, 0, (int) source.byteSize());
        byte[] expected = pattern(expectedSeed);
        for (int i = 0; i < expected.length; i++) {
            target.set(ValueLayout.JAVA_BYTE, i, (byte) ~expected[i]);
        }
    }

    private byte[] pattern(long seed) {
        byte[] pattern = new byte[(int) source.byteSize()];
        new Random(seed).nextBytes(pattern);
        return pattern;
    }

    /**
     * Writes all of it once, in pieces.
     *
     * @param piece bytes of each RDMA WRITE
     * @param address where, in the peer's memory
     */
    Written write(int piece, long address, int key, long limitMillis) {
        return write(piece, address, key, source.byteSize(), Long.MAX_VALUE, limitMillis);
    }

    /** Writes all of it again and again for that time, in long pieces. */
    Written writeFor(long nanos, long address, int key, long limitMillis) {
        return write(LONG_PIECE, address, key, Long.MAX_VALUE, nanos, limitMillis);
    }

    private Written write(int piece, long address, int key, long bytes, long nanos, long limitMillis) {
        long begin = System.nanoTime();
        long limit = TimeUnit.MILLISECONDS.toNanos(limitMillis);
        long posted = 0;
        long done = 0;
        int outstanding = 0;
        while (true) {
            long took = System.nanoTime() - begin;
            while (outstanding < QUEUE_DEPTH && posted < bytes && took < nanos) {
                long offset = posted % source.byteSize();
                int length = (int) Math.min(piece, source.byteSize() - offset);
                int errno = lifecycle
                        .queuePair()
                        .postWrite(
                                length,
                                source.address() + offset,
                                length,
                                sourceRegion.localKey(),
                                address + offset,
                                key,
                                SendFlag.SIGNALED);
                if (errno != 0) {
                    return new Written(WorkCompletionStatus.SUCCESS, errno, false, done, took);
                }
                posted += length;
                outstanding++;
            }
            if (outstanding == 0) {
                return new Written(WorkCompletionStatus.SUCCESS, 0, true, done, took);
            }
            if (took > limit) {
                return new Written(WorkCompletionStatus.SUCCESS, 0, false, done, took);
            }
            int count = completions.poll(batch);
            if (count < 0) {
                return new Written(WorkCompletionStatus.SUCCESS, -count, false, done, took);
            }
            for (int i = 0; i < count; i++) {
                WorkCompletionStatus status = WorkCompletionStatus.ofCode(batch.statusCode(i));
                if (status != WorkCompletionStatus.SUCCESS) {
                    return new Written(status, 0, false, done, took);
                }
                done += batch.workRequestId(i);
                outstanding--;
            }
            if (count == 0) {
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    /** Looks at each byte that the peer was to write. */
    Checked check(long expectedSeed) {
        byte[] expected = pattern(expectedSeed);
        long wrong = 0;
        long first = -1;
        for (int i = 0; i < expected.length; i++) {
            if (target.get(ValueLayout.JAVA_BYTE, i) != expected[i]) {
                wrong++;
                first = first < 0 ? i : first;
            }
        }
        return new Checked(wrong, first);
    }

    private void closeAll(RuntimeException cause) {
        while (!closing.isEmpty()) {
            try {
                closing.pop().run();
            } catch (RuntimeException e) {
                cause.addSuppressed(e);
            }
        }
    }

    @Override
    public void close() {
        RuntimeException failures = new IllegalStateException("the device does not let go");
        closeAll(failures);
        if (failures.getSuppressed().length > 0) {
            throw failures;
        }
    }
}
