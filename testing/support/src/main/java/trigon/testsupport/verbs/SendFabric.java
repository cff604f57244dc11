package trigon.testsupport.verbs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.verbs.AccessFlag;
import trigon.verbs.AsyncEvent;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ResourceLedger;
import trigon.verbs.SendFlag;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * RDMA devices of one process that know SENDs and nothing else, for tests of what uses no more. A SEND arrives when it
 * is posted; without a receive, or without a peer, it fails, since there are no retries. Memory and its keys are
 * checked. Thread-safe: one lock for all.
 * Posting and polling allocate nothing.
 */
public final class SendFabric implements VerbsProvider {

    private final Map<String, Gid> devices;
    private final List<@Nullable Pair> pairs = new ArrayList<>(); // by their numbers, as are those by their keys
    private final List<@Nullable Region> regions = new ArrayList<>();
    private final ResourceLedger ledger = new ResourceLedger();
    private final Set<Thread> openers = new HashSet<>();
    private long memoryLimit = Long.MAX_VALUE;
    private boolean keepsQueuePairs;
    private boolean broken;
    private boolean mute;
    private int resets;
    private int openings;
    private @Nullable SplittableRandom late;

    /** Devices by their names, each with one port and one GID. */
    public SendFabric(Map<String, Gid> devices) {
        this.devices = Map.copyOf(devices);
        pairs.add(null); // nothing is number 0
        regions.add(null);
    }

    /** From now on no more than so many bytes can be registered at a time, as with a limit on locked memory. */
    public synchronized void limitMemory(long bytes) {
        memoryLimit = bytes;
    }

    /** From now on each poll shows as many completions as that says, and others later. */
    public synchronized void showLate(SplittableRandom random) {
        late = random;
    }

    /** The argument of {@link #showLate}; under the lock. */
    @Nullable
    SplittableRandom late() {
        return late;
    }

    /** The threads that have made queue pairs, which may block. */
    public synchronized Set<Thread> openers() {
        return Set.copyOf(openers);
    }

    /** From now on no queue pair can be destroyed. */
    public synchronized void keepQueuePairs() {
        keepsQueuePairs = true;
    }

    /** From now on devices can be opened, and refuse everything else. */
    public synchronized void breakDevices() {
        broken = true;
    }

    /** Repairs the devices for those who open them from now on; what is open now refuses everything for good. */
    public synchronized void resetDevices() {
        broken = false;
        resets++;
    }

    /** Number of times that a device has been opened. */
    public synchronized int openings() {
        return openings;
    }

    /** From now on nothing that is sent arrives, and no device says a word of it. */
    public synchronized void fallSilent() {
        mute = true;
    }

    /** Takes all queue pairs to the error state, as after a cable is cut for long. */
    public synchronized void cut() {
        pairs.stream().filter(Objects::nonNull).forEach(pair -> pair.fail(WorkCompletionStatus.RETRY_EXCEEDED));
    }

    @Override
    public String name() {
        return "the fabric of a test";
    }

    @Override
    public LinkKind linkKind() {
        return LinkKind.RDMA;
    }

    @Override
    public List<String> deviceNames() {
        return List.copyOf(devices.keySet());
    }

    @Override
    public DeviceContext open(String deviceName) {
        Gid gid = devices.get(deviceName);
        if (gid == null) {
            throw new VerbsException("ibv_open_device", deviceName, Errno.ENODEV, "");
        }
        synchronized (this) {
            openings++;
            return new Context(deviceName, gid, resets);
        }
    }

    @Override
    public ResourceLedger ledger() {
        return ledger;
    }

    private final class Context implements DeviceContext {

        private final String deviceName;
        private final Gid gid;
        private final int resetsBefore;
        private boolean closed;

        Context(String deviceName, Gid gid, int resetsBefore) {
            this.deviceName = deviceName;
            this.gid = gid;
            this.resetsBefore = resetsBefore;
            ledger.opened(ResourceLedger.Kind.DEVICE_CONTEXT);
        }

        void requireSound(String verb) {
            synchronized (SendFabric.this) {
                if (broken || resets > resetsBefore) {
                    throw new VerbsException(verb, deviceName, Errno.EIO, "");
                }
            }
        }

