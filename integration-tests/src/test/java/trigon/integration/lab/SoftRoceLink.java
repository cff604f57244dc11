package trigon.integration.lab;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import trigon.testsupport.Await;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletions;

/** Two queue pairs at the two ends of the lab's link a-b, connected to each other; one thread uses both. */
final class SoftRoceLink implements AutoCloseable {

    /** Index of the RoCE v2 GID with the IPv4 address; index 0 has the link-local IPv6 address. */
    static final int GID_INDEX = 1;

    static final int BUFFER_BYTES = 1 << 20;
    static final int QUEUE_DEPTH = 16;

    private static final int INITIAL_PSN = 0x123456;
    private static final int QUEUE_ENTRIES = 64;
    private static final int INLINE_BYTES = 32;
    private static final int PAGE = 4096;

    /** One end: a device with everything up to the queue pair. */
    static final class End implements AutoCloseable {
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final QueuePair queuePair;
        final MemoryRegion region;
        final WorkCompletions batch = new WorkCompletions(1);
        private final Arena arena = Arena.ofShared();

        End(VerbsProvider provider, String device) {
            context = provider.open(device);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(QUEUE_ENTRIES);
            queuePair = context.createQueuePair(
                    domain, new QueuePairCapacity(completions, completions, QUEUE_DEPTH, QUEUE_DEPTH, INLINE_BYTES));
            region = domain.registerMemory(
                    arena.allocate(BUFFER_BYTES, PAGE).address(),
                    BUFFER_BYTES,
                    EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
        }

        Gid gid() {
            return context.gidTable(1).stream()
                    .filter(entry -> entry.index() == GID_INDEX)
                    .map(GidEntry::gid)
                    .findFirst()
                    .orElseThrow();
        }

        void connect(End peer) {
            queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.INIT)
                    .pkeyIndex(0)
                    .port(1)
                    .accessFlags(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))
                    .build());
            queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                    .addressVector(new AddressVector(peer.gid(), GID_INDEX, 0, 0, 0, 64, 1))
                    .pathMtu(Mtu.MTU_1024)
                    .destinationNumber(peer.queuePair.number())
                    .receivePsn(INITIAL_PSN)
                    .maxDestinationReadAtomic(4)
                    .minRnrTimer(12)
                    .build());
            queuePair.modify(QueuePairAttributes.to(QueuePairStateCode.READY_TO_SEND)
                    .sendPsn(INITIAL_PSN)
                    .timeout(14)
                    .retryCount(3)
                    .rnrRetry(3)
                    .maxReadAtomic(4)
                    .build());
        }

        /** Polls until the next completion is in {@code batch}, which has room for one. */
        void awaitOne(Duration limit) {
            int[] taken = {0};
            Await.until("completion on " + context.deviceName(), limit, () -> {
                taken[0] = completions.poll(batch);
                return taken[0] != 0;
            });
            if (taken[0] < 0) {
                throw new AssertionError("polling %s gave %d".formatted(context.deviceName(), taken[0]));
            }
        }

        @Override
        public void close() {
            queuePair.close();
            completions.close();
            region.close();
            domain.close();
            context.close();
            batch.close();
            arena.close();
        }
    }

    final End a;
    final End b;

    SoftRoceLink(VerbsProvider provider) {
        a = new End(provider, "rxe_ab");
        b = new End(provider, "rxe_ba");
    }

    /** Brings both queue pairs to READY_TO_SEND. */
    SoftRoceLink connect() {
        a.connect(b);
        b.connect(a);
        return this;
    }

    @Override
    public void close() {
        a.close();
        b.close();
    }
}
