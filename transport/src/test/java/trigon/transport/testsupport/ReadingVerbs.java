package trigon.transport.testsupport;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.routing.LocalLink;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.testsupport.verbs.PartialQueuePair;
import trigon.verbs.AccessFlag;
import trigon.verbs.AsyncEvent;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.DeviceMemory;
import trigon.verbs.DmaBuf;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.NativePoll;
import trigon.verbs.NativePost;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/** Devices that take READs of memory of GPUs, and complete them when a test says so. They move nothing. */
public final class ReadingVerbs implements VerbsProvider {

    private static final int REGION_KEY = 7;

    /** How all of them reach memory of GPUs. */
    public DeviceMemory memory = new DeviceMemory(true, false, "");

    /** READs that are outstanding, by device. */
    public final Map<String, Queue<Long>> outstanding = new TreeMap<>();

    /** The descriptors of what was registered, in order. */
    public final List<Integer> registered = new ArrayList<>();

    /** The path MTU of all ports. */
    public Mtu mtu = Mtu.MTU_1024;

    /** The GID table of all ports. */
    public List<GidEntry> gids = List.of();

    /** Changes of queue pairs' attributes, in order. */
    public final List<QueuePairAttributes> modified = new ArrayList<>();

    /** A device of that name does not reach memory of GPUs. */
    public String refusing = "";

    private final Map<String, Queue<Long>> completed = new TreeMap<>();
    private final ResourceLedger ledger = new ResourceLedger();
    private WorkCompletionStatus status = WorkCompletionStatus.SUCCESS;

    /** All that is outstanding on a device is done. */
    public void complete(String device) {
        status = WorkCompletionStatus.SUCCESS;
        move(device);
    }

    private void move(String device) {
        completions(device).addAll(reads(device));
        reads(device).clear();
    }

    /** The same, and has failed: the first so, and those behind it are flushed. */
    public void fail(String device, WorkCompletionStatus why) {
        move(device);
        status = why;
    }

    /** A device of that name makes no queue pair from now on; of no name: each does. */
    public String without = "";

    private Queue<Long> reads(String device) {
        return outstanding.computeIfAbsent(device, _ -> new ArrayDeque<>());
    }

    private Queue<Long> completions(String device) {
        return completed.computeIfAbsent(device, _ -> new ArrayDeque<>());
    }

    @Override
    public String name() {
        return "reading";
    }

    @Override
    public LinkKind linkKind() {
        return LinkKind.RDMA;
    }

    @Override
    public List<String> deviceNames() {
        return List.of();
    }

    @Override
    public DeviceContext open(String deviceName) {
        return new Device(deviceName);
    }

    @Override
    public ResourceLedger ledger() {
        return ledger;
    }

    private final class Device implements DeviceContext {

        private final String name;

        Device(String name) {
            this.name = name;
        }

        @Override
        public String deviceName() {
            return name;
        }

        @Override
        public DeviceAttributes attributes() {
            return new DeviceAttributes(1, 1, 64, 64, 1);
        }

        @Override
        public PortAttributes queryPort(int port) {
            return new PortAttributes(PortState.ACTIVE, mtu, 1 << 30, 0, LinkLayer.ETHERNET, 10_000);
        }

        @Override
        public List<GidEntry> gidTable(int port) {
            return gids;
        }

        @Override
        public DeviceMemory deviceMemory() {
            return memory;
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            return new Domain(name);
        }

        @Override
        public CompletionQueue createCompletionQueue(int entries) {
            return new Completions(name);
        }

        @Override
        public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
            if (name.equals(without)) {
                throw new VerbsException("ibv_create_qp", name, Errno.EIO, "");
            }
            ledger.opened(ResourceLedger.Kind.QUEUE_PAIR);
            return new Reader(name);
        }

        @Override
        public Optional<AsyncEvent> pollAsyncEvent() {
            return Optional.empty();
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private final class Domain implements ProtectionDomain {

        private final String device;

        Domain(String device) {
            this.device = device;
        }

        @Override
        public MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access) {
            ledger.opened(ResourceLedger.Kind.MEMORY_REGION);
            return new Region(address, length);
        }

        @Override
        public MemoryRegion registerDeviceMemory(
                long address, long length, @Nullable DmaBuf dmaBuf, Set<AccessFlag> access) {
            if (device.equals(refusing)) {
                throw new VerbsException("ibv_reg_dmabuf_mr", device, Errno.EOPNOTSUPP, "");
            }
            if (dmaBuf != null) {
                registered.add(dmaBuf.descriptor());
            }
            return registerMemory(address, length, access);
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private final class Region implements MemoryRegion {

        private final long address;
        private final long length;

        Region(long address, long length) {
            this.address = address;
            this.length = length;
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
            return REGION_KEY;
        }

        @Override
        public int remoteKey() {
            return REGION_KEY;
        }

        @Override
        public void close() {
            ledger.closed(ResourceLedger.Kind.MEMORY_REGION);
        }
    }

    private final class Completions implements CompletionQueue {

        private final String device;

        Completions(String device) {
            this.device = device;
        }

        @Override
        public int poll(WorkCompletions into) {
            int count = 0;
            for (; count < into.capacity() && !completions(device).isEmpty(); count++) {
                into.set(
                        count, completions(device).remove(), status.code(), WorkCompletionOpcode.RDMA_READ, 1, 0, 0, 1);
                status = status == WorkCompletionStatus.SUCCESS ? status : WorkCompletionStatus.WR_FLUSHED;
            }
            return count;
        }

        @Override
        public Optional<NativePoll> nativePoll() {
            return Optional.of(LaneVerbs.pollOf(this));
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    private final class Reader extends PartialQueuePair {

        private final String device;

        Reader(String device) {
            this.device = device;
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public int maxInlineBytes() {
            return 0;
        }

        @Override
        public void modify(QueuePairAttributes attributes) {
            modified.add(attributes); // any state will do
        }

        @Override
        public QueuePairStateCode queryState() {
            return QueuePairStateCode.READY_TO_SEND;
        }

        @Override
        public Optional<NativePost> nativePost() {
            return Optional.of(LaneVerbs.readsBy(() -> reads(device).add(0L)));
        }

        @Override
        public void close() {
            reads(device).clear();
            completions(device).clear();
            ledger.closed(ResourceLedger.Kind.QUEUE_PAIR);
        }
    }

    /** A link of one of them, at 10.1.1.{@code host}. */
    public static LocalLink link(String device, LinkKind kind, int host) {
        try {
            InetAddress address = InetAddress.getByName("10.1.1." + host);
            return new LocalLink(
                    device,
                    kind,
                    device,
                    1,
                    new InterfaceAddress(address, 24),
                    0,
                    Gid.of(address),
                    100_000,
                    "eth_" + device,
                    host,
                    host);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }
}