        @Override
        public String deviceName() {
            return deviceName;
        }

        @Override
        public DeviceAttributes attributes() {
            return new DeviceAttributes(gid.low(), 1, 1 << 14, 1 << 16, 1);
        }

        @Override
        public PortAttributes queryPort(int port) {
            requireSound("ibv_query_port");
            return new PortAttributes(PortState.ACTIVE, Mtu.MTU_4096, 1 << 30, 0, LinkLayer.ETHERNET, 100_000);
        }

        @Override
        public List<GidEntry> gidTable(int port) {
            return List.of(new GidEntry(1, gid, GidEntry.Type.ROCE_V2, 1));
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            requireSound("ibv_alloc_pd");
            ledger.opened(ResourceLedger.Kind.PROTECTION_DOMAIN);
            return new Domain(this);
        }

        @Override
        public CompletionQueue createCompletionQueue(int entries) {
            requireSound("ibv_create_cq");
            ledger.opened(ResourceLedger.Kind.COMPLETION_QUEUE);
            return new FabricCompletions(SendFabric.this);
        }

        @Override
        public QueuePair createQueuePair(ProtectionDomain domain, QueuePairCapacity capacity) {
            requireSound("ibv_create_qp");
            synchronized (SendFabric.this) {
                Pair pair = new Pair(pairs.size(), (Domain) domain, capacity);
                openers.add(Thread.currentThread());
                pairs.add(pair);
                ledger.opened(ResourceLedger.Kind.QUEUE_PAIR);
                return pair;
            }
        }

