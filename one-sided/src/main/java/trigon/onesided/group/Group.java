package trigon.onesided.group;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.onesided.group.Traffic.Peers;
import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;
import trigon.onesided.peer.Incoming;
import trigon.onesided.peer.Outgoing;
import trigon.onesided.peer.RankConnection;
import trigon.onesided.peer.RequestPool;
import trigon.onesided.peer.SelfCopies;
import trigon.onesided.peer.SignalWord;
import trigon.onesided.peer.Staging;

/**
 * The ranks of a communicator, as one of them sees them: a collective comm of NCCL's. First a ring by which the ranks
 * agree; from {@link #open} on connections from each to each.
 *
 * <p>The control path is called by one thread at a time, by all ranks in the same order, and waits for the others;
 * {@link #deregister} and {@link #close} are this rank's alone. For the data path there is {@link Traffic}.
 */
public final class Group implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Group.class);

    /** Says that it is this protocol, and its version. */
    private static final long GREETING = 0x7472_6967_6f6e_0002L;

    /** Windows of a GPU whose totals are kept are not longer. */
    private static final long MAX_TOTALS_BYTES = 64 << 20;

    /** A page: what is pinned is pinned in pages. */
    private static final int SIGNAL_WORD_BYTES = 4096;

    /** Limit of the wait of a rank that ends for its last records to go. */
    private static final Duration LEAVING = Duration.ofSeconds(1);

    private final Endpoint endpoint;
    private final NetPlugin net;
    private final int rank;
    private final int ranks;
    private final RankRing ring;
    private final Patience patience;
    private final Supplier<GpuMemory> devices;
    private final GpuMemory device;
    private final Windows windows = new Windows();
    private final Arena arena = Arena.ofShared();
    private final List<Staging> stagings = new ArrayList<>();
    private final List<RankConnection> outgoing = new ArrayList<>();
    private final List<RankConnection> incoming = new ArrayList<>();
    private @Nullable Traffic traffic;

    /** Address to which the driver copies a signal that it reads first; 0 before there are connections. */
    private long signalWord;

    private Group(Endpoint endpoint, RankRing ring, Patience patience, Supplier<GpuMemory> devices) {
        this.endpoint = endpoint;
        net = endpoint.net();
        rank = ring.rank();
        ranks = ring.ranks();
        this.ring = ring;
        this.patience = patience;
        this.devices = devices;
        device = devices.get();
    }

    /**
     * Connects the ring, and sees that all ranks mean the same.
     *
     * @param endpoint its context is closed with the group
     * @param handles of all ranks' listeners, by rank
     * @param listenComm this rank's listener
     * @param devices a new way to memory of the GPU that is current on the calling thread, whenever it is asked
     * @throws NoConnectionException if a neighbour cannot be reached, or does not come
     */
    public static Group connect(
            Endpoint endpoint,
            long[] handles,
            int rank,
            long listenComm,
            Patience patience,
            Supplier<GpuMemory> devices) {
        int ranks = handles.length;
        RankRing ring = ranks == 1
                ? RankRing.ofOne(endpoint.net(), patience)
                : RankRing.connect(endpoint, handles, rank, listenComm, patience);
        long[] greeting = {GREETING, ranks, rank};
        long[][] all = ring.allGather(greeting);
        for (int other = 0; other < ranks; other++) {
            if (all[other][0] != GREETING || all[other][1] != ranks || all[other][2] != other) {
                throw new NoConnectionException(("rank %d speaks another version of one-sided communication than rank"
                                + " %d; install one version of Trigon on all nodes")
                        .formatted(other, rank));
            }
        }
        return new Group(endpoint, ring, patience, devices);
    }

    /**
     * Connects all ranks to all, unless they are.
     *
     * @param trafficClass of the packets, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
     * @return the data path
     */
    public Traffic open(int trafficClass) {
        if (traffic == null) {
            traffic = connectAll(trafficClass);
            for (Window window : windows.list()) {
                register(window);
            }
            log.info("one-sided communication: rank {} of {} is connected to all others", rank, ranks);
        }
        return traffic;
    }

    private Traffic connectAll(int trafficClass) {
        long[][] comms = new long[ranks][4];
        try (Connections connections = new Connections(endpoint)) {
            List<Connections.Listener> listeners = new ArrayList<>();
            long[] words = new long[2 * ranks * Connections.HANDLE_WORDS];
            for (int i = 0; ranks > 1 && i < 2 * ranks; i++) {
                Connections.Listener listener = connections.listen();
                listeners.add(listener);
                System.arraycopy(
                        RankRing.read(listener.handle(), Connections.HANDLE_WORDS),
                        0,
                        words,
                        i * Connections.HANDLE_WORDS,
                        Connections.HANDLE_WORDS);
            }
            long[][] all = ring.allGather(words);
            List<Connections.Pending> pending = new ArrayList<>();
            for (int other = 0; other < ranks; other++) {
                long[] of = comms[other];
                for (int kind = 0; other != rank && kind < 2; kind++) {
                    int place = kind;
                    long[] handle = new long[Connections.HANDLE_WORDS];
                    System.arraycopy(
                            all[other], (2 * rank + kind) * Connections.HANDLE_WORDS, handle, 0, handle.length);
                    pending.add(connections.connect(handle, trafficClass, comm -> of[place] = comm));
                    pending.add(
                            connections.accept(listeners.get(2 * other + kind).comm(), comm -> of[2 + place] = comm));
                }
            }
            patience.until(
                    () -> Connections.lookAtAll(pending),
                    () -> "one-sided communication: rank %d has not reached all others in %d s; see their logs"
                            .formatted(rank, patience.limit().toSeconds()));
            listeners.forEach(listener -> net.closeListen(listener.comm()));
        }
        return traffic(comms);
    }

    private Traffic traffic(long[][] comms) {
        RequestPool requests = new RequestPool();
        signalWord = arena.allocate(SIGNAL_WORD_BYTES, SIGNAL_WORD_BYTES).address();
        device.pin(signalWord, SIGNAL_WORD_BYTES); // else the driver waits for such a copy, and we for the driver
        SignalWord signals = new SignalWord(device, signalWord);
        boolean staged = device.exists();
        List<Outgoing> out = new ArrayList<>();
        List<Incoming> in = new ArrayList<>();
        for (int other = 0; other < ranks; other++) {
            if (other != rank) {
                RankConnection to = new RankConnection(net, other, comms[other][0], comms[other][1]);
                RankConnection from = new RankConnection(net, other, comms[other][2], comms[other][3]);
                outgoing.add(to);
                incoming.add(from);
                Outgoing sender = new Outgoing(to, staging(to, staged), device, requests);
                out.add(sender);
                in.add(new Incoming(from, staging(from, staged), device, windows, signals, sender));
            }
        }
        return new Traffic(new Peers(rank, out, in), new SelfCopies(device, signals), windows, requests, device);
    }

    private Staging staging(RankConnection connection, boolean staged) {
        Staging staging = new Staging(device, staged);
        stagings.add(staging);
        staging.registered(
                (comm, address, bytes) -> net.registerMemory(comm, address, bytes, DeviceProperties.POINTER_HOST),
                connection);
        return staging;
    }

    /**
     * Registers memory as a window, as all ranks do.
     *
     * @param saidToBeOfDevice by NCCL: the memory is a GPU's, or the host's that the GPU can reach
     * @param neverReset the GPU does not write to its words
     * @return the window's number
     * @throws IllegalArgumentException where any rank's memory cannot be used, or sizes differ; all ranks refuse then
     */
    public long register(long address, long size, boolean saidToBeOfDevice, boolean neverReset) {
        String problem = size > 0 && address != 0
                ? null
                : "no memory can be registered of %d bytes at 0x%x".formatted(size, address);
        boolean isOfDevice = false;
        if (saidToBeOfDevice && !device.exists()) {
            problem = "memory at 0x%x is a GPU's according to NCCL, but there is no CUDA driver; make sure that"
                            .formatted(address)
                    + " libcuda.so.1 can be loaded here, or set TRIGON_ONE_SIDED=off on all nodes";
        }
        try {
            isOfDevice = device.kindOf(address) == GpuMemory.Kind.DEVICE;
        } catch (IllegalArgumentException e) {
            problem = e.getMessage();
        }
        int id = windows.nextId();
        long[][] all = ring.allGather(new long[] {id, size, isOfDevice ? 1 : 0, problem == null ? 1 : 0});
        windows.use(id);
        boolean[] ofDevice = agreed(all, id, size, problem);
        Window window = new Window(id, address, size, rank, neverReset, ofDevice);
        RuntimeException failure = null;
        try {
            prepare(window);
        } catch (RuntimeException e) {
            failure = e;
        } catch (OutOfMemoryError e) {
            failure = new IllegalArgumentException("no memory for a window of %d bytes".formatted(size), e);
        }
        windows.add(window); // before the others know that it is there
        long[][] ready = ring.allGather(new long[] {id, failure == null ? 1 : 0});
        for (int other = 0; other < ranks; other++) {
            if (ready[other][1] == 0) {
                deregister(id);
                throw failure != null ? failure : notByAll(other);
            }
        }
        return id;
    }

    private void prepare(Window window) {
        if (window.isOfDevice() && window.isNeverReset() && window.size() <= MAX_TOTALS_BYTES) {
            keepTotals(window);
        }
        if (traffic != null) {
            register(window);
        }
    }

    private static IllegalArgumentException notByAll(int other) {
        return new IllegalArgumentException(
                "rank %d cannot register its memory of a window, so no rank does; see its log".formatted(other));
    }

    private boolean[] agreed(long[][] all, int id, long size, @Nullable String problem) {
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
        boolean[] ofDevice = new boolean[ranks];
        for (int other = 0; other < ranks; other++) {
            long[] words = all[other];
            if (words[3] == 0) {
                throw notByAll(other);
            }
            if (words[0] != id || words[1] != size) {
                throw new IllegalArgumentException(
                        ("rank %d registers %d bytes as window %d, rank %d registers %d bytes"
                                        + " as window %d; all ranks have to register windows of one size, in one order")
                                .formatted(rank, size, id, other, words[1], words[0]));
            }
            ofDevice[other] = words[2] != 0;
        }
        return ofDevice;
    }

    /** By a way of its own: the group's is its data path's. */
    private void keepTotals(Window window) {
        try (Arena copies = Arena.ofShared();
                GpuMemory own = devices.get()) {
            long copy = copies.allocate(window.size(), Long.BYTES).address();
            own.enter();
            try {
                long mark = own.copy(copy, window.address(), window.size()) == 0 ? own.mark() : -1;
                patience.until(() -> mark < 0 || own.isOver(mark) != 0);
                if (mark < 0 || own.isOver(mark) < 0) {
                    throw new IllegalArgumentException(
                            "the CUDA driver cannot copy from 0x%x; see dmesg".formatted(window.address()));
                }
            } finally {
                own.leave();
            }
            window.keepTotals(copy);
        }
    }

    /** With each connection's payloads, where they are not staged. */
    private void register(Window window) {
        if (window.isOfDevice()) {
            return;
        }
        for (int i = 0; i < outgoing.size(); i++) {
            RankConnection to = outgoing.get(i);
            window.registered(
                    to.rank(),
                    net.registerMemory(to.payloads(), window.address(), window.size(), DeviceProperties.POINTER_HOST),
                    net.registerMemory(
                            incoming.get(i).payloads(),
                            window.address(),
                            window.size(),
                            DeviceProperties.POINTER_HOST));
        }
    }

    /** Undoes {@link #register}, for this rank; stale numbers are ignored. */
    public void deregister(long id) {
        Window window = windows.remove(id);
        if (window == null) {
            return;
        }
        if (window.isOfDevice()) {
            device.finish(); // NCCL may free it at once
            return;
        }
        for (int i = 0; i < outgoing.size(); i++) {
            int other = outgoing.get(i).rank();
            deregister(outgoing.get(i).payloads(), window.sendHandle(other));
            deregister(incoming.get(i).payloads(), window.receiveHandle(other));
        }
    }

    private void deregister(long comm, long handle) {
        if (handle != 0) { // where registering has failed half way
            net.deregisterMemory(comm, handle);
        }
    }

    /**
     * Closes all connections, whatever is under way; no data-path call may be running. Ranks with which nothing is
     * under way are told, and go on without this one.
     */
    @Override
    public void close() {
        if (traffic != null) {
            traffic.leave(patience.of(LEAVING));
        }
        net.closeContext(endpoint.context());
        device.finish(); // copies to and from what is freed now
        stagings.forEach(Staging::close);
        stagings.clear();
        if (signalWord != 0) {
            device.unpin(signalWord);
        }
        device.close();
        arena.close();
    }
}
