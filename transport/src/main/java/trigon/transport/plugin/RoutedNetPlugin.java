package trigon.transport.plugin;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.transport.Unwinding;
import trigon.transport.connect.Acceptor;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.handle.RequestHandle;
import trigon.transport.metrics.LinkCounters;
import trigon.transport.path.Link;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.session.ReceiveSession;
import trigon.transport.session.SendSession;
import trigon.transport.session.Session;
import trigon.verbs.VerbsException;

/**
 * {@link NetPlugin} over this node's links: each device reaches every peer, and the link is chosen per peer.
 *
 * <p>Finds what NCCL's handles stand for; the work is done by {@link ConnectionSetup} and {@link Sessions}.
 */
public final class RoutedNetPlugin implements NetPlugin, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RoutedNetPlugin.class);

    private static final long INVALID_ARGUMENT = -NcclResult.INVALID_ARGUMENT.code();

    private final TransportAssembly assembly;
    private final PluginSetup setup;
    private final NodeResources node;
    private final VirtualDevices devices;
    private final Contexts contexts;
    private final Sessions sessions;
    private final ConnectionSetup connections;

    /**
     * Opens this node's links and their listeners. Links that no file lists are left out where they cannot be opened.
     *
     * @throws VerbsException if the device of a listed link, or the last of all, cannot be opened
     * @throws HandshakeException if the address of a listed link, or the last of all, cannot be listened on
     */
    public static RoutedNetPlugin open(PluginSetup setup) {
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(setup.visible().metrics()::close);
            NodeResources node = NodeResources.open(setup);
            unwinding.onFailure(node::close);
            VirtualDevices devices = VirtualDevices.of(setup, node);
            TransportAssembly assembly = new TransportAssembly(setup, node);
            RoutedNetPlugin plugin = new RoutedNetPlugin(assembly, devices);
            assembly.start();
            unwinding.succeeded();
            return plugin;
        }
    }

    private RoutedNetPlugin(TransportAssembly assembly, VirtualDevices devices) {
        this.assembly = assembly;
        this.devices = devices;
        setup = assembly.setup();
        node = assembly.node();
        contexts = assembly.contexts();
        sessions = assembly.sessions();
        connections = assembly.connections();
    }

    @Override
    public long openContext(long commId, int trafficClass) {
        log.info(
                "communicator 0x{} uses {}",
                Long.toHexString(commId),
                node.links().all());
        setup.relays().ways().opened(commId);
        return contexts.open(commId, trafficClass);
    }

    @Override
    public void closeContext(long handle) {
        end(handle);
        if (contexts.handles().isEmpty()) {
            setup.relays().ways().drain();
        }
    }

    private void end(long handle) {
        Context context = contexts.remove(handle);
        if (context == null) {
            return;
        }
        setup.relays().ways().closed(context.commId());
        setup.advice().closed(context.commId());
        context.acceptors().forEach(connections::closeListen);
        context.pending().forEach(connections::abandon);
        context.sessionHandles().forEach(sessions::close);
        for (Link link : node.links().all()) {
            LinkCounters counters = link.counters();
            log.info("{}: {} messages, {} bytes sent and received so far", link, counters.messages(), counters.bytes());
        }
    }

    @Override
    public int devices() {
        return devices.all().size();
    }

    @Override
    public DeviceProperties properties(int device) {
        return devices.get(device).properties();
    }

    @Override
    public long listen(long context, int device, long handleAddress) {
        devices.get(device);
        return connections.listen(context, handleAddress);
    }

    @Override
    public long connect(long context, int device, long handleAddress, int trafficClass) {
        ConnectedPaths paths =
                connections.connect(context, devices.get(device).preferred(), handleAddress, trafficClass);
        return paths == null ? 0 : sessions.send(context, paths);
    }

    @Override
    public long accept(long listenComm) {
        Acceptor acceptor = connections.acceptor(listenComm);
        ConnectedPaths paths = acceptor.take();
        return paths == null ? 0 : sessions.receive(acceptor.context(), paths);
    }

    @Override
    public long registerMemory(long comm, long address, long size, int type) {
        return sessions.register(comm, address, size, type);
    }

    @Override
    public long registerDmaBuf(long comm, long address, long size, long offset, int descriptor) {
        return sessions.registerDmaBuf(comm, address, size, offset, descriptor);
    }

    @Override
    public void deregisterMemory(long comm, long memoryHandle) {
        sessions.deregister(comm, memoryHandle);
    }

    @Override
    public void closeSend(long sendComm) {
        sessions.close(sendComm);
    }

    @Override
    public void closeReceive(long receiveComm) {
        sessions.close(receiveComm);
    }

    @Override
    public void closeListen(long listenComm) {
        connections.closeListen(listenComm);
    }

    @Override
    public long isend(long sendComm, long address, long size, int tag, long memoryHandle) {
        if (!(sessions.find(sendComm) instanceof SendSession session)) {
            return INVALID_ARGUMENT;
        }
        RegisteredMemory memory = sessions.buffer(session, address, size, memoryHandle);
        return isMissing(memory, size) ? INVALID_ARGUMENT : session.isend(address, (int) size, tag, memory);
    }

    @Override
    public long irecv(long receiveComm, long address, long size, int tag, long memoryHandle) {
        if (!(sessions.find(receiveComm) instanceof ReceiveSession session)) {
            return INVALID_ARGUMENT;
        }
        RegisteredMemory memory = sessions.buffer(session, address, size, memoryHandle);
        return isMissing(memory, size) ? INVALID_ARGUMENT : session.irecv(address, (int) size, tag, memory);
    }

    private static boolean isMissing(@Nullable RegisteredMemory memory, long size) {
        return memory == null && size != 0;
    }

    @Override
    public long iflush(long receiveComm, long address, long size, long memoryHandle) {
        return sessions.find(receiveComm) instanceof ReceiveSession session
                ? session.iflush(address, size == 0 ? null : sessions.buffer(session, address, size, memoryHandle))
                : INVALID_ARGUMENT;
    }

    @Override
    public long test(long request) {
        Session session = RequestHandle.isRequest(request) ? sessions.find(request) : null;
        return session == null ? INVALID_ARGUMENT : session.test(request);
    }

    /**
     * Closes whatever is open, waits for what is on its way up, and closes the links. In NCCL's process the plugin
     * lives as long as the process; this is for the end of a test.
     */
    @Override
    public void close() {
        contexts.handles().forEach(this::end);
        node.listeners().close();
        assembly.stop();
        node.close();
        setup.visible().requests().close();
        setup.visible().metrics().close();
    }
}
