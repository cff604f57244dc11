package trigon.transport;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.NodeConfig;
import trigon.config.PluginConfig;
import trigon.handshake.HandshakeClient;
import trigon.handshake.HandshakeEventLoop;
import trigon.handshake.HandshakeException;
import trigon.handshake.HandshakeListeners;
import trigon.handshake.LinkAddress;
import trigon.handshake.ListenHandle;
import trigon.handshake.NodeIdentity;
import trigon.routing.DiscoveredLinks;
import trigon.routing.RouteLookup;
import trigon.routing.RoutingTable;
import trigon.verbs.AccessFlag;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

/**
 * {@link NetPlugin} over this node's links: each device reaches every peer, and the link is chosen per peer.
 *
 * <p>Gives out the handles and checks those that come in; the work is done by {@link Connector}, {@link ListenComm},
 * {@link SendComm} and {@link ReceiveComm}.
 */
public final class RoutedNetPlugin implements NetPlugin, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RoutedNetPlugin.class);

    /** From one look at what the devices report by themselves to the next. */
    private static final Duration DEVICE_EVENTS_INTERVAL = Duration.ofSeconds(1);

    private final HandleTable<Context> contexts = new HandleTable<>("context");
    private final HandleTable<ListenComm> listenComms = new HandleTable<>("listen comm");
    private final HandleTable<Connecting> connecting = new HandleTable<>("pending connection");
    private final HandleTable<Comm> comms = new HandleTable<>("comm");
    private final HandleTable<RegisteredMemory> memories = new HandleTable<>("memory registration");

    private final Links links;
    private final List<VirtualDevice> devices;
    private final HandshakeEventLoop loop;
    private final HandshakeListeners listeners;
    private final List<LinkAddress> linkAddresses;
    private final Connector connector;
    private final ConnectionFactory connections;
    private final NodeIdentity self;
    private final ExecutorService control;
    private final CommunicatorFailures failures;
    private final DeviceEvents deviceEvents;
    private final CompletionBoard board;
    private final HalfOpenConnections halfOpen;

    /**
     * Opens this node's links and their listeners.
     *
     * @param config the settings
     * @param discovered this node's links; at least one
     * @param providers the devices behind them, by kind; they stay the caller's
     * @param kernel the kernel's routing table
     * @param hostName what peers see in their logs where the settings name no node
     * @param pageBytes size of the kernel's pages
     * @param board where finished requests and messages that wait are shown; the plugin's from now on
     * @throws VerbsException if a device cannot be opened
     * @throws HandshakeException if a link's address cannot be listened on
     */
    public static RoutedNetPlugin open(
            PluginConfig config,
            DiscoveredLinks discovered,
            Map<LinkKind, VerbsProvider> providers,
            RouteLookup kernel,
            String hostName,
            int pageBytes,
            CompletionBoard board) {
        NodeIdentity self = new NodeIdentity(
                config.thisNode().map(NodeConfig::name).orElse(hostName),
                config.thisNode().map(node -> OptionalInt.of(node.index())).orElse(OptionalInt.empty()),
                config.fingerprint());
        try (Unwinding unwinding = new Unwinding()) {
            Links links = Links.open(discovered.links(), providers, pageBytes);
            unwinding.onFailure(links::close);
            HandshakeEventLoop loop = HandshakeEventLoop.open();
            unwinding.onFailure(loop::close);
            HandshakeListeners listeners = HandshakeListeners.open(loop, config.handshake(), self, links.addresses());
            unwinding.onFailure(listeners::close);
            ExecutorService control = ControlThreads.open();
            SecureRandom random = new SecureRandom();
            ConnectionFactory connections = new ConnectionFactory(
                    config.queuePair(), random, control, loop.delayed(ConnectionFactory.GRACE, control));
            RoutingTable routing = RoutingTable.of(config, discovered, kernel);
            Connector connector = new Connector(
                    links,
                    routing,
                    new HandshakeClient(loop, config.handshake()),
                    connections,
                    config,
                    self,
                    control,
                    random);
            DeviceEvents deviceEvents =
                    new DeviceEvents(links, control, loop.delayed(DEVICE_EVENTS_INTERVAL, Runnable::run));
            RoutedNetPlugin plugin = new RoutedNetPlugin(
                    links, loop, listeners, connector, connections, self, control, deviceEvents, board);
            deviceEvents.start();
            plugin.halfOpen.start();
            unwinding.succeeded();
            return plugin;
        }
    }

    private RoutedNetPlugin(
            Links links,
            HandshakeEventLoop loop,
            HandshakeListeners listeners,
            Connector connector,
            ConnectionFactory connections,
            NodeIdentity self,
            ExecutorService control,
            DeviceEvents deviceEvents,
            CompletionBoard board) {
        this.links = links;
        this.loop = loop;
        this.listeners = listeners;
        linkAddresses = links.advertised(listeners::port);
        this.connector = connector;
        this.connections = connections;
        this.self = self;
        this.control = control;
        this.deviceEvents = deviceEvents;
        this.board = board;
        failures = new CommunicatorFailures(
                contexts,
                comms,
                self.name(),
                loop.delayed(Duration.ZERO, control),
                loop.delayed(ConnectionFactory.GRACE, control));
        devices = VirtualDevice.over(links.all());
        halfOpen = new HalfOpenConnections(
                listenComms,
                connecting,
                listenComm -> control.execute(() -> closeListen(listenComm)),
                pending -> control.execute(() -> giveUp(pending)),
                loop.delayed(HalfOpenConnections.INTERVAL, Runnable::run));
    }

    /** For tests, which do not wait for its time. */
    HalfOpenConnections halfOpen() {
        return halfOpen;
    }

    @Override
    public long openContext(long commId, int trafficClass) {
        log.info("communicator 0x{} uses {}", Long.toHexString(commId), links.all());
        return contexts.add(new Context(commId, trafficClass));
    }

    @Override
    public void closeContext(long handle) {
        Context context = contexts.remove(handle);
        if (context == null) {
            return;
        }
        context.listenComms().forEach(this::closeListen);
        context.connecting().forEach(this::abandon);
        context.comms().forEach(this::closeComm);
        for (Link link : links.all()) {
            log.info(
                    "{}: {} messages, {} bytes sent and received so far",
                    link,
                    link.traffic().messages(),
                    link.traffic().bytes());
        }
    }

    @Override
    public int devices() {
        return devices.size();
    }

    @Override
    public DeviceProperties properties(int device) {
        return device(device).properties();
    }

    @Override
    public long listen(long contextHandle, int device, long handleAddress) {
        device(device); // must exist
        Context context = context(contextHandle);
        ListenComm listenComm = new ListenComm(contextHandle, context.trafficClass(), links, connections, control);
        ListenHandle handle = ListenHandle.fitting(
                listenComm.connectionId(), listenComm.secret(), self.index(), self.configFingerprint(), linkAddresses);
        try (Unwinding unwinding = new Unwinding()) {
            listeners.register(listenComm.connectionId(), listenComm.secret(), listenComm);
            unwinding.onFailure(() -> listeners.unregister(listenComm.connectionId()));
            long result = listenComms.add(listenComm);
            unwinding.onFailure(() -> closeListen(result));
            note(contextHandle, Context::listenComms, result);
            handle.writeTo(handleAddress);
            unwinding.succeeded();
            return result;
        }
    }

    @Override
    public long connect(long contextHandle, int device, long handleAddress, int trafficClass) {
        long state = ListenHandle.privateState(handleAddress);
        Connecting pending = state == 0 ? null : connecting.find(state);
        if (pending == null) {
            beginConnect(contextHandle, device, handleAddress, trafficClass);
            return 0;
        }
        if (!pending.isDone()) {
            return 0;
        }
        ListenHandle.setPrivateState(handleAddress, 0);
        if (connecting.remove(state) == null) {
            throw new IllegalArgumentException("the connection was given up when its context was closed");
        }
        Context context = contexts.find(contextHandle);
        if (context != null) {
            context.connecting().remove(state);
        }
        return add(contextHandle, SendComm.over(pending.take()));
    }

    private void beginConnect(long contextHandle, int device, long handleAddress, int trafficClass) {
        VirtualDevice from = device(device);
        Context context = context(contextHandle);
        ListenHandle handle = ListenHandle.readFrom(handleAddress);
        if (ListenHandle.privateState(handleAddress) != 0) {
            throw new IllegalArgumentException("the listen handle belongs to a connection that was closed");
        }
        int wanted = trafficClass == TRAFFIC_CLASS_UNDEFINED ? context.trafficClass() : trafficClass;
        try (Unwinding unwinding = new Unwinding()) {
            Connecting pending = connector.connect(handle, from.preferred(), wanted);
            unwinding.onFailure(pending::abandon);
            long state = connecting.add(pending);
            unwinding.onFailure(() -> connecting.remove(state));
            note(contextHandle, Context::connecting, state);
            ListenHandle.setPrivateState(handleAddress, state);
            unwinding.succeeded();
        }
    }

    @Override
    public long accept(long listenHandle) {
        ListenComm listenComm = listenComms.find(listenHandle);
        if (listenComm == null) {
            throw new IllegalArgumentException("0x%x is not an open listen comm".formatted(listenHandle));
        }
        List<Connection> connections = listenComm.take();
        return connections == null ? 0 : add(listenComm.context(), ReceiveComm.over(connections));
    }

    private long add(long contextHandle, Comm comm) {
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(comm::close);
            long handle = comms.add(comm, given -> comm.open(contextHandle, given, board, failures));
            unwinding.onFailure(() -> {
                comms.remove(handle, _ -> board.close(handle));
            });
            note(contextHandle, Context::comms, handle);
            CommunicatorFailure failure = context(contextHandle).failure().get();
            if (failure != null) { // noted first, and looked at then: it is given up here, or where the failure is
                comm.giveUp(failure);
                control.execute(comm::endQueuePairs);
            }
            unwinding.succeeded();
            return handle;
        }
    }

    /**
     * Notes what was opened in a context, for its end. Fails if the end has come meanwhile: then nobody else closes it.
     */
    private void note(long contextHandle, Function<Context, Set<Long>> kind, long handle) {
        kind.apply(context(contextHandle)).add(handle);
        // closeContext first removes the context and then looks at what was noted: still there, so that was seen
        context(contextHandle);
    }

    @Override
    public long registerMemory(long commHandle, long address, long size, int type) {
        Comm comm = comms.find(commHandle);
        if (comm == null) {
            throw new IllegalArgumentException("0x%x is not an open comm".formatted(commHandle));
        }
        if (type != DeviceProperties.POINTER_HOST) {
            throw new IllegalArgumentException("memory of type " + type
                    + " cannot be registered: Trigon reaches host memory only, which its device properties say");
        }
        if (size <= 0) {
            throw new IllegalArgumentException("memory of " + size + " bytes cannot be registered");
        }
        EnumSet<AccessFlag> access = comm instanceof ReceiveComm
                ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                : EnumSet.noneOf(AccessFlag.class);
        long handle;
        try (Unwinding unwinding = new Unwinding()) {
            RegisteredMemory memory = RegisteredMemory.with(comm.links, address, size, access);
            unwinding.onFailure(memory::close);
            long added = memories.add(memory);
            unwinding.onFailure(() -> memories.remove(added));
            comm.registrations().put(added, memory);
            unwinding.succeeded();
            handle = added;
        }
        if (comms.find(commHandle) == null) {
            deregisterMemory(commHandle, handle);
            throw new IllegalArgumentException("0x%x was closed while memory was registered".formatted(commHandle));
        }
        return handle;
    }

    @Override
    public void deregisterMemory(long commHandle, long memoryHandle) {
        RegisteredMemory memory = memories.remove(memoryHandle);
        if (memory == null) {
            return;
        }
        memory.close(); // first, whatever becomes of the rest: the caller takes the memory back
        Comm comm = comms.find(commHandle);
        if (comm != null) {
            comm.registrations().remove(memoryHandle);
        }
    }

    @Override
    public void closeSend(long sendComm) {
        closeComm(sendComm);
    }

    @Override
    public void closeReceive(long receiveComm) {
        closeComm(receiveComm);
    }

    private void closeComm(long handle) {
        Comm comm = comms.remove(handle, removed -> {
            removed.settle();
            board.close(handle);
        });
        if (comm == null) {
            return;
        }
        Context context = contexts.find(comm.context());
        if (context != null) {
            context.comms().remove(handle);
        }
        comm.registrations().keySet().forEach(memories::remove);
        comm.close();
    }

    @Override
    public void closeListen(long handle) {
        ListenComm listenComm = listenComms.remove(handle);
        if (listenComm == null) {
            return;
        }
        Context context = contexts.find(listenComm.context());
        if (context != null) {
            context.listenComms().remove(handle);
        }
        listeners.unregister(listenComm.connectionId());
        listenComm.close();
    }

    /** What its context would do at its end. */
    private void giveUp(long handle) {
        for (long contextHandle : contexts.handles()) {
            Context context = contexts.find(contextHandle);
            if (context != null) {
                context.connecting().remove(handle);
            }
        }
        abandon(handle);
    }

    private void abandon(long handle) {
        Connecting pending = connecting.remove(handle);
        if (pending != null) {
            pending.abandon();
        }
    }

    @Override
    public long isend(long sendComm, long address, long size, int tag, long memoryHandle) {
        if (!(comms.find(sendComm) instanceof SendComm comm)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        RegisteredMemory memory = buffer(comm, address, size, memoryHandle);
        if (memory == null && size != 0) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        long result = comm.isend(address, (int) size, tag, memory);
        return result < 0 ? comm.tell(result) : result;
    }

    @Override
    public long irecv(long receiveComm, long address, long size, int tag, long memoryHandle) {
        if (!(comms.find(receiveComm) instanceof ReceiveComm comm)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        RegisteredMemory memory = buffer(comm, address, size, memoryHandle);
        if (memory == null && size != 0) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        long result = comm.irecv(address, (int) size, tag, memory);
        return result < 0 ? comm.tell(result) : result;
    }

    /** The registration of a buffer; null if it is not registered with the comm's link, or too long. */
    private @Nullable RegisteredMemory buffer(Comm comm, long address, long size, long memoryHandle) {
        if (size < 0 || size > Comm.MAX_MESSAGE_BYTES) {
            return null;
        }
        RegisteredMemory memory = memories.find(memoryHandle);
        return memory != null && memory.link() == comm.link && memory.covers(address, size) ? memory : null;
    }

    @Override
    public long iflush(long receiveComm, long address, long size, long memoryHandle) {
        if (!(comms.find(receiveComm) instanceof ReceiveComm comm)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        long result = comm.iflush();
        return result < 0 ? comm.tell(result) : result;
    }

    @Override
    public long test(long request) {
        Comm comm = RequestHandle.isRequest(request) ? comms.find(request) : null;
        if (comm == null) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        long result = comm.test(request);
        return result < 0 && result != NetPlugin.NOT_DONE ? comm.tell(result) : result;
    }

    /**
     * Closes whatever is open, waits for what is on its way up, and closes the links. In NCCL's process the plugin lives
     * as long as the process; this is for the end of a test.
     */
    @Override
    public void close() {
        contexts.handles().forEach(this::closeContext);
        listeners.close();
        deviceEvents.stop();
        halfOpen.stop();
        loop.close();
        control.close();
        links.close();
        board.close();
    }

    private Context context(long handle) {
        return Objects.requireNonNullElseGet(contexts.find(handle), () -> {
            throw new IllegalArgumentException("0x%x is not an open context".formatted(handle));
        });
    }

    private VirtualDevice device(int device) {
        if (device < 0 || device >= devices.size()) {
            throw new IllegalArgumentException(
                    "there is no device %d; Trigon has devices 0 to %d".formatted(device, devices.size() - 1));
        }
        return devices.get(device);
    }
}
