package trigon.transport.testsupport;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import trigon.system.Errno;
import trigon.verbs.AsyncEvent;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceAttributes;
import trigon.verbs.DeviceContext;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.NativePoll;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletions;

/** Devices that report what a test says, and are otherwise as those behind them. Completion queues can stop working. */
public final class RaisingVerbs implements VerbsProvider {

    private final VerbsProvider behind;
    private final Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
    private final Map<String, AsyncEvent> eventsOf = new ConcurrentHashMap<>();

    /** What was created, in order. */
    public final List<QueuePair> queuePairs = new CopyOnWriteArrayList<>();

    public final List<CompletionQueue> completionQueues = new CopyOnWriteArrayList<>();

    /** What was opened, in order. */
    public final List<DeviceContext> devices = new CopyOnWriteArrayList<>();

    /** No completion is reported any more, as by a completion queue that has failed. */
    public volatile boolean silent;

    /** Entry 0 of the GID table is missing. */
    public volatile boolean gidGone;

    /** So many queue pairs to come find no way to the peer. */
    public final AtomicInteger withoutWay = new AtomicInteger();

    /** A device of that name refuses new queue pairs. */
    public volatile String refusing = "";

    /** Packets as long as the path MTU are lost: work requests with that number, by which probes post them. */
    public volatile boolean losesLong;

    private static final int LONG = Mtu.MTU_4096.bytes();

    /** Nothing completes before so many queue pairs can send. */
    public volatile int unansweredBefore;

    /** Kinds of entries in GID tables. */
    public volatile UnaryOperator<GidEntry> gid = UnaryOperator.identity();

    /** A device of that name completes nothing: whatever it sends is not acknowledged. */
    public volatile String unacknowledged = "";

    private volatile boolean unreadable;

    public RaisingVerbs(VerbsProvider behind) {
        this.behind = behind;
    }

    /** The next poll of a device takes it. */
    public void raise(AsyncEvent event) {
        events.add(event);
    }

    /** The next poll of the device of that name takes it. */
    public void raise(String device, AsyncEvent event) {
        eventsOf.put(device, event);
    }

    /** Events cannot be read from now on. */
    public void breakEvents() {
        unreadable = true;
    }

    public boolean isReadOut() {
        return events.isEmpty();
    }

    @Override
    public String name() {
        return behind.name();
    }

    @Override
    public LinkKind linkKind() {
        return behind.linkKind();
    }

    @Override
    public List<String> deviceNames() {
        return behind.deviceNames();
    }

    @Override
    public ResourceLedger ledger() {
        return behind.ledger();
    }

    @Override
    public DeviceContext open(String deviceName) {
        Device device = new Device(behind.open(deviceName));
        devices.add(device);
        return device;
    }

    /** Queue pairs that can send, of those that were created. Others may be closed meanwhile. */
    public List<QueuePair> readyQueuePairs() {
        return queuePairs.stream().filter(RaisingVerbs::isReady).toList();
    }

    private static boolean isReady(QueuePair queuePair) {
        try {
            return queuePair.queryState() == QueuePairStateCode.READY_TO_SEND;
        } catch (VerbsException | IllegalStateException _) {
            return false; // it has just been closed
        }
    }

    private boolean isTooSoon() {
        return unansweredBefore > 0 && readyQueuePairs().size() < unansweredBefore;
    }

    /** Passes completions on, until it falls silent. */
    private record Completions(CompletionQueue behind, RaisingVerbs verbs, String device) implements CompletionQueue {
        @Override
        public int poll(WorkCompletions into) {
            if (verbs.silent || device.equals(verbs.unacknowledged) || verbs.isTooSoon()) {
                return 0;
            }
            int count = behind.poll(into);
            return verbs.losesLong && count == 1 && into.workRequestId(0) == LONG ? 0 : count;
        }

        @Override
        public Optional<NativePoll> nativePoll() {
            return Optional.of(LaneVerbs.pollOf(this));
        }

        @Override
        public void close() {
            behind.close();
        }
    }

    private final class Device implements DeviceContext {
        private final DeviceContext device;

        Device(DeviceContext device) {
            this.device = device;
        }

        @Override
        public String deviceName() {
            return device.deviceName();
        }

        @Override
        public DeviceAttributes attributes() {
            return device.attributes();
        }

        @Override
        public PortAttributes queryPort(int port) {
            return device.queryPort(port);
        }

        @Override
        public List<GidEntry> gidTable(int port) {
            return gidGone ? List.of() : device.gidTable(port).stream().map(gid).toList();
        }

        @Override
        public ProtectionDomain allocateProtectionDomain() {
            return device.allocateProtectionDomain();
        }

        @Override
        public CompletionQueue createCompletionQueue(int entries) {
            Completions queue = new Completions(device.createCompletionQueue(entries), RaisingVerbs.this, deviceName());
            completionQueues.add(queue);
            return queue;
        }

        @Override
        public QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity) {
            if (withoutWay.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new VerbsException("ibv_modify_qp", deviceName(), Errno.ENETUNREACH, "no route");
            }
            if (deviceName().equals(refusing)) {
                throw new VerbsException("ibv_create_qp", deviceName(), Errno.ENOMEM, "");
            }
            QueuePair queuePair = device.createQueuePair(
                    protectionDomain,
                    new QueuePairCapacity(
                            ((Completions) capacity.sendCompletions()).behind(),
                            ((Completions) capacity.receiveCompletions()).behind(),
                            capacity.sendWorkRequests(),
                            capacity.receiveWorkRequests(),
                            capacity.inlineBytes()));
            queuePairs.add(queuePair);
            return queuePair;
        }

        @Override
        public Optional<AsyncEvent> pollAsyncEvent() {
            if (unreadable) {
                throw new VerbsException("ibv_get_async_event", deviceName(), Errno.EIO, "");
            }
            AsyncEvent own = eventsOf.remove(deviceName());
            AsyncEvent raised = own == null ? events.poll() : own;
            return raised == null ? device.pollAsyncEvent() : Optional.of(raised);
        }

        @Override
        public void close() {
            device.close();
        }
    }
}