        @Override
        public Optional<AsyncEvent> pollAsyncEvent() {
            return Optional.empty();
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                ledger.closed(ResourceLedger.Kind.DEVICE_CONTEXT);
            }
        }
    }

    private final class Domain implements ProtectionDomain {

        private final Context context;
        private boolean closed;

        Domain(Context context) {
            this.context = context;
        }

        @Override
        public MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access) {
            context.requireSound("ibv_reg_mr");
            synchronized (SendFabric.this) {
                long registered = regions.stream()
                        .filter(Objects::nonNull)
                        .mapToLong(Region::length)
                        .sum();
                if (registered + length > memoryLimit) {
                    throw new VerbsException("ibv_reg_mr", "a test's device", Errno.ENOMEM, "");
                }
                Region region = new Region(regions.size(), this, address, length, access);
                regions.add(region);
                ledger.opened(ResourceLedger.Kind.MEMORY_REGION);
                return region;
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                ledger.closed(ResourceLedger.Kind.PROTECTION_DOMAIN);
            }
        }
    }

    private final class Region implements MemoryRegion {

        private final int key;
        private final Domain domain;
        private final long address;
        private final long length;
        private final Set<AccessFlag> access;

        Region(int key, Domain domain, long address, long length, Set<AccessFlag> access) {
            this.key = key;
            this.domain = domain;
            this.address = address;
            this.length = length;
            this.access = Set.copyOf(access);
        }

        boolean covers(Domain of, long at, int bytes) {
            return domain == of && at >= address && at + bytes <= address + length;
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public int localKey() {
            return key;
        }

        @Override
        public int remoteKey() {
            return key;
        }

        @Override
        public void close() {
            synchronized (SendFabric.this) {
                if (regions.set(key, null) != null) {
                    ledger.closed(ResourceLedger.Kind.MEMORY_REGION);
                }
            }
        }
    }

    private final class Pair extends PartialQueuePair {

        private final int number;
        private final Domain domain;
        private final FabricCompletions sends;
        private final FabricCompletions receives;
        private final PostedReceives posted = new PostedReceives();
        private QueuePairStateCode state = QueuePairStateCode.RESET;
        private int peer;
        private boolean closed;

        Pair(int number, Domain domain, QueuePairCapacity capacity) {
            this.number = number;
            this.domain = domain;
            sends = (FabricCompletions) capacity.sendCompletions();
            receives = (FabricCompletions) capacity.receiveCompletions();
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public int maxInlineBytes() {
            return 128;
        }

        @Override
        public void modify(QueuePairAttributes attributes) {
            synchronized (SendFabric.this) {
                if (attributes.mask().contains(QueuePairAttribute.DESTINATION_NUMBER)) {
                    peer = attributes.destinationNumber();
                    if (!devices.containsValue(attributes.addressVector().destination())) {
                        throw new VerbsException("ibv_modify_qp", toString(), Errno.ETIMEDOUT, "no such neighbour");
                    }
                }
                state = attributes.state();
                if (state == QueuePairStateCode.ERROR) {
                    fail(WorkCompletionStatus.WR_FLUSHED);
                }
            }
        }

        @Override
        public QueuePairStateCode queryState() {
            return state;
        }

        private void fail(WorkCompletionStatus status) {
            state = QueuePairStateCode.ERROR;
            for (int each = posted.take(); each >= 0; each = posted.take()) {
                receives.add(posted.ids[each], status, WorkCompletionOpcode.RECEIVE, 0, 0, 0);
            }
        }

        @Override
        public int postSendWithImmediate(
                long workRequestId, long localAddress, int length, int localKey, int immediate, int sendFlags) {
            synchronized (SendFabric.this) {
                if (closed || (state != QueuePairStateCode.READY_TO_SEND && state != QueuePairStateCode.ERROR)) {
                    return Errno.EINVAL;
                }
                if (mute) {
                    return 0;
                }
                boolean inline = (sendFlags & SendFlag.INLINE) != 0;
                WorkCompletionStatus status = send(localAddress, length, localKey, immediate, inline);
                if (status != WorkCompletionStatus.SUCCESS) {
                    state = QueuePairStateCode.ERROR;
                }
                if ((sendFlags & SendFlag.SIGNALED) != 0 || status != WorkCompletionStatus.SUCCESS) {
                    sends.add(workRequestId, status, WorkCompletionOpcode.SEND, length, 0, 0);
                }
                return 0;
            }
        }

        private WorkCompletionStatus send(long address, int length, int key, int immediate, boolean inline) {
            Region from = regions.get(key);
            if (state == QueuePairStateCode.ERROR) {
                return WorkCompletionStatus.WR_FLUSHED;
            }
            if (length > 0 && !inline && (from == null || !from.covers(domain, address, length))) {
                return WorkCompletionStatus.LOCAL_PROTECTION_ERROR;
            }
            Pair to = pairs.get(peer);
            if (to == null || to.peer != number || to.state == QueuePairStateCode.ERROR) {
                return WorkCompletionStatus.RETRY_EXCEEDED;
            }
            return to.receive(address, length, immediate);
        }

        private WorkCompletionStatus receive(long from, int length, int immediate) {
            int receive = posted.take();
            if (receive < 0) {
                return WorkCompletionStatus.RNR_RETRY_EXCEEDED;
            }
            Region into = regions.get(posted.keys[receive]);
            long address = posted.addresses[receive];
            if (length > posted.lengths[receive]
                    || into == null
                    || !into.access.contains(AccessFlag.LOCAL_WRITE)
                    || !into.covers(domain, address, length)) {
                return WorkCompletionStatus.REMOTE_OPERATION_ERROR;
            }
            Memory.copy(from, address, length);
            receives.add(
                    posted.ids[receive],
                    WorkCompletionStatus.SUCCESS,
                    WorkCompletionOpcode.RECEIVE,
                    length,
                    immediate,
                    WorkCompletions.WITH_IMMEDIATE);
            return WorkCompletionStatus.SUCCESS;
        }

        @Override
        public int postReceive(long workRequestId, long localAddress, int length, int localKey) {
            synchronized (SendFabric.this) {
                if (posted.isFull()) {
                    return Errno.ENOMEM;
                }
                posted.add(workRequestId, localAddress, length, localKey);
                return 0;
            }
        }

        @Override
        public void close() {
            synchronized (SendFabric.this) {
                if (keepsQueuePairs) {
                    throw new VerbsException("ibv_destroy_qp", toString(), Errno.EBUSY, "");
                }
                if (!closed) {
                    closed = true;
                    pairs.set(number, null);
                    ledger.closed(ResourceLedger.Kind.QUEUE_PAIR);
                }
            }
        }

        @Override
        public String toString() {
            return "qp " + number;
        }
    }
}
